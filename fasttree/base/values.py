# SPDX-License-Identifier: BSD-3-Clause
"""What a single value is: a word, a number, a date, missing; and how messages show it, and the column that it is in."""

from __future__ import annotations

import datetime
import numbers
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

import numpy as np


def value_kind(kind: type) -> str:
    """What a type is to a column: "text", "number", "bool", "date", ... or the type's own name."""
    if kind is type(None) or kind.__name__ in ("NAType", "NaTType", "MaskedConstant"):
        return "missing"
    if issubclass(kind, (bool, np.bool_)):
        return "bool"
    if issubclass(kind, str):
        return "text"
    if issubclass(kind, (datetime.timedelta, np.timedelta64)):  # numpy's is an integer, too
        return "duration"
    if issubclass(kind, (datetime.date, np.datetime64)):
        return "date"
    if issubclass(kind, (numbers.Real, Decimal)):  # numpy registers its own numbers as Real
        return "number"
    if issubclass(kind, numbers.Complex):
        return "complex"
    return kind.__name__


def value_kinds(labels: Iterable[Any]) -> dict[str, Any]:
    """The kinds of value among labels, each with an example. A bool is a number here: 1 matches True."""
    examples: dict[str, Any] = {}
    for kind, label in {type(label): label for label in labels}.items():
        name = value_kind(kind)
        examples.setdefault("number" if name == "bool" else name, label)
    return examples


def is_missing(value: Any) -> bool:
    # NaN alone differs from itself; pd.NA and a decimal's sNaN refuse to be compared, so types go first.
    if value_kind(type(value)) == "missing":
        return True
    if isinstance(value, Decimal):
        return value.is_nan()
    return isinstance(value, (numbers.Number, np.generic)) and bool(value != value)


def to_python(value: Any) -> Any:
    """numpy's scalars and the text and numbers of an enum as Python's own, and -0.0 as 0.0: labels of every library
    print and compare alike, and none depends on the row in which it came first."""
    if type(value) is str:
        return value
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return int(value)
    return value + 0.0 if isinstance(value, float) else value


def short_repr(value: Any) -> str:
    """A value as an error message shows it: plain and not too long."""
    try:
        text = repr(to_python(value))
    except ValueError:  # Python writes no whole number of more than 4300 digits
        text = f"{type(value).__name__} with too many digits to show"
    return text if len(text) <= 60 else text[:57] + "..."


def column_label(name: str) -> str:
    """A column as error messages call it."""
    return f"column {name!r}"
