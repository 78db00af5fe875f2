# SPDX-License-Identifier: BSD-3-Clause
"""Numbers and levels that are written as text, as in CSV files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from fasttree.base.times import DATETIME, INSTANT, UNITS, read_time

# What stands for a missing value, unless the model knows it as a level: the words that pandas reads so,
# and the question mark of the classic data sets.
# fmt: off
NULL_SPELLINGS = frozenset(
    ["", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA",
     "NULL", "NaN", "None", "n/a", "nan", "null", "?"]
)
# fmt: on
_ARROW_TIMES = {DATETIME: pa.timestamp("us"), INSTANT: pa.timestamp("us", "UTC")}
_NULLS = pa.array(sorted(NULL_SPELLINGS))
_NO_NUMBER = "x"  # makes text with a point no number, where numbers have a comma
_NUMBER = r"(?i)^[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|inf|infinity|nan)$"


def is_text(kind: pa.DataType) -> bool:
    types = pa.types
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def numbers_of_text(text: Any, decimal: str = ".") -> tuple[np.ndarray, np.ndarray]:
    """Float64 of an Arrow array of text, NaN where a value is missing, and which rows hold no number."""
    for plain in _ever_plainer(text, decimal):
        with suppress(pa.ArrowInvalid):
            return _floats(plain), np.zeros(len(text), dtype=bool)
    readable = pc.fill_null(pc.match_substring_regex(plain, _NUMBER), True)
    unreadable = ~readable.to_numpy(zero_copy_only=False)
    return _floats(pc.if_else(readable, plain, pa.scalar(None, plain.type))), unreadable


def text_as(text: Any, kind: pa.DataType, decimal: str = ".") -> Any:
    """A column of text as one of this type; None if some value is not of this type."""
    for plain in _ever_plainer(text, decimal):
        with suppress(pa.ArrowInvalid):
            return plain.cast(kind)
    return None


def _ever_plainer(text: Any, decimal: str) -> Iterator[Any]:
    """A column of text as it is, which may do; then with points in numbers, without what stands for a missing value and
    without space around it."""
    if decimal == ".":
        yield text
    text = pc.utf8_trim_whitespace(text)
    text = pc.if_else(pc.is_in(text, value_set=_NULLS), pa.scalar(None, text.type), text)
    if decimal != ".":
        text = pc.replace_substring(pc.replace_substring(text, ".", _NO_NUMBER), decimal, ".")
    yield text


def _floats(text: Any) -> np.ndarray:
    numbers = text.cast(pa.float64())
    return np.asarray(numbers.to_numpy(zero_copy_only=numbers.null_count == 0))


def times_of_text(text: Any, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """A column of text as times of a kind: microseconds, as models have them."""
    if kind in _ARROW_TIMES:
        try:
            return _floats(text.cast(_ARROW_TIMES[kind]).cast(pa.int64())), np.zeros(
                len(text), dtype=bool
            )
        except pa.ArrowInvalid:
            pass
    encoded = text.dictionary_encode()
    places = encoded.indices.fill_null(-1).to_numpy()
    known = [_time(label, kind) for label in encoded.dictionary.to_pylist()]
    values = np.array([*(np.nan if time is None else time for time in known), np.nan])
    odd = [time is None for time in known]
    return values[places], np.array([*odd, False])[places]


def _time(text: str, kind: str) -> float | None:
    """None for what is no time."""
    return np.nan if text.strip() in NULL_SPELLINGS else read_time(text, kind)


def kind_of_text(text: str) -> str | None:
    """Which kind of time a text is, if any."""
    return next((kind for kind in UNITS if read_time(text, kind) is not None), None)


def label_parser(family: str | None, decimal: str = ".") -> Callable[[str], Any] | None:
    """Reads text as a level of this family ("text", "number", "bool"); None for a family that text does not hold."""
    if family in ("text", None):
        return str
    if family == "number":
        return partial(_number, decimal)
    return _bool if family == "bool" else None


def _number(decimal: str, text: str) -> Any:
    plain = text
    if decimal != ".":
        plain = text.replace(".", _NO_NUMBER).replace(decimal, ".")
    return float(plain) if re.match(_NUMBER, plain.strip()) else text  # no level is equal to that


_BOOLS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def _bool(text: str) -> Any:
    return _BOOLS.get(text.strip().lower(), text)
