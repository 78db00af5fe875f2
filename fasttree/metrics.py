# SPDX-License-Identifier: BSD-3-Clause
"""Metrics of the quality of predictions.

The public names of `fasttree.stats.metrics`; nothing in the package imports this module.
"""

from fasttree.stats.metrics import *
from fasttree.stats.metrics import __all__ as __all__
from fasttree.stats.metrics import __dir__ as __dir__
