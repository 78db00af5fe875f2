# SPDX-License-Identifier: BSD-3-Clause
"""Factor: a column of words, or of other scalars that stand for themselves, as codes."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fasttree import _core
from fasttree.base.values import is_missing, short_repr, to_python

# From reading on, a code is the number of a label, counted from 1, or one of these two. A look-up table begins with the
# entry of missing values.
MISSING_CODE = 0
UNKNOWN_CODE = _core.UNKNOWN_CATEGORY  # -1: a category that was not seen at fit


@dataclass(frozen=True, slots=True)
class Factor:
    """`labels[codes[row] - 1]` is the value of a row; it is missing where the code is 0. No label is a missing
    value."""

    codes: np.ndarray  # int32
    labels: Sequence[Any]
    declared: bool = False  # True: the order of the labels is the user's and stays
    ordered: bool = False  # True: the column's type says that this order means something
    large: bool = False  # True: numbers, read one by one because float64 would round some of them

    @property
    def example(self) -> Any:
        """The first value that is not missing, for error messages."""
        return self.value(int(np.argmax(self.codes > 0)))

    def value(self, row: int) -> Any:
        """The label of a row that has one."""
        return self.labels[self.codes[row] - 1]


# -- errors that several readers raise; `where` is a column as messages call it --------------------


def missing_value_error(
    where: str, row: int, remedy: str = "impute it or drop the row"
) -> ValueError:
    return ValueError(f"{where} has a missing value (NaN or None) in row {row}: {remedy}.")


def complex_error(where: str) -> ValueError:
    return ValueError(
        f"Complex data not supported: {where} contains complex numbers. "
        "Pass the real and the imaginary parts as two real columns."
    )


def not_a_scalar_error(where: str, row: int, value: Any) -> TypeError:
    return TypeError(
        f"{where} contains {short_repr(value)} of type {type(value).__name__} in row {row}, but every "
        f"argument must be a string, a bool, a date or a number: {kind_remedy(type(value).__name__)}."
    )


def kind_remedy(kind: str) -> str:
    """What to do about values of a type that no column may have, by its name."""
    if kind.lower().startswith("time"):  # of day: times with a date are read
        return "convert it to a number, such as minutes since noon"
    if kind == "Period":
        return "convert it to a time (.dt.to_timestamp() in pandas) or to text"
    return "unpack it into separate columns, or convert it to numbers or text"


def first_row(values: Iterable[Any], found: Callable[[Any], bool]) -> int:
    return next(row for row, value in enumerate(values) if found(value))


# -- codes -----------------------------------------------------------------------------------------


def factorize(values: Sequence[Any]) -> Factor:
    """Numbers the distinct values in the order in which they appear, but missing ones. A list must be one that nobody
    else has."""
    codes = np.empty(len(values), dtype=np.int32)
    distinct = _core.object_codes(values, codes)
    return without_missing(Factor(codes, [to_python(label) for label in distinct]))


def codes_of_indices(indices: np.ndarray) -> np.ndarray:
    """Codes of labels that others number from 0, with -1 where a value is missing."""
    codes = indices.astype(np.int32)
    codes += 1
    return np.maximum(codes, MISSING_CODE, out=codes)


def bool_factor(values: np.ndarray) -> Factor:
    """A column of bools, below 0 where they are missing; both stay, even if no row has one of them."""
    return Factor(codes_of_indices(values), [False, True], declared=True)


def empty_factor(n_rows: int) -> Factor:
    """A column that has missing values only, and so no labels."""
    return Factor(np.full(n_rows, MISSING_CODE, dtype=np.int32), [])


def without_missing(column: Factor) -> Factor:
    """The column with None, NaN and the like as codes instead of labels."""
    labels = column.labels
    if all(issubclass(kind, (str, int)) for kind in set(map(type, labels))):
        return column
    known = [code for code, label in enumerate(labels, 1) if not is_missing(label)]
    return column if len(known) == len(labels) else _keep(column, known)


def without_unused(column: Factor) -> Factor:
    """The column without the labels that no row has, unless they were declared."""
    if column.declared:
        return column
    used = np.zeros(len(column.labels) + 1, dtype=bool)
    used[column.codes] = True
    return _keep(column, (np.flatnonzero(used[1:]) + 1).tolist())


def _keep(column: Factor, kept: list[int]) -> Factor:
    """The column with the labels of these codes alone, in this order; a row with another becomes missing."""
    codes = _take_codes(column.codes, _numbered(kept, len(column.labels)))
    labels = [column.labels[code - 1] for code in kept]
    return Factor(codes, labels, column.declared, column.ordered)


def _numbered(kept: list[int] | np.ndarray, n_labels: int) -> np.ndarray:
    """A table for `_take_codes`: the place, from 1 on, of each code among those that are kept."""
    table = np.full(n_labels + 1, MISSING_CODE, dtype=np.int32)
    table[kept] = np.arange(1, len(kept) + 1, dtype=np.int32)
    return table


def compact(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Renumbers integers 0, 1, ... in their own order; with each number comes a row that has it. Nobody else may change
    them meanwhile."""
    low, high = int(codes.min()), int(codes.max())
    # A table over the range is much faster than sorting while it is not much longer than the data.
    if high - low > 2 * len(codes) + 65_536:
        numbers, rows = rank_numbers(codes)
        return numbers - np.int32(1), rows
    first = 0 if 0 <= low <= 65_536 else low  # the number that the table begins with
    row_of = np.full(high - first + 1, -1, dtype=np.int64)
    # Only the differences are sure to fit. Unsigned arithmetic wraps round to the right ones.
    if codes.dtype in (np.uint32, np.int32):
        above = np.ascontiguousarray(codes).view(np.uint32)
        above = above - np.uint32(first % 2**32) if first else above
        numbers = np.empty(len(codes), dtype=np.int32)
        _core.renumber(above, row_of, numbers)
        return numbers, row_of[row_of >= 0]
    if first:
        codes = codes.astype(np.uint64) - np.uint64(first % 2**64)
    codes = codes.astype(np.intp, copy=False)  # what numpy looks up fastest
    row_of[codes] = np.arange(len(codes))
    present = np.flatnonzero(row_of >= 0)
    number_of = np.empty(len(row_of), dtype=np.int32)
    number_of[present] = np.arange(len(present), dtype=np.int32)
    return np.take(number_of, codes), row_of[present]


def rank_numbers(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Codes of the distinct numbers in ascending order, and with each of these the first row that has it."""
    dtype = {"f": np.float64, "u": np.uint64}.get(values.dtype.kind, np.int64)
    codes, rows = np.empty(len(values), dtype=np.int32), np.empty(len(values), dtype=np.int64)
    n_values = _core.rank_numbers(np.ascontiguousarray(values, dtype=dtype), codes, rows)
    return codes, rows[:n_values].copy()


def factorize_numbers(values: np.ndarray) -> Factor:
    """The sorted distinct numbers of an array; a bool always has two."""
    values = values.copy()  # it is read several times, and may be the user's
    if values.dtype.kind == "b":
        return bool_factor(values)
    if values.dtype.kind == "f":
        codes, rows = rank_numbers(values)
        return Factor(codes, (values[rows] + 0.0).tolist())  # -0.0 is 0.0
    codes, rows = compact(values)
    return Factor(codes + 1, values[rows].tolist())


def label_numbers(column: Factor) -> np.ndarray | None:
    """Bools and large numbers as float64, with NaN where they are missing; None if there are other labels."""
    if not column.codes.any():
        return np.full(len(column.codes), np.nan)
    if not column.large and set(map(type, column.labels)) != {bool}:
        return None
    return np.array([np.nan, *column.labels], dtype=np.float64)[column.codes]


def sort_labels(where: str, column: Factor, out: np.ndarray | None = None) -> Factor:
    """The column with its labels in ascending order, unless their order was declared. `out`: where its codes are to
    stand, which may be where they are, or bytes for those of at most 255 labels."""
    if column.declared and (out is None or out.dtype == column.codes.dtype):
        return column
    table, labels = np.arange(len(column.labels) + 1, dtype=np.int32), column.labels
    if not column.declared:
        table, labels = ascending(where, labels)
    codes = _take_codes(column.codes, table, out)
    return Factor(codes, labels, column.declared, column.ordered)


def ascending(where: str, labels: Sequence[Any]) -> tuple[np.ndarray, list[Any]]:
    """The new code of each code, if labels are put into their order; and the labels in that order."""
    objects = np.fromiter(labels, dtype=object, count=len(labels))
    try:
        order = objects.argsort(kind="stable")
    except TypeError:
        kinds = {type(label).__name__: label for label in labels}
        raise ValueError(
            f"{where} has values of types that cannot be ordered together: "
            + " and ".join(f"{kind} ({short_repr(label)})" for kind, label in kinds.items())
            + ". Convert them to one type, for example text."
        ) from None
    return _numbered(order + 1, len(labels)), objects[order].tolist()


def places_among(labels: Iterable[Any], classes: Iterable[Any]) -> np.ndarray:
    """The index of each label among the classes, -1 if it is none of them, whatever library either comes from."""
    index_of = {to_python(label): index for index, label in enumerate(classes)}
    return np.array([index_of.get(to_python(label), -1) for label in labels], dtype=np.int64)


def check_same_kind(classes: np.ndarray, others: np.ndarray, whose: str) -> None:
    """Refuses classes of y that are words while the others are numbers, or the other way round."""
    if (classes.dtype.kind in "OUT") != (others.dtype.kind in "OUT"):
        raise ValueError(
            f"y contains labels like {short_repr(classes[0])}, but {whose} labels like {short_repr(others[0])}: "
            "pass labels of the same kind"
        )


def code_index(categories: Sequence[Any], codes: Iterable[int] | None = None) -> dict[Any, int]:
    """The code of each category, by what it is compared as; by default they count from 1."""
    compared = _compared(categories)
    return dict(zip(compared, range(1, len(compared) + 1) if codes is None else codes, strict=True))


def _compared(labels: Sequence[Any]) -> Sequence[Any]:
    """What labels are compared as: a date is its midnight, since libraries have either."""
    if datetime.date not in set(map(type, labels)):
        return labels
    midnight = datetime.time()
    return [
        datetime.datetime.combine(label, midnight) if type(label) is datetime.date else label
        for label in labels
    ]


def recode(column: Factor, code_of: Mapping[Any, int], unseen: int = UNKNOWN_CODE) -> np.ndarray:
    """Codes of another `code_index`: one look-up a label, not a row. `unseen`: that of a label which it lacks."""
    found = [code_of.get(label, unseen) for label in _compared(column.labels)]
    return _take_codes(column.codes, np.array([MISSING_CODE, *found], dtype=np.int32))


def _take_codes(codes: np.ndarray, table: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """``table[codes]``, for codes from 0 on."""
    recoded = np.empty(len(codes), dtype=np.int32) if out is None else out
    _core.take_codes(codes, table.astype(recoded.dtype, copy=False), recoded)
    return recoded


def check_complete(where: str, column: Factor) -> Factor:
    """Refuses missing values."""
    if not column.codes.all():
        raise missing_value_error(where, int(np.argmin(column.codes)))
    return column


def check_levels(where: str, categories: Any) -> tuple[Any, ...]:
    """Declared categories: at least one, hashable, none missing, none twice (1, 1.0, True are one)."""
    if isinstance(categories, (str, bytes)) or not isinstance(categories, Iterable):
        raise TypeError(f"the categories of {where} must be a list, got {short_repr(categories)}.")
    checked: dict[Any, None] = {}
    for category in map(to_python, categories):
        if is_missing(category):
            raise ValueError(
                f"the categories of {where} contain a missing value ({short_repr(category)}): leave it out."
            )
        try:
            twice = category in checked
        except TypeError:
            raise TypeError(
                f"the categories of {where} contain {short_repr(category)} of type {type(category).__name__}: "
                "a category must be a string, a number or another hashable value."
            ) from None
        if twice:
            raise ValueError(
                f"the categories of {where} contain {short_repr(category)} twice: list it once."
            )
        checked[category] = None
    if not checked:
        raise ValueError(f"the list of categories of {where} is empty: list at least one category.")
    return tuple(checked)
