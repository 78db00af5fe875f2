# SPDX-License-Identifier: BSD-3-Clause
"""Labels as Python source."""

from __future__ import annotations

import datetime
import decimal
import math
from collections.abc import Iterable
from typing import Any

from fasttree.base.values import to_python

# Source of a function that reads a time.
READ_TIME = '''

def _microseconds(value, name, kind):
    """A date, time or duration as the tree knows it; a number is taken for microseconds."""
    if isinstance(value, datetime.timedelta):
        found, span = "duration", value
    elif isinstance(value, datetime.date):
        if not isinstance(value, datetime.datetime):
            value = datetime.datetime(value.year, value.month, value.day)
        found = "datetime" if value.tzinfo is None else "instant"
        zone = None if value.tzinfo is None else datetime.timezone.utc
        span = value - datetime.datetime(1970, 1, 1, tzinfo=zone)
    else:
        return float(value)
    if found != kind:
        words = {"datetime": "a time without a zone", "instant": "a time with a zone", "duration": "a duration"}
        raise TypeError(f"{name!r} is {words[kind]}, got {words[found]}: {value!r}")
    return float(span // datetime.timedelta(microseconds=1))
'''
PLAIN = (str, bool, int, float, datetime.date, datetime.timedelta, decimal.Decimal)


def _standard(value: Any) -> Any:
    """Times of pandas as Python's own, and of any zone as the same instant in UTC: what `repr` writes can be read."""
    if getattr(value, "nanosecond", 0) or getattr(value, "nanoseconds", 0):
        return value
    if hasattr(value, "to_pytimedelta"):
        value = value.to_pytimedelta()
    if hasattr(value, "to_pydatetime"):
        value = value.to_pydatetime()
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        return value.astimezone(datetime.UTC)
    return value


def python_literal(value: Any) -> str:
    """An expression that gives the label; it may need `datetime` or `decimal`."""
    value = _standard(to_python(value))
    if (
        not isinstance(value, PLAIN)
        or hasattr(value, "nanosecond")
        or hasattr(value, "nanoseconds")
    ):
        raise ValueError(
            f"the label {value!r} of type {type(value).__name__} cannot be written as Python source: "
            "use text or numbers as labels, or export to JSON"
        )
    if isinstance(value, float) and not math.isfinite(value):
        return f"float({str(value)!r})"
    if isinstance(value, str):
        return ascii(value) if not value.isprintable() else repr(value)
    return f"decimal.{value!r}" if isinstance(value, decimal.Decimal) else repr(value)


def python_tuple(items: Iterable[str]) -> str:
    """The source of a tuple of these expressions."""
    listed = list(items)
    return f"({listed[0]},)" if len(listed) == 1 else f"({', '.join(listed)})"


def python_imports(source: str) -> str:
    """The lines that source made of such expressions begins with."""
    modules = [name for name in ("datetime", "decimal", "math") if f"{name}." in source]
    return "".join(f"import {name}\n" for name in modules)
