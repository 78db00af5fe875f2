# SPDX-License-Identifier: BSD-3-Clause
"""User parameters -> one frozen, checked record. Below this nothing validates again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fasttree._core import BRANCH, CATEGORY, FRACTIONAL, GROUPED, MULTIWAY, SUBSET, SURROGATE
from fasttree.base.checks import (
    LEAST_ALPHA,
    MOST_ALPHA,
    NAIVE,
    ONE_IN_ALL,
    SIGNIFICANCE_TESTS,
    as_float,
    check_flag,
    check_fraction,
    check_integer,
    check_number,
    is_whole,
)
from fasttree.base.hints import check_choice
from fasttree.base.values import short_repr
from fasttree.growth.attribute_draws import AttributeDraw

# Each criterion, and what finds the best split of an attribute for it.
CRITERIA = {
    "entropy": "entropy",
    "gain_ratio": "gain_ratio",
    "gini": "gini",
    "misclassification": "misclassification",
    "message_length": "code_length",
    "evidence": "code_length",
    "ami": "entropy",
    "smi": "entropy",
    "adjusted_gini": "gini",
    "ad": "entropy",
    "confidence_entropy": "entropy",
}
NUMERIC_CRITERIA = ("squared_error",)  # for a target of numbers
BY_CHANCE = ("ami", "smi", "adjusted_gini", "ad", "confidence_entropy")
STOPPING = ("ad", "confidence_entropy")  # a split that is not above 0 is none
BY_LENGTH = ("message_length", "evidence")  # both count the bits that tell the classes
CATEGORICAL_SPLITS = {"subset": SUBSET, "multiway": MULTIWAY, "grouped": GROUPED}
# What becomes of rows with a missing value; with "error" there are none.
MISSING = {
    "branch": BRANCH,
    "category": CATEGORY,
    "fractional": FRACTIONAL,
    "surrogate": SURROGATE,
    "error": BRANCH,
}
# Of these a target of numbers has no "grouped" and no "fractional".
NUMERIC_SPLITS = ("subset", "multiway")
NUMERIC_MISSING = ("branch", "category", "surrogate", "error")
THRESHOLDS = ("midpoint", "value")
UNLIMITED = 2**62
COMPATIBLE = ("j48",)
# Which of the attributes whose splits are equally good is asked.
SCHEMA, ROOT_GAIN = "schema", "root_gain"
TIES = (SCHEMA, ROOT_GAIN)
TIE = 1e-10  # by how much a later candidate must score better
J48_TIE = 1e-6


@dataclass(frozen=True, slots=True)
class GrowthParams:
    """How a tree is to be grown; every value is legal."""

    criterion: str
    categorical_split: str
    missing: str
    threshold: str
    max_depth: int
    max_leaves: int
    min_samples_split: float
    min_samples_leaf: float
    min_weight_fraction_leaf: float
    min_gain: float
    stop_zero_gain: bool
    min_category_count: float = 1.0  # of less weight, categories count as one
    significance: float | None = None  # a node is a leaf if its best split has this p value or more
    significance_test: str = NAIVE
    exact_p: bool | None = None  # naive, by an exact test; None: where counts are small
    ties: str = SCHEMA
    c45: bool = False  # C4.5's own rules for the choice of a test
    compat: str | None = None
    alpha: float | str = 0.5  # what every class counts in a message before the first row is seen
    lookahead: int = 0  # levels below a split by which it is judged beside its own
    draw: AttributeDraw | None = (
        None  # of the attributes that may be tested at a node; None: all may
    )

    @property
    def by_length(self) -> bool:
        return self.criterion in BY_LENGTH

    @property
    def by_chance(self) -> bool:
        return self.criterion in BY_CHANCE

    @property
    def tie(self) -> float:
        return J48_TIE if self.compat else TIE


def check_growth(
    values: Mapping[str, Any],
    c45: bool = False,
    by_length: bool = False,
    of_numbers: bool = False,
) -> GrowthParams:
    """Check the growing parameters of an estimator: of any, of C4.5, of those that grow by length, or of regressors."""
    criteria = ("gain_ratio", "entropy") if c45 else BY_LENGTH if by_length else tuple(CRITERIA)
    if of_numbers:
        criteria = NUMERIC_CRITERIA  # of which there is one so far
    if values["missing"] == "surrogate" and values["categorical_split"] != "subset":
        raise ValueError(
            'missing="surrogate" requires two-way splits, but categorical_split='
            f'{values["categorical_split"]!r} makes more branches: use categorical_split="subset", or another '
            "setting of missing"
        )
    if of_numbers and values["criterion"] not in criteria:
        raise ValueError(
            f'criterion must be "squared_error" in a regressor, got {short_repr(values["criterion"])}'
        )
    criterion = check_choice("criterion", values["criterion"], criteria)
    if criterion in BY_LENGTH:
        _check_by_length(values)
    return GrowthParams(
        criterion=criterion,
        categorical_split=check_choice(
            "categorical_split",
            values["categorical_split"],
            NUMERIC_SPLITS if of_numbers else CATEGORICAL_SPLITS,
        ),
        missing=check_choice(
            "missing", values["missing"], NUMERIC_MISSING if of_numbers else MISSING
        ),
        threshold=check_choice("threshold", values["threshold"], THRESHOLDS),
        max_depth=_limit("max_depth", values["max_depth"], 0),
        max_leaves=_limit("max_leaves", values["max_leaves"], 1),
        min_samples_split=_weight("min_samples_split", values["min_samples_split"]),
        min_samples_leaf=_weight("min_samples_leaf", values["min_samples_leaf"]),
        min_weight_fraction_leaf=_fraction(
            "min_weight_fraction_leaf", values.get("min_weight_fraction_leaf", 0.0)
        ),
        min_gain=check_number("min_gain", values["min_gain"], 0.0),
        stop_zero_gain=check_flag("stop_zero_gain", values["stop_zero_gain"]),
        min_category_count=check_number(
            "min_category_count", values.get("min_category_count", 1), 1.0
        ),
        significance=_significance(values.get("significance")),
        significance_test=_significance_test(values),
        exact_p=getattr(values.get("significance"), "exact", None),
        ties=check_choice("ties", values.get("ties", SCHEMA), TIES),
        c45=c45,
        compat=_compat(values.get("compat")),
        alpha=_alpha(values.get("alpha", 0.5)),
        lookahead=_lookahead(values.get("lookahead", 0)),
    )


def _check_by_length(values: Mapping[str, Any]) -> None:
    """A message tells the rows as they are, and splits are made whether they shorten it or not: pruning decides."""
    remedies = {
        "attribute_costs": "which weighs gains against costs: use another criterion",
        "class_weight": "because a message encodes the class frequencies as they are: pass sample_weight to fit",
        "misclassification_cost": "because a message encodes the class frequencies as they are: use another criterion",
        "min_gain": "because unprofitable splits are left to pruning: leave it at 0",
        "stop_zero_gain": "because unprofitable splits are left to pruning: leave it at False",
    }
    for name, remedy in remedies.items():
        value = values.get(name)
        if value is not None and not (isinstance(value, (bool, int, float)) and value == 0):
            raise ValueError(f"criterion={values['criterion']!r} does not support {name}, {remedy}")
    if values["criterion"] == "evidence" and values.get("lookahead", 0) == 1:
        raise ValueError(
            'lookahead=1 requires criterion="message_length": with criterion="evidence", set lookahead=0'
        )


def _alpha(value: Any) -> float | str:
    if isinstance(value, str) and value == ONE_IN_ALL:
        return value
    number = as_float(value)
    if not LEAST_ALPHA <= number <= MOST_ALPHA:
        raise ValueError(
            f'alpha must be a number from {LEAST_ALPHA:g} to {MOST_ALPHA:g} or "{ONE_IN_ALL}", got {short_repr(value)}'
        )
    return number


def _lookahead(value: Any) -> int:
    if not is_whole(value) or value not in (0, 1):
        raise ValueError(f"lookahead must be 0 or 1, got {short_repr(value)}")
    return int(value)


def _compat(value: Any) -> str | None:
    return None if value is None else check_choice("compat", value, COMPATIBLE)


def _fraction(name: str, value: Any) -> float:
    number = check_number(name, value, 0.0)
    if number > 0.5:
        raise ValueError(
            f"{name} must be from 0 to 0.5 (two branches cannot each have more than half of the weight), "
            f"got {short_repr(value)}"
        )
    return number


def _significance(value: Any) -> float | None:
    if value is None:
        return None
    value = getattr(value, "alpha", value)  # of a fasttree.pruning.Significance
    return check_fraction("significance", value, "None (no test) or a probability, ")


def _significance_test(values: Mapping[str, Any]) -> str:
    """An object says itself which test it is."""
    said = values.get("significance_test", NAIVE)
    test = check_choice("significance_test", said, SIGNIFICANCE_TESTS)
    own = getattr(values.get("significance"), "test", test)
    if test == NAIVE and own != NAIVE:
        raise ValueError(
            f'significance_test="naive" requires significance to be a number, but significance='
            f"{short_repr(values['significance'])} sets test={own!r}: use fasttree.pruning.Significance(..., "
            f'test="naive")'
        )
    return str(own)


def _limit(name: str, value: Any, least: int) -> int:
    return UNLIMITED if value is None else check_integer(name, value, least, "None (no limit) or ")


def _weight(name: str, value: Any) -> float:
    number = check_number(name, value, 0.0)
    if 0 < number < 1:
        raise ValueError(
            f"{name} must be a weight, not a fraction of the rows, got {short_repr(value)}: for a fraction of "
            f"{number:g} "
            f"pass {name}={number:g} * len(y)"
        )
    return number
