# SPDX-License-Identifier: BSD-3-Clause
"""The suites of airspeed velocity: `asv run`, `asv continuous main HEAD`."""

import sys
from pathlib import Path

# asv imports this folder as a package of its own, while the data are those of all benchmarks.
# Appended, not inserted: the fasttree that is measured is the installed one, not the source here.
sys.path.append(str(Path(__file__).resolve().parents[2]))
