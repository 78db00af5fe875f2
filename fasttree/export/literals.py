# SPDX-License-Identifier: BSD-3-Clause
"""Labels as Python source."""

from __future__ import annotations

import datetime
import decimal
import math
from typing import Any

from fasttree.labels import plain

PLAIN = (str, bool, int, float, datetime.date, datetime.timedelta, decimal.Decimal)


def python_literal(value: Any) -> str:
    """An expression that gives the label; it may need `datetime` or `decimal`."""
    value = plain(value)
    if not isinstance(value, PLAIN):
        raise ValueError(
            f"the label {value!r} of type {type(value).__name__} cannot be written as Python source: "
            "use text or numbers as labels, or export to JSON"
        )
    if isinstance(value, float) and not math.isfinite(value):
        return f"float({str(value)!r})"
    if isinstance(value, str):
        return ascii(value) if not value.isprintable() else repr(value)
    return f"decimal.{value!r}" if isinstance(value, decimal.Decimal) else repr(value)


def python_imports(source: str) -> str:
    """The lines that source made of such expressions begins with."""
    modules = [name for name in ("datetime", "decimal", "math") if f"{name}." in source]
    return "".join(f"import {name}\n" for name in modules)
