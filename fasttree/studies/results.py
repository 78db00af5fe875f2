# SPDX-License-Identifier: BSD-3-Clause
"""What a study found: frozen records that become plain dicts and JSON. How they are shown is no concern of theirs."""

from __future__ import annotations

import dataclasses
import json
import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fasttree.base.values import to_python
from fasttree.evaluation.comparison import Spread
from fasttree.trees.tree import Tree

OBJECT = {"plain": False}  # a field that a dict does not hold


@dataclass(frozen=True, slots=True)
class Interval:
    """A share with its 95 % confidence limits (Wilson)."""

    events: float
    rows: float
    rate: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Table1Level:
    level: str  # "Missing" for missing values
    rows: int
    events: int
    rate: float
    is_missing: bool


@dataclass(frozen=True, slots=True)
class Table1Variable:
    """The levels of an attribute with their events, and Pearson's chi-square test without the missing values."""

    name: str
    title: str
    note: str
    levels: tuple[Table1Level, ...]
    chi_square: float
    df: int
    p_value: float
    printed_p: str = ""


@dataclass(frozen=True, slots=True)
class Fit:
    """One method on one half of a group, judged on the other half. NaN: the method has no such figure."""

    method: str
    seed: int
    n_train: int
    n_test: int
    auc: float
    auc_se: float  # DeLong
    log_loss: float
    error: float
    leaves: float
    nodes: float
    depth: float
    attributes: int
    fit_seconds: float
    auc_laplace: float  # with (n + 1) / (N + 2) as the probabilities of a leaf
    log_loss_laplace: float
    calibration_slope: float
    calibration_intercept: float


@dataclass(frozen=True, slots=True)
class Summary:
    """Means and standard deviations of a method over the seeds, by the names of `Fit`."""

    method: str
    spreads: dict[str, Spread]


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """`first` less `second`, split by split. `corrected_se`, `t` and `p_value` allow for the splits sharing rows
    (Nadeau and Bengio 2003); `delong_p` is DeLong's test of the AUCs on the first split alone, NaN for other
    measures."""

    measure: str
    first: str
    second: str
    mean: float
    corrected_se: float
    t: float
    p_value: float
    delong_p: float


@dataclass(frozen=True, slots=True)
class RocCurves:
    """The share of events found at each share of false alarms, a line a seed."""

    method: str
    false_alarms: tuple[float, ...]
    found: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True)
class CalibrationBin:
    predicted: float  # the mean probability
    observed: Interval  # events and rows count a row as often as it was tested, the limits once


@dataclass(frozen=True, slots=True)
class Calibration:
    """Predicted and observed shares over all the seeds' test halves together. A slope below 1 is overconfidence."""

    method: str
    slope: Spread
    intercept: Spread
    bins: tuple[CalibrationBin, ...]


@dataclass(frozen=True, slots=True)
class WithoutRiskFactor:
    """How a method does on the test rows that carry no risk factor; an alarm is a probability above the event's share
    of the training half."""

    method: str
    auc: Spread
    sensitivity: Spread
    specificity: Spread


@dataclass(frozen=True, slots=True)
class RiskFactors:
    """Which events carry a categorised risk factor, and how the methods do on the rows that carry none."""

    definition: dict[str, tuple[str, ...]]  # attribute -> the levels that count
    rows_with: int
    events: int
    events_with: Interval
    events_in_test: Spread  # of a test half
    events_with_in_test: Spread
    without: tuple[WithoutRiskFactor, ...]


@dataclass(frozen=True, slots=True)
class TreeNode:
    """A node, in breadth-first order. `condition` is the branch that leads to it; no `attribute`: a leaf."""

    node: int
    parent: int
    condition: str
    attribute: str
    depth: int
    train: Interval
    test: Interval
    probability: float


@dataclass(frozen=True, slots=True)
class StudyRule:
    """A path of the tree: rows of the training and of the test half that take it."""

    conditions: tuple[str, ...]
    probability: float
    train: Interval
    test: Interval


@dataclass(frozen=True, slots=True)
class ReadableTree:
    """The tree of the first seed. `tree` is the thing itself, for drawing."""

    method: str
    seed: int
    text: str
    nodes: tuple[TreeNode, ...]
    rules: tuple[StudyRule, ...]
    tree: Tree = field(repr=False, metadata=OBJECT)


@dataclass(frozen=True, slots=True)
class Coefficient:
    """NaN limits: not defined, since the outcomes are separated."""

    label: str
    attribute: str
    estimate: float
    standard_error: float
    p_value: float
    odds_ratio: float
    low: float
    high: float
    separated: bool


@dataclass(frozen=True, slots=True)
class LogisticReport:
    """The logistic regression of the first seed, and what was selected over all of them."""

    seed: int
    fitted_by: str  # "statsmodels" or "fasttree"
    missing: str  # what became of missing values
    n_train: int
    candidates: int
    selected: tuple[str, ...]
    p_values: dict[str, float]  # of each selected attribute
    references: dict[str, str]
    coefficients: tuple[Coefficient, ...]
    separated: tuple[str, ...]
    pooled: tuple[str, ...]
    aliased: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GroupResult:
    """All about one group of rows, its methods judged on the same splits."""

    name: str
    n_rows: int
    n_events: int
    n_train: int
    n_test: int
    attributes: tuple[str, ...]
    left_out: dict[str, str]  # attributes that were not used, and why
    fits: tuple[Fit, ...]
    summaries: tuple[Summary, ...]
    differences: tuple[PairedDifference, ...]
    roc: tuple[RocCurves, ...]
    calibration: tuple[Calibration, ...]
    attributes_used: dict[str, dict[str, float]]  # method -> attribute -> share of the seeds
    trees: tuple[ReadableTree, ...]
    logistic: tuple[LogisticReport, ...]
    risk: RiskFactors | None
    reference_auc: Spread | None  # of the true probabilities, where a synthetic table has them
    notes: tuple[str, ...]

    def summary(self, method: str) -> Summary:
        return next(summary for summary in self.summaries if summary.method == method)


@dataclass(frozen=True, slots=True)
class StudyResult:
    """A study: every group, Table 1, and how it was done."""

    title: str
    synthetic: bool
    target: str
    event: str
    by: str
    n_rows: int
    n_events: int
    n_attributes: int
    seeds: tuple[int, ...]
    methods: tuple[str, ...]
    table1: tuple[Table1Variable, ...]
    printed_table1: tuple[Table1Variable, ...]  # the published study's, with P values recomputed
    groups: tuple[GroupResult, ...]
    seconds: float
    notes: tuple[str, ...]

    def group(self, name: str) -> GroupResult:
        return next(group for group in self.groups if group.name == name)

    def to_dict(self) -> dict[str, Any]:
        """Dicts, lists, text and numbers; what is not defined is None."""
        return _plain(self)

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False)


def _plain(value: Any) -> Any:
    """JSON has neither NaN nor infinity."""
    value = to_python(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            f.name: _plain(getattr(value, f.name))
            for f in dataclasses.fields(value)
            if f.metadata.get("plain", True)
        }
    if hasattr(value, "_asdict"):
        return _plain(value._asdict())
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
