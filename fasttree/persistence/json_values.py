# SPDX-License-Identifier: BSD-3-Clause
"""Parameters and labels as JSON, and back, each with its type.

None, bools, whole numbers, finite floats, text and lists are what they are in JSON. Anything else is an object with one
key, which names the type. Arrays are kept aside, by number.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Callable, Iterable, KeysView, Mapping, Sequence, ValuesView
from decimal import Decimal
from typing import Any

import numpy as np

from fasttree.base.errors import ModelFileError, require
from fasttree.base.values import short_repr

_NUMBERS = "biuf"
_NUMBER_TYPE = re.compile(r"\|[biu]1|[<>](?:[iu][248]|f[248])")
_OBJECTS = {"O": "objects", "U": "texts"}
_TIMES: dict[str, Any] = {"date": datetime.date, "datetime": datetime.datetime}
_PANDAS = ("Interval", "Period", "Timedelta", "Timestamp")


class CannotSave(TypeError):
    """A value that JSON has no words for; whoever asked knows what it belongs to."""


class Encoder:
    """Values to JSON. `arrays` collects the arrays among them; `objects` turns objects of other types into pairs of a
    type's name and a value, or None."""

    def __init__(self, objects: Callable[[Any], tuple[str, Any] | None] | None = None) -> None:
        self.arrays: list[np.ndarray] = []
        self._objects = objects

    def __call__(self, value: Any) -> Any:
        kind = type(value)
        if value is None or kind in (bool, int, str):
            return value
        if kind is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        if kind is list:
            return [self(item) for item in value]
        if kind is np.str_:
            return str(value)
        if isinstance(value, np.ndarray):
            return self._array(value)
        items = _items(value)
        if items is not None:
            return [self(item) for item in items]
        tagged = self._tagged(kind, value)
        if tagged is None and self._objects is not None:
            tagged = self._objects(value)
            if tagged is not None:
                tagged = tagged[0], self(tagged[1])
        if tagged is None:
            raise CannotSave(f"{short_repr(value)} of type {kind.__name__}")
        return {tagged[0]: tagged[1]}

    def _tagged(self, kind: type, value: Any) -> tuple[str, Any] | None:
        if kind is tuple:
            return "tuple", [self(item) for item in value]
        if kind in (set, frozenset):
            return kind.__name__, [self(item) for item in sorted(value, key=repr)]
        if isinstance(value, Mapping):
            return "dict", [[self(key), self(item)] for key, item in value.items()]
        if isinstance(value, np.generic):
            if value.dtype.kind not in _NUMBERS or value.dtype.itemsize > 8:
                return None
            return "numpy", [value.dtype.str, self(value.item())]
        if kind is Decimal:
            return "decimal", str(value)
        if kind is datetime.date:
            return "date", value.isoformat()
        if kind is datetime.datetime:
            return "datetime", value.isoformat()
        if kind is datetime.timedelta:
            return "timedelta", [value.days, value.seconds, value.microseconds]
        if kind.__module__.split(".")[0] == "pandas" and kind.__name__ in _PANDAS:
            return f"pandas.{kind.__name__}", self._of_pandas(kind.__name__, value)
        return None

    def _array(self, value: np.ndarray) -> dict[str, Any]:
        kind = value.dtype.kind
        if kind in _NUMBERS and value.dtype.itemsize <= 8 and 1 <= value.ndim <= 2:
            self.arrays.append(value)
            return {"array": len(self.arrays) - 1}
        if kind in _OBJECTS and value.ndim == 1:
            return {_OBJECTS[kind]: [self(item) for item in value.tolist()]}
        raise CannotSave(f"an array of the type {value.dtype} and the shape {value.shape}")

    def _of_pandas(self, name: str, value: Any) -> list[Any]:
        if name == "Interval":
            return [self(value.left), self(value.right), value.closed]
        if name == "Period":
            return [value.ordinal, value.freqstr]
        number = int(value.asm8.astype(np.int64))
        if name == "Timedelta":
            return [number, value.unit]
        return [number, value.unit, None if value.tzinfo is None else str(value.tzinfo)]


def _items(value: Any) -> Iterable[Any] | None:
    """Of a series, an index or a view of a dict, which are saved as lists."""
    if isinstance(value, (range, KeysView, ValuesView)):
        return value
    if not isinstance(value, np.generic):
        for method in ("tolist", "to_list", "to_pylist"):
            if hasattr(value, method):
                return list(getattr(value, method)())
    return None


class Decoder:
    """JSON back to values. What is not as an `Encoder` writes it raises a ModelFileError, or an error of the type that
    refuses to be made of it."""

    def __init__(
        self,
        arrays: Sequence[np.ndarray] = (),
        objects: Mapping[str, Callable[[Any], Any]] | None = None,
    ) -> None:
        self._arrays = arrays
        self._objects = objects or {}

    def __call__(self, value: Any) -> Any:
        kind = type(value)
        if kind is list:
            return [self(item) for item in value]
        if kind is not dict:
            return value
        require(len(value) == 1, "a value of its header does not have exactly one type")
        (tag, content), *_ = value.items()
        if tag in self._objects:
            return self._objects[tag](self(content))
        if tag == "array":
            require(
                type(content) is int and 0 <= content < len(self._arrays),
                f"its header refers to the array number {short_repr(content)}, which does not exist",
            )
            return self._arrays[content]
        if tag == "float":
            require(
                content in ("nan", "inf", "-inf"), "a number of its header is not nan, inf or -inf"
            )
            return float(content)
        if tag == "decimal" and type(content) is str:
            return Decimal(content)
        if tag in _TIMES and type(content) is str:
            return _TIMES[tag].fromisoformat(content)
        return self._of_items(tag, content)

    def _of_items(self, tag: str, content: Any) -> Any:
        if type(content) is not list:
            raise ModelFileError(
                f"its header has a value of the type {short_repr(tag)} without parts"
            )
        if tag == "numpy":
            return _numpy_scalar(*content)
        if tag == "timedelta":
            return datetime.timedelta(*content)
        items = [self(item) for item in content]
        if tag == "tuple":
            return tuple(items)
        if tag == "set":
            return set(items)
        if tag == "frozenset":  # which may be a label, as a set may not
            return frozenset(items)
        if tag == "dict":
            return dict(items)
        if tag == "texts":
            require(
                all(type(item) is str for item in items),
                "an array of text contains values that are not text",
            )
            return np.array(items, dtype=str)
        if tag == "objects":
            array = np.empty(len(items), dtype=object)
            array[:] = items
            return array
        if tag.startswith("pandas."):
            return _from_pandas(tag.removeprefix("pandas."), *items)
        raise ModelFileError(
            f"its header has a value of the type {short_repr(tag)}, which is unknown"
        )


def number_type(text: Any) -> np.dtype[Any] | None:
    """The numpy type of numbers or bools of this name, in which numpy itself would see much else."""
    is_one = type(text) is str and _NUMBER_TYPE.fullmatch(text)
    return np.dtype(text) if is_one else None


def _numpy_scalar(name: Any, value: Any) -> Any:
    dtype = number_type(name)
    value = Decoder()(value)
    if dtype is None or type(value) not in (bool, int, float):
        raise ModelFileError(
            f"its header has a number of the type {short_repr(name)} with an invalid value"
        )
    return dtype.type(value)


def _from_pandas(name: str, *parts: Any) -> Any:
    require(
        name in _PANDAS, f"its header has a value of the type 'pandas.{name}', which is unknown"
    )
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError(
            f"this model has labels of the type pandas.{name}: install pandas to load it"
        ) from error
    if name == "Interval":
        return pd.Interval(*parts)
    number, unit, *zone = parts
    if name == "Period":
        return pd.Period(ordinal=number, freq=unit)
    if name == "Timedelta":
        return pd.Timedelta(np.timedelta64(number, unit))
    stamp = pd.Timestamp(np.datetime64(number, unit))
    return stamp if zone == [None] else stamp.tz_localize("UTC").tz_convert(*zone)
