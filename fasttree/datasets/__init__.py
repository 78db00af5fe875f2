# SPDX-License-Identifier: BSD-3-Clause
"""Small tables that decision trees are taught with.

Every function returns ``(X, y)``. ``X`` is a dict with one entry a column: a ``Categorical``,
which carries the declared order of its values, or an array of numbers. ``y`` is a ``Categorical``
with the declared order of the classes. With ``as_frame=True`` they are a pandas DataFrame and
Series. `make_cesarean_cohort` makes a table of any size, and also returns the probability of each
outcome. `ten_points` and `make_hospital_stays`, also of any size, have a y of numbers.
"""

from fasttree.datasets.cesarean import Cohort, cesarean_table1, make_cesarean_cohort
from fasttree.datasets.numbers import make_hospital_stays, ten_points
from fasttree.datasets.textbook import (
    buys_computer,
    mammal_names,
    mammals,
    play_tennis,
    temperature,
)

__all__ = [
    "Cohort",
    "buys_computer",
    "cesarean_table1",
    "make_cesarean_cohort",
    "make_hospital_stays",
    "mammal_names",
    "mammals",
    "play_tennis",
    "temperature",
    "ten_points",
]


def __dir__() -> list[str]:
    return __all__
