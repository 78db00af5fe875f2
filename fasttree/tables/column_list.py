# SPDX-License-Identifier: BSD-3-Clause
"""What the columns of a table were taken for, by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

from fasttree.base.printed_tables import aligned
from fasttree.base.quoting import readable
from fasttree.base.text import number_text
from fasttree.base.times import DURATION
from fasttree.base.values import to_python
from fasttree.tables.schema import AttributeSchema, Schema

MOST = 40  # columns that are listed one by one
LONGEST = 28  # letters of a name or a value
_HEAD = ("column", "kind", "values", "missing", "example")
_TEXTS = (0, 1, 4)  # of these columns


@dataclass(frozen=True, slots=True)
class ColumnInfo:
    """A column as a model has read it."""

    name: str
    kind: str  # "numeric", "time", "duration", "categorical" or "ordered"
    distinct: int | None  # values in the training rows; None: nobody counted them (to the end)
    missing: int | None  # training rows without a value
    example: (
        Any  # the smallest number or time as a text, or the first category; None: there is no value
    )
    others: int = 0  # categories of few rows that count as one
    more_than: int | None = None  # with `max_bins`: so many values were counted, and there are more

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        example = self.example
        if not isinstance(example, (str, int, float, bool, type(None))):
            example = str(example)
        said = {
            "name": self.name,
            "kind": self.kind,
            "values": self.distinct,
            "missing": self.missing,
            "example": example,
        }
        if self.more_than is not None:
            said["more_than"] = self.more_than
        return said | ({"others": self.others} if self.others else {})


@dataclass(frozen=True, slots=True)
class ColumnList(Sequence[ColumnInfo]):
    """The columns in their order. Prints as a table."""

    columns: tuple[ColumnInfo, ...]

    def __len__(self) -> int:
        return len(self.columns)

    @overload
    def __getitem__(self, index: int) -> ColumnInfo: ...
    @overload
    def __getitem__(self, index: slice) -> ColumnList: ...
    def __getitem__(self, index: int | slice) -> ColumnInfo | ColumnList:
        if isinstance(index, slice):
            return ColumnList(self.columns[index])
        return self.columns[index]

    def __iter__(self) -> Iterator[ColumnInfo]:
        return iter(self.columns)

    def __str__(self) -> str:
        return self.to_text()

    def kinds(self) -> str:
        """Return how many columns there are of each kind."""
        found = Counter(column.kind for column in self.columns)
        return ", ".join(f"{n:,} {kind}" for kind, n in found.items())

    def to_text(self, most: int | None = None) -> str:
        """Return one line per column, for at most `most` columns; the others are only counted."""
        listed = self.columns if most is None else self.columns[:most]
        rows = [_HEAD, *map(_cells, listed)]
        text = aligned(rows, left=_TEXTS)
        if len(listed) < len(self.columns):
            rest = ColumnList(self.columns[len(listed) :])
            text += f"\n... and {len(rest):,} more ({rest.kinds()})"
        return text


def columns_of(schema: Schema) -> ColumnList:
    """The columns as a schema remembers them."""
    return ColumnList(tuple(_info(schema, j, a) for j, a in enumerate(schema.attributes)))


def _info(schema: Schema, j: int, attribute: AttributeSchema) -> ColumnInfo:
    distinct, missing = schema.counted[j].tolist() if len(schema.counted) else (None, None)
    if attribute.categories is not None:
        kind = "ordered" if attribute.ordered else "categorical"
        seen = attribute.seen_levels
        example = to_python(seen[0]) if seen else None
        others = len(attribute.others or ())
        return ColumnInfo(attribute.name, kind, distinct, missing, example, others)
    kind = "numeric"
    if attribute.time is not None:
        kind = "duration" if attribute.time == DURATION else "time"
    low, high = schema.ranges[j].tolist() if len(schema.ranges) else (1.0, 0.0)
    example = number_text(low, attribute.time) if low <= high else None
    if distinct is not None and distinct < 0:
        return ColumnInfo(attribute.name, kind, None, missing, example, more_than=-distinct)
    return ColumnInfo(attribute.name, kind, distinct, missing, example)


def _cells(column: ColumnInfo) -> tuple[str, ...]:
    kind = column.kind + (f" ({column.others:,} merged)" if column.others else "")
    counts = ["?" if n is None else f"{n:,}" for n in (column.distinct, column.missing)]
    if column.more_than is not None:
        counts[0] = f">{column.more_than:,}"
    example = "" if column.example is None else _short(readable(column.example))
    return _short(readable(column.name)), kind, *counts, example


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."
