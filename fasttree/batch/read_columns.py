# SPDX-License-Identifier: BSD-3-Clause
"""An Arrow column as one attribute of a model: its numbers, or the codes of its levels.

The usual types are read here, without any loop over rows; all others as every table is read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from fasttree.base.times import DATETIME, DURATION, INSTANT, held
from fasttree.base.values import column_label, is_missing, short_repr, value_kinds
from fasttree.batch.report import Tally
from fasttree.files.errors import EXAMPLES, CellError, InputError
from fasttree.files.text import (
    NULL_SPELLINGS,
    is_text,
    kind_of_text,
    label_parser,
    numbers_of_text,
    times_of_text,
)
from fasttree.tables.columns import read_column
from fasttree.tables.factors import Factor, label_numbers
from fasttree.tables.fitted import like_labels, like_numbers
from fasttree.tables.schema import AttributeSchema
from fasttree.tables.training import MISSING_CODE, UNKNOWN_CODE, Column

Found = TypeVar("Found")
_ONE = {
    None: "a number",
    DATETIME: "a date or a time without a zone, such as 2024-02-29 or 2024-02-29T12:30",
    INSTANT: "a time with a zone, such as 2024-02-29T12:30Z",
    DURATION: "a duration, such as 3 days 02:00:00",
}


@dataclass(frozen=True, slots=True)
class Reading:
    """How columns are read."""

    textual: bool = False  # the table has text alone, as a CSV file
    decimal: str = "."  # of numbers in such text
    lenient: bool = False  # what cannot be read is missing
    allow_missing: bool = True
    allow_unseen: bool = True
    merges_unseen: bool = True  # an unseen level counts as one of few rows, where there are such


@dataclass(frozen=True, slots=True)
class _Levels:
    """The codes of a dictionary's labels, and before them that of a missing value."""

    dictionary: Any
    labels: list[Any]
    codes: np.ndarray


class AttributeReader:
    """Reads a column of every batch. Several threads may do so at once."""

    def __init__(
        self, attribute: AttributeSchema, low: float, high: float, reading: Reading
    ) -> None:
        self.attribute, self.low, self.high, self.reading = attribute, low, high, reading
        self._latest: _Levels | None = None
        if attribute.categories is None:
            return
        seen = attribute.seen_levels
        self._code_of = dict(zip(seen, attribute.seen_codes, strict=True))
        self._families = value_kinds(seen)
        if reading.textual:
            bools = all(isinstance(level, bool) for level in seen)
            family = "bool" if bools and self._families else next(iter(self._families), None)
            parse = label_parser(family, reading.decimal)
            if parse is None:
                raise InputError(
                    f"column {attribute.name!r} has categories of type {family}, which cannot be read from text: "
                    "use a Parquet file"
                )
            self._parse = parse

    def read(self, array: Any) -> tuple[Column, Tally]:
        try:
            return self._read(array)
        except (UnicodeDecodeError, pa.ArrowInvalid) as error:  # not what the file says it is
            raise self._unreadable(array, error) from None

    def _read(self, array: Any) -> tuple[Column, Tally]:
        tally = Tally()
        if self.attribute.categories is None:
            numbers = self._numbers(array, tally)
            column = Column(self.attribute.name, values=numbers, time=self.attribute.time)
        else:
            column = Column(
                self.attribute.name,
                codes=self._codes(array, tally),
                categories=self.attribute.categories,
                declared=True,
                ordered=self.attribute.ordered,
            )
        return column, tally

    def _error(self, row: int, problem: str, remedy: str) -> CellError:
        return CellError(row, self.attribute.name, problem, remedy)

    def _unreadable(self, array: Any, error: Exception) -> InputError:
        if pa.types.is_dictionary(array.type):
            array = array.dictionary_decode()
        texts = array.cast(pa.large_binary()).to_pylist() if is_text(array.type) else []
        for row, text in enumerate(texts):
            try:
                (text or b"").decode()
            except UnicodeDecodeError:
                return self._error(
                    row, f"contains {short_repr(text)}, which is not UTF-8", "decode it"
                )
        return InputError(f"column {self.attribute.name!r} cannot be read: {error}.")

    def _check_missing(self, missing: np.ndarray, tally: Tally) -> None:
        tally.missing = int(np.count_nonzero(missing))
        if tally.missing and not self.reading.allow_missing:
            remedy = 'fill it in, or train the model with another method, such as missing="branch"'
            raise self._error(int(np.argmax(missing)), "has a missing value", remedy)

    # -- numbers ---------------------------------------------------------------------------------------------------

    def _numbers(self, array: Any, tally: Tally) -> np.ndarray:
        values = self._values(array, tally)
        if values.dtype.kind == "f":
            self._check_missing(np.isnan(values), tally)
        tally.below = int(np.count_nonzero(values < self.low))  # False where any of the two is NaN
        tally.above = int(np.count_nonzero(values > self.high))
        return values

    def _values(self, array: Any, tally: Tally) -> np.ndarray:
        kind, time = array.type, self.attribute.time
        if pa.types.is_dictionary(kind):
            self._places(array)
        is_number = pa.types.is_integer(kind) or kind in (pa.float32(), pa.float64())
        if is_number and time is None:
            return np.asarray(array.to_numpy(zero_copy_only=array.null_count == 0))
        if pa.types.is_dictionary(kind) and is_text(kind.value_type):
            array, kind = array.cast(kind.value_type), kind.value_type
        if is_text(kind):
            return self._parsed(array, tally)
        where = column_label(self.attribute.name)
        values = _checked(read_column, where, pa.chunked_array([array]))
        if isinstance(values, Factor) and label_numbers(values) is None:
            row = int(np.argmax(values.codes > 0))
            wanted = "a number" if time is None else held(time)
            raise self._error(
                row, f"contains {short_repr(values.example)}", f"the model expects {wanted}"
            )
        return _checked(like_numbers, where, values, self.attribute)

    def _parsed(self, text: Any, tally: Tally) -> np.ndarray:
        reading, time = self.reading, self.attribute.time
        if not (reading.textual or reading.lenient):
            if text.null_count == len(text):
                return np.full(len(text), np.nan)
            row = int(np.argmax(text.is_valid().to_numpy(zero_copy_only=False)))
            remedy = (
                f"the model expects {held(time)}: convert the column, or parse its text (--lenient)"
            )
            raise self._error(row, f"contains text, {short_repr(text[row].as_py())}", remedy)
        if time is None:
            values, unreadable = numbers_of_text(text, reading.decimal)
        else:
            values, unreadable = times_of_text(text, time)
        tally.unreadable = int(np.count_nonzero(unreadable))
        if tally.unreadable:
            rows = np.flatnonzero(unreadable)
            if not reading.lenient:
                found = text[int(rows[0])].as_py()
                remedy = "correct it, or treat such values as missing (--lenient)"
                if kind_of_text(found) is not None:
                    remedy = f"the model was trained on {held(time)}: pass {held(time)}"
                raise self._error(
                    int(rows[0]), f"contains {short_repr(found)}, which is not {_ONE[time]}", remedy
                )
            tally.unreadable_examples = [text[int(row)].as_py() for row in rows[:EXAMPLES]]
        return values

    # -- levels ----------------------------------------------------------------------------------------------------

    def _codes(self, array: Any, tally: Tally) -> np.ndarray:
        if is_text(array.type):
            array = array.dictionary_encode()
        if pa.types.is_dictionary(array.type):
            places = self._places(array)
            levels = self._latest
            if levels is None or not levels.dictionary.equals(array.dictionary):
                levels = self._levels(array.dictionary, array.dictionary.to_pylist(), places)
                if places.any():  # else nothing has been checked yet
                    self._latest = levels
        else:
            where = column_label(self.attribute.name)
            values = _checked(read_column, where, pa.chunked_array([array]))
            found = _checked(like_labels, where, values, self.attribute.seen_levels)
            places = found.codes
            levels = self._levels(None, list(found.labels), places)
        codes = np.take(levels.codes, places)
        self._check_missing(codes == MISSING_CODE, tally)
        unseen = codes == UNKNOWN_CODE
        tally.unseen = int(np.count_nonzero(unseen))
        if tally.unseen:
            if not self.reading.allow_unseen:
                row = int(np.argmax(unseen))
                held = short_repr(levels.labels[places[row] - 1])
                raise self._error(
                    row, f"contains {held}, which was not seen in training", "correct it"
                )
            some = np.unique(places[unseen])[:EXAMPLES]
            tally.unseen_examples = [str(levels.labels[place - 1]) for place in some]
            if self.attribute.others is not None and self.reading.merges_unseen:
                codes[unseen] = len(self.attribute.own_levels) + 1
        return codes

    def _places(self, array: Any) -> np.ndarray:
        """Where in its dictionary each row's label is, from 1 on, 0 if it has none. Arrow does not look at what it is
        given."""
        indices, n_labels = array.indices, len(array.dictionary)
        places = np.asarray(indices.fill_null(0) if indices.null_count else indices)
        outside = (places < 0) | (places >= n_labels)
        if indices.null_count:
            outside &= np.asarray(indices.is_valid())
        if outside.any():
            row = int(np.argmax(outside))
            problem = f"refers to entry {places[row]} of a dictionary of {n_labels}"
            raise self._error(row, problem, "the file or table is damaged: write it again")
        places = places.astype(np.int32) + 1
        if indices.null_count:
            places[~np.asarray(indices.is_valid())] = MISSING_CODE
        return places

    def _levels(self, dictionary: Any, labels: list[Any], places: np.ndarray) -> _Levels:
        if self.reading.textual:
            codes = [self._code_of_text(label) for label in labels]
        else:
            codes = [
                MISSING_CODE if is_missing(label) else self._code_of.get(label, UNKNOWN_CODE)
                for label in labels
            ]
            self._check_family(labels, places)
        return _Levels(dictionary, labels, np.array([MISSING_CODE, *codes], dtype=np.int32))

    def _code_of_text(self, text: str | None) -> int:
        if text is None:
            return MISSING_CODE
        code = self._code_of.get(self._parse(text), UNKNOWN_CODE)
        return MISSING_CODE if code == UNKNOWN_CODE and text in NULL_SPELLINGS else code

    def _check_family(self, labels: list[Any], places: np.ndarray) -> None:
        """A column of another type would have unseen levels alone."""
        now = value_kinds(label for label in labels if not is_missing(label))
        then = self._families
        if then and now and then.keys().isdisjoint(now) and places.any():
            row = int(np.argmax(places > 0))
            levels = self.attribute.seen_levels
            raise self._error(
                row,
                f"contains {short_repr(labels[places[row] - 1])} ({next(iter(now))} instead of {next(iter(then))})",
                f"the model expects categories such as {short_repr(levels[0])}",
            )


def _checked(read: Callable[..., Found], *given: Any) -> Found:
    """What a function for tables in memory finds in a column, or its error as that of an input."""
    try:
        return read(*given)
    except (TypeError, ValueError) as error:
        raise InputError(str(error)) from None
