# SPDX-License-Identifier: BSD-3-Clause
"""The textbook formulas that score attributes.

The public names of `fasttree.stats.measures`; nothing in the package imports this module.
"""

from fasttree.stats.measures import *
from fasttree.stats.measures import __all__ as __all__
from fasttree.stats.measures import __dir__ as __dir__
