# SPDX-License-Identifier: BSD-3-Clause
"""Class labels and row weights, checked, as arrays."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fasttree.base.times import Times, held
from fasttree.base.values import is_missing, short_repr, to_python, value_kind
from fasttree.tables.arrow import arrow_column, as_array, has_arrow_interface
from fasttree.tables.columns import read_column
from fasttree.tables.containers import open_container
from fasttree.tables.factors import (
    MISSING_CODE,
    Factor,
    ascending,
    check_complete,
    compact,
    missing_value_error,
    places_among,
    rank_numbers,
)
from fasttree.tables.numpy_columns import masked_places
from fasttree.tables.whole_numbers import is_large


@dataclass(frozen=True, slots=True)
class Target:
    """`classes[codes[row]]` is the label of a row."""

    codes: np.ndarray  # int32, one a row
    classes: np.ndarray  # the labels that y holds, sorted
    tie_order: np.ndarray  # int32: the classes as they win ties, by y's declared order or sorted

    def take(self, rows: np.ndarray) -> Target:
        """These rows, by number or by mask; a class that loses all of its rows goes."""
        codes = self.codes[rows]
        kept, examples = compact(codes)
        index_of = {code: index for index, code in enumerate(codes[examples].tolist())}
        winners = [index_of[code] for code in self.tie_order.tolist() if code in index_of]
        return Target(kept, self.classes[list(index_of)], np.array(winners, dtype=np.int32))

    def among(self, classes: Any) -> tuple[np.ndarray, list[Any]]:
        """The index of each row's class among the `classes` that the user gave (None: those of y), and these."""
        names = [to_python(label) for label in (self.classes if classes is None else classes)]
        index = places_among(self.classes, names)
        if (index < 0).any():
            unknown = short_repr(to_python(self.classes[int(index.argmin())]))
            raise ValueError(
                f"y contains the class {unknown}, which is not one of classes, {short_repr(names)}"
            )
        return index[self.codes], names


def read_target(y: Any, n_rows: int) -> Target:
    if y is None:
        raise ValueError("A classifier requires y to be passed, but the target y is None.")
    y = one_dimensional(y)
    refuse_times(str(getattr(y, "dtype", getattr(y, "type", ""))).lower())
    values = read_column("y", y)
    if isinstance(values, Factor) and values.large:
        check_complete("y", values)
        raise ValueError(
            f"y contains the integer {short_repr(next(filter(is_large, values.labels)))}: integers of this size are "
            "supported as classes only in an array of 64-bit integers. Pass such an array, or text."
        )
    if isinstance(values, Times):  # they came as objects
        raise _times_error(held(values.kind))
    n_labels = len(values.codes) if isinstance(values, Factor) else len(values)
    check_length(n_labels, n_rows)
    if not isinstance(values, Factor):
        return _number_target(values)
    return _label_target(check_complete("y", values), _text_dtype(y))


def check_length(n_labels: int, n_rows: int) -> None:
    if n_labels != n_rows:
        raise ValueError(
            "Found input variables with inconsistent numbers of samples: "
            f"X has {n_rows} rows, but y has {n_labels} labels."
        )


def _number_target(values: np.ndarray) -> Target:
    values = values.copy()  # they are read several times, and may be the user's own
    whole = values
    if values.dtype.kind == "f":
        if np.isnan(values.min()):
            raise missing_value_error("y", int(np.argmax(np.isnan(values))))
        broken = (np.rint(values) != values) | np.isinf(values)
        if broken.any():
            row = int(np.argmax(broken))
            raise ValueError(
                f"Unknown label type: continuous. y contains {short_repr(values[row])} in row {row}, but "
                "a classifier needs classes: use fasttree.TreeRegressor to predict numbers, discretise y, or pass it "
                "as text if its numbers are class names."
            )
        if np.abs(values).max() < 2**62:
            whole = values.astype(np.int64)
        else:
            whole = rank_numbers(values)[0]
    elif values.dtype.kind == "b":
        whole = values.view(np.uint8)
    codes, rows = compact(whole)
    return Target(codes, values[rows], np.arange(len(rows), dtype=np.int32))


def _label_target(column: Factor, text_dtype: Any) -> Target:
    numbers, rows = compact(column.codes)
    present = [column.value(row) for row in rows.tolist()]
    _refuse_time_labels(present)
    new_code, labels = ascending("y", present)
    codes = np.take(new_code[1:] - 1, numbers)  # of classes, which count from 0
    classes = np.empty(len(present), dtype=object)
    classes[:] = labels
    if not any(isinstance(label, (tuple, list)) for label in present):
        is_text = all(isinstance(label, str) for label in present)
        plain_classes = np.array(labels, dtype=text_dtype if is_text else None)
        # numpy may make floats of very large whole numbers, and drops zeros at the end of a text
        if plain_classes.tolist() == labels:
            classes = plain_classes
    index_of = {label: index for index, label in enumerate(labels)}
    winners = [index_of[label] for label in present] if column.declared else range(len(present))
    return Target(codes, classes, np.array(winners, dtype=np.int32))


def _text_dtype(y: Any) -> Any:
    """Classes have the dtype of numpy.asarray(y), as scikit-learn's have."""
    if isinstance(y, np.ndarray):
        return y.dtype
    return str if isinstance(y, (list, tuple)) else object


def one_dimensional(y: Any) -> Any:
    """A column vector counts as y, with a warning; several columns do not."""
    if isinstance(y, (list, tuple)):
        y = list(y)  # what it holds, whatever its length says
        if y and _is_nested(y[0]):
            y = _nested_list(y)
    shape = getattr(y, "shape", None)
    if not isinstance(shape, tuple) or len(shape) == 1:
        return y
    if len(shape) != 2 or shape[1] != 1:
        raise ValueError(
            f"y should be a 1d array, got an array of shape {shape} instead: "
            "pass one label per row, and fit a separate model for each column of y."
        )
    warnings.warn(
        "A column-vector y was passed when a 1d array was expected. "
        "Please change the shape of y to (n_samples,), for example using ravel().",
        # scikit-learn's own class, for users who filter it
        getattr(sys.modules.get("sklearn.exceptions"), "DataConversionWarning", UserWarning),
        stacklevel=4,
    )
    if isinstance(y, np.ndarray):
        return y.reshape(-1) if masked_places(y) is not None else np.asarray(y).reshape(-1)
    return open_container(y).columns[0]


def _is_nested(values: Any) -> bool:
    if isinstance(values, np.ndarray):
        return values.ndim > 0
    return isinstance(values, (list, tuple))


def _nested_list(y: Sequence[Any]) -> np.ndarray:
    width = len(y[0])
    table = np.empty((len(y), width), dtype=object)
    for row, values in enumerate(y):
        if not _is_nested(values) or len(values) != width:
            raise ValueError(
                f"y should be a 1d array, got a list with {short_repr(y[0])} in row 0 and "
                f"{short_repr(values)} in row {row}: pass one label per row."
            )
        table[row] = values
    return table


def refuse_times(dtype: str, remedy: str | None = None) -> None:
    """`remedy`: if it is not that for class names."""
    if dtype.startswith(("date", "time", "duration")):
        what = f"dates or times ({dtype})"
        raise (
            _times_error(what)
            if remedy is None
            else ValueError(f"y contains {what}, but {remedy}.")
        )


def _refuse_time_labels(labels: Sequence[Any]) -> None:
    kinds = {kind for kind in set(map(type, labels)) if value_kind(kind) in ("date", "duration")}
    for label in labels if kinds else ():
        if type(label) in kinds and not is_missing(label):
            raise _times_error(f"dates or times such as {short_repr(label)}")


def _times_error(what: str) -> ValueError:
    return ValueError(
        f"Unknown label type: y contains {what}. If they are class names, pass them as text."
    )


def read_weights(sample_weight: Any, n_rows: int) -> np.ndarray | None:
    """One float64 a row. None stays None; a single number is the weight of every row."""
    if sample_weight is None:
        return None
    hidden = masked_places(sample_weight)
    if hidden is not None:
        raise ValueError(
            f"sample_weight is masked in row {int(np.argmax(hidden))}: give every row a weight, "
            "0 to ignore the row."
        )
    weights = _weights_as_floats(sample_weight)
    if weights.ndim == 0:
        weights = np.full(n_rows, float(weights))
    if weights.ndim != 1:
        raise ValueError(
            f"sample_weight must be a 1d array, got an array of shape {weights.shape}: "
            "give one weight per row."
        )
    if len(weights) != n_rows:
        raise ValueError(
            f"sample_weight has {len(weights)} entries, but X has {n_rows} rows: "
            "give one weight per row."
        )
    low, high = weights.min(), weights.max()
    if not low >= 0 or high == np.inf:  # a NaN is not >= 0
        row = int(np.argmax(~(weights >= 0) | (weights == np.inf)))
        raise ValueError(
            f"sample_weight contains {short_repr(weights[row])} in row {row}: "
            "weights must be finite numbers >= 0."
        )
    if high == 0:
        raise ValueError(
            "sample_weight is zero in every row: weights must contain at least one non-zero number."
        )
    return np.ascontiguousarray(weights)


def read_groups(groups: Any, n_rows: int) -> np.ndarray | None:
    """A number for each row that says which group it is in; None stays None."""
    if groups is None:
        return None
    shape = getattr(groups, "shape", (0,))
    if isinstance(groups, (str, bytes)) or len(shape) != 1:
        raise ValueError(
            f"groups must be a single column with the group of each row, got {short_repr(groups)}"
        )
    values = read_column("groups", groups)
    if isinstance(values, Factor):
        codes = values.codes
        missing = codes == MISSING_CODE
    else:
        codes = values.values if isinstance(values, Times) else values
        missing = np.isnan(codes) if codes.dtype.kind == "f" else np.zeros(len(codes), dtype=bool)
    if len(codes) != n_rows:
        raise ValueError(
            f"groups has {len(codes)} entries, but X has {n_rows} rows: give the group of each row"
        )
    if missing.any():
        remedy = "give the row a group, a separate one if it does not belong to any other"
        raise missing_value_error("groups", int(np.argmax(missing)), remedy)
    return rank_numbers(codes)[0].astype(np.int64) - 1


def _weights_as_floats(sample_weight: Any) -> np.ndarray:
    """Numbers as float64, NaN where there is none. numpy would also make numbers of text and of dates, and take complex
    ones for their real part."""
    wanted = "sample_weight must contain one number per row"
    if has_arrow_interface(sample_weight) and not hasattr(sample_weight, "__array__"):
        sample_weight = arrow_column("sample_weight", sample_weight)
    try:
        values = as_array(sample_weight)
        found = np.asarray(sample_weight) if values is None else values
    except Exception as error:  # rows of several lengths; a column that numpy has no type for
        if not hasattr(sample_weight, "to_list"):
            raise TypeError(f"{wanted}, got {short_repr(sample_weight)}.") from error
        found = np.array(sample_weight.to_list(), dtype=object)
    if found.dtype.kind in "biuf":
        with np.errstate(over="ignore"):
            return found.astype(np.float64)  # a copy: they are read several times
    if found.dtype.kind != "O":
        raise TypeError(f"{wanted}, got {short_repr(sample_weight)}.")
    weights = np.full(found.shape, np.nan)
    kinds = {kind: value_kind(kind) for kind in set(map(type, found.flat))}
    for i, value in enumerate(found.flat):
        kind = kinds[type(value)]
        where = f" in row {i}" if found.ndim == 1 else ""
        if kind in ("number", "bool"):
            try:
                weights.flat[i] = float(value)
            except OverflowError:
                raise ValueError(
                    f"sample_weight contains {short_repr(value)}{where}, which is outside the range of float64: "
                    "weights must be finite numbers >= 0."
                ) from None
        elif kind != "missing":
            raise TypeError(f"{wanted}, got {short_repr(value)}{where}.")
    return weights
