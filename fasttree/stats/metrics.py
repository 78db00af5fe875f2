# SPDX-License-Identifier: BSD-3-Clause
"""How good predictions are: accuracy, AUC (the area under the ROC curve) and its standard error, log loss, Brier score.

``y`` holds the true classes. ``scores`` and ``probabilities`` have a column for each class, in the order of ``classes``
(None: the distinct labels of y, sorted); with two classes, one number a row does as well, which belongs to the second.
Weights count as copies of a row.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from fasttree.base.elementary import log
from fasttree.base.hints import check_choice
from fasttree.base.sums import dot, exact_dot, exact_total, mean, segment_sums, sums, total
from fasttree.base.values import to_python
from fasttree.tables.factors import check_same_kind
from fasttree.tables.target import read_target, read_weights

__all__ = [
    "accuracy",
    "brier_score",
    "error_rate",
    "hanley_mcneil",
    "log_loss",
    "roc_auc",
    "roc_auc_covariance",
    "roc_auc_se",
]

# A probability of 0 for what then happens would cost infinitely much; this way it costs 36.04 (in nats).
SMALLEST_PROBABILITY = float(np.finfo(np.float64).eps)


def __dir__() -> list[str]:
    return __all__


def weighted_mean(values: np.ndarray, weight: np.ndarray | None) -> float:
    """The mean of one value a row, however large the weights are."""
    if weight is None:
        return mean(values)
    weight = np.ldexp(weight, -int(np.frexp(weight.max())[1]))
    return float(exact_dot(values, weight) / exact_total(weight))


def paired(y: Any, predicted: Any) -> tuple[list[Any], np.ndarray, np.ndarray]:
    """The classes of both, those of y first, and for each row the index of its own and of the predicted one."""
    n_rows = len(predicted)
    true, guess = read_target(y, n_rows), read_target(predicted, n_rows)
    check_same_kind(true.classes, guess.classes, "predicted contains")
    index_of = {to_python(label): index for index, label in enumerate(true.classes)}
    codes = [index_of.setdefault(to_python(label), len(index_of)) for label in guess.classes]
    return list(index_of), true.codes, np.array(codes)[guess.codes]


def accuracy(y: Any, predicted: Any, *, sample_weight: Any = None) -> float:
    """The share of rows whose class is predicted correctly.

    >>> accuracy(["no", "yes", "yes", "no"], ["no", "no", "yes", "no"])
    0.75
    """
    _, true, guess = paired(y, predicted)
    return weighted_mean(guess == true, read_weights(sample_weight, len(true)))


def error_rate(y: Any, predicted: Any, *, sample_weight: Any = None) -> float:
    """The share of rows whose class is predicted incorrectly.

    >>> error_rate(["no", "yes", "yes", "no"], ["no", "no", "yes", "no"])
    0.25
    """
    return 1.0 - accuracy(y, predicted, sample_weight=sample_weight)


def log_loss(
    y: Any,
    probabilities: Any,
    *,
    classes: Any = None,
    sample_weight: Any = None,
    smallest: float = SMALLEST_PROBABILITY,
) -> float:
    """The mean of -log(probability of the true class), in nats.

    Probabilities are first clipped to [smallest, 1 - smallest]. An unpruned tree is often certain, and where it is
    certain and wrong, the result is determined by this limit.

    >>> round(log_loss(["no", "yes"], [0.2, 0.6]), 6)  # (-log 0.8 - log 0.6) / 2
    0.366985
    """
    codes, table, weight = _read_probabilities(y, probabilities, classes, sample_weight)
    if not 0 < smallest < 0.5:
        raise ValueError(f"smallest must be above 0 and below 0.5, got {smallest!r}")
    of_class = np.clip(table[np.arange(len(codes)), codes], smallest, 1 - smallest)
    return weighted_mean(-log(of_class), weight)


def brier_score(
    y: Any, probabilities: Any, *, classes: Any = None, sample_weight: Any = None
) -> float:
    """The mean squared difference between probabilities and outcomes: with two classes of the second one, from 0 to 1;
    with more classes the sum over all of them, from 0 to 2.

    >>> round(brier_score(["no", "yes"], [0.2, 0.6]), 6)  # (0.2² + 0.4²) / 2
    0.1
    """
    codes, table, weight = _read_probabilities(y, probabilities, classes, sample_weight)
    off = table.copy()
    off[np.arange(len(codes)), codes] -= 1
    squares = sums(off * off)
    return weighted_mean(squares / 2 if table.shape[1] == 2 else squares, weight)


# -- AUC -----------------------------------------------------------------------------------------------------------


def roc_auc(y: Any, scores: Any, *, classes: Any = None, sample_weight: Any = None) -> float:
    """The AUC, the area under the ROC curve: the probability that a row of the class scores higher than another row,
    where ties count half.

    With more than two classes, the mean over the classes of the area against the rest; classes that no row or every row
    has are left out. NaN if no class is left.

    >>> roc_auc([0, 0, 1, 1], [0.1, 0.4, 0.4, 0.8])
    0.875
    """
    areas, _ = _areas(*_read(y, scores, classes, sample_weight), False)
    return mean(areas) if len(areas) else float("nan")


def roc_auc_se(
    y: Any, scores: Any, *, method: str = "delong", classes: Any = None, sample_weight: Any = None
) -> float:
    """The standard error of `roc_auc`: its variation between samples of rows.

    "delong" makes no assumption about the scores. "hanley_mcneil" (two classes only) requires only the area and the
    numbers of rows, so it can be used for published areas too. NaN if a class has fewer than two rows.

    >>> y, scores = [0, 0, 0, 1, 1, 1], [0.1, 0.4, 0.3, 0.35, 0.6, 0.8]
    >>> round(roc_auc_se(y, scores), 6), round(roc_auc_se(y, scores, method="hanley_mcneil"), 6)
    (0.157135, 0.153288)
    """
    check_choice("method", method, ("delong", "hanley_mcneil"))
    codes, table, weight = _read(y, scores, classes, sample_weight)
    if method == "delong":
        areas, influence = _areas(codes, table, weight, True)
        return math.sqrt(dot(weight, influence * influence)) if len(areas) else float("nan")
    if table.shape[1] != 2:
        raise ValueError(
            f"method='hanley_mcneil' requires two classes, but there are {table.shape[1]}: use method='delong'"
        )
    areas, _ = _areas(codes, table, weight, False)
    if not len(areas):
        return float("nan")
    return hanley_mcneil(float(areas[0]), *np.bincount(codes, weight, minlength=2)[::-1].tolist())


def hanley_mcneil(area: float, n_positive: float, n_negative: float) -> float:
    """The standard error of an AUC by Hanley and McNeil (1982), from the area and the numbers of rows.

    >>> round(hanley_mcneil(0.82, 981, 4117), 4)
    0.0086
    """
    if not 0 <= area <= 1:
        raise ValueError(f"area must be a number from 0 to 1, got {area!r}")
    if min(n_positive, n_negative) < 2:
        return float("nan")
    two_positives = area / (2 - area)  # both score higher than one negative row
    two_negatives = 2 * area * area / (1 + area)
    variance = area * (1 - area)
    variance += (n_positive - 1) * (two_positives - area * area)
    variance += (n_negative - 1) * (two_negatives - area * area)
    return float(np.sqrt(max(variance, 0.0) / (n_positive * n_negative)))


def roc_auc_covariance(
    y: Any, scores: Sequence[Any], *, classes: Any = None, sample_weight: Any = None
) -> tuple[np.ndarray, np.ndarray]:
    """The AUCs of several scores for the same rows, and their covariance matrix by DeLong.

    The difference of two areas has the variance ``v[0, 0] + v[1, 1] - 2 * v[0, 1]``: less than with separate rows,
    because scores for the same rows are correlated.

    >>> y = [0, 0, 0, 1, 1, 1]
    >>> areas, v = roc_auc_covariance(y, [[0.1, 0.4, 0.3, 0.35, 0.6, 0.8], [0.3, 0.1, 0.4, 0.2, 0.7, 0.5]])
    >>> areas.round(4).tolist(), round(float(v[0, 0] + v[1, 1] - 2 * v[0, 1]), 6)
    ([0.8889, 0.7778], 0.061728)
    """
    areas, influences = [], []
    weight = np.empty(0)
    for of_model in scores:
        codes, table, weight = _read(y, of_model, classes, sample_weight)
        of_classes, influence = _areas(codes, table, weight, True)
        areas.append(mean(of_classes) if len(of_classes) else np.nan)
        influences.append(influence)
    if not areas:
        raise ValueError("scores is empty: pass a list with one array of scores per model")
    rows = np.array(influences)
    covariance = [[dot(weight, row * other) for other in rows] for row in rows]
    return np.array(areas), np.array(covariance)


def _areas(
    codes: np.ndarray, table: np.ndarray, weight: np.ndarray, with_influence: bool
) -> tuple[np.ndarray, np.ndarray]:
    """The area of each class that can be told from others, and how far each row moves their mean."""
    n_classes = table.shape[1]
    areas: list[float] = []
    influence = np.zeros(len(codes))
    for c in (1,) if n_classes == 2 else range(n_classes):
        is_positive = codes == c
        positive, negative = np.where(is_positive, weight, 0.0), np.where(is_positive, 0.0, weight)
        n_positive, n_negative = total(positive), total(negative)
        if not (n_positive > 0 and n_negative > 0):
            continue
        order = np.argsort(table[:, c])
        ordered = table[order, c]
        begins = np.append(True, ordered[1:] != ordered[:-1])
        tie = np.cumsum(begins) - 1
        first = np.flatnonzero(begins)
        # The weight of negative rows that score less.
        below = _middle_ranks(negative[order], first)[tie]
        area = dot(positive[order], below) / (n_positive * n_negative)
        areas.append(area)
        if not with_influence:
            continue
        if n_positive <= 1 or n_negative <= 1:
            influence[:] = np.nan
            continue
        above = n_positive - _middle_ranks(positive[order], first)[tie]
        placement = np.where(is_positive[order], below / n_negative, above / n_positive)
        n_own = np.where(is_positive[order], n_positive, n_negative)
        influence[order] += (placement - area) / np.sqrt(n_own * (n_own - 1))
    return np.array(areas), influence / max(1, len(areas))


def _middle_ranks(weight: np.ndarray, first: np.ndarray) -> np.ndarray:
    """The weight before each group of ties, and half of the group's own."""
    of_group = segment_sums(weight, first)
    return np.asarray(np.cumsum(of_group) - of_group / 2)


# -- what the user passes ------------------------------------------------------------------------------------------


def _read(
    y: Any, scores: Any, classes: Any, sample_weight: Any
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The class number of each row, a column of scores for each class, and the weights."""
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim not in (1, 2):
        raise ValueError(
            f"scores must have one number per row, or one column per class, got an array of shape {table.shape}"
        )
    if np.isnan(table).any():
        row = int(np.argwhere(np.isnan(table))[0][0])
        raise ValueError(f"scores contains NaN in row {row}: leave the row out")
    codes, names = read_target(y, len(table)).among(classes)
    if classes is None and table.ndim == 1 and len(names) > 2:
        raise ValueError(
            f"y has {len(names)} classes, but scores has one number per row: pass one column per class"
        )
    n_columns = 2 if table.ndim == 1 else table.shape[1]
    if len(names) != n_columns and not (table.ndim == 1 and classes is None):
        raise ValueError(
            f"scores has {n_columns} columns, but there are {len(names)} classes: pass one column per class, and, if "
            "some classes do not occur in y, all classes in the order of the columns as classes="
        )
    if table.ndim == 1:
        table = np.column_stack([1 - table, table])
    weight = read_weights(sample_weight, len(codes))
    return codes, table, np.ones(len(codes)) if weight is None else weight


def _read_probabilities(
    y: Any, probabilities: Any, classes: Any, sample_weight: Any
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    codes, table, weight = _read(y, probabilities, classes, sample_weight)
    asked = table[:, -1:] if np.ndim(probabilities) == 1 else table
    wrong = (asked < -1e-6) | (asked > 1 + 1e-6)  # float32 rounds
    if wrong.any():
        row, column = (int(i) for i in np.argwhere(wrong)[0])
        raise ValueError(
            f"probabilities must be from 0 to 1, got {asked[row, column]:g} in row {row}"
        )
    if classes is None and np.ndim(probabilities) == 1 and not codes.any():
        raise ValueError(
            "y has only one class, so with one probability per row it is ambiguous which class it belongs to: "
            "pass classes="
        )
    return codes, table, weight
