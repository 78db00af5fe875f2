# SPDX-License-Identifier: BSD-3-Clause
"""Functions that weigh the gain of a split against the cost of its attribute.

The public names of `fasttree.growth.choosers.costs`; nothing in the package imports this module.
"""

from fasttree.growth.choosers.costs import *
from fasttree.growth.choosers.costs import __all__ as __all__
from fasttree.growth.choosers.costs import __dir__ as __dir__
