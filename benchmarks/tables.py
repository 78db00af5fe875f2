# SPDX-License-Identifier: BSD-3-Clause
"""Tables with words, holes and many levels, in the forms in which people hold them.

The real ones are read from $FASTTREE_SHARED, else from `shared` beside the repository.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks import data
from benchmarks.data import HELD_OUT_SHARE, Dataset

LIBRARIES = ("pandas", "polars", "pyarrow")
TARGETS = {"adult": "income", "natality_dev": "cesarean"}


@dataclass(frozen=True)
class TextTable:
    """An Arrow table in which every category is plain text, and one of the columns is the class."""

    name: str
    table: Any
    target: str

    @property
    def n_rows(self) -> int:
        return int(self.table.num_rows)

    @property
    def description(self) -> str:
        features = self.table.drop_columns(self.target).columns
        n_text = sum(str(column.type) == "string" for column in features)
        with_holes = sum(column.null_count > 0 for column in features)
        return (
            f"{self.n_rows:,} x {len(features)} mixed, {n_text} columns of text, "
            f"{with_holes} with holes"
        )

    def repeated(self, n_rows: int) -> TextTable:
        """The same rows over and over."""
        rows = np.arange(n_rows) % self.n_rows
        return TextTable(self.name, self.table.take(rows).combine_chunks(), self.target)

    def split(self) -> tuple[TextTable, TextTable]:
        """A fixed random 80 % of the rows, and the other 20 %."""
        order = np.random.default_rng(0).permutation(self.n_rows)
        cut = round(len(order) * (1 - HELD_OUT_SHARE))
        train, test = (
            self.table.take(rows).combine_chunks() for rows in (order[:cut], order[cut:])
        )
        return TextTable(self.name, train, self.target), TextTable(self.name, test, self.target)

    def as_form(self, form: str) -> tuple[Any, Any]:
        """(X, y) as a user of a library holds them: a key of FORMS."""
        return FORMS[form](self.table.drop_columns(self.target), self.table.column(self.target))


def _pandas(X: Any, y: Any) -> tuple[Any, Any]:
    return X.to_pandas(), y.to_pandas()


def _pandas_objects(X: Any, y: Any) -> tuple[Any, Any]:
    """Text as Python's strings, what pandas made of it before release 3: a hole is NaN, and, as its readers of CSV and
    Parquet have it, equal words of a column are one object."""
    import pandas

    frame, target = _pandas(X, y)
    for name, column in zip(X.column_names, X.columns, strict=True):
        if str(column.type) == "string":
            one: dict[str | None, Any] = {None: np.nan}
            words = [one.setdefault(word, word) for word in column.to_pylist()]
            frame[name] = pandas.Series(words, dtype=object)
    return frame, target.astype(object)


def _polars(X: Any, y: Any) -> tuple[Any, Any]:
    import polars

    return polars.from_arrow(X), polars.from_arrow(y)


FORMS = {
    "pandas": _pandas,
    "pandas objects": _pandas_objects,
    "polars": _polars,
    "Arrow": lambda X, y: (X, y),
}


def text_table(name: str) -> TextTable | None:
    """A real table; None: no such file, or a library is missing."""
    file = data.shared_file(name)
    if not file.exists() or not all(map(find_spec, LIBRARIES)):
        return None
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pq.read_table(file)
    plain = [
        pa.field(field.name, pa.string() if pa.types.is_dictionary(field.type) else field.type)
        for field in table.schema
    ]
    return TextTable(name, table.cast(pa.schema(plain)).combine_chunks(), TARGETS[name])


def words(n_rows: int, n_levels: int) -> np.ndarray:
    """So many words, drawn at random with equal chances."""
    levels = np.array([f"level {number:06}" for number in range(n_levels)])
    return levels[np.random.default_rng(0).integers(n_levels, size=n_rows)]


def many_levels(n_rows: int, n_columns: int) -> Dataset:
    """An Arrow table: one column of text with a level for every ten rows, the rest numbers."""
    import pyarrow as pa

    draw = np.random.default_rng(1)
    text = words(n_rows, max(2, n_rows // 10))
    numbers = {f"x{place}": draw.normal(size=n_rows) for place in range(1, n_columns)}
    chance = draw.random(max(2, n_rows // 10))  # of the second class, by level
    codes = np.unique(text, return_inverse=True)[1]
    y = (draw.random(n_rows) < 0.7 * chance[codes] + 0.3 * (numbers["x1"] > 0)).astype(np.int64)
    table = pa.table({"level": pa.array(text.tolist()), **numbers})
    return Dataset("many levels", table, y)


def holed(n_rows: int, n_columns: int, share: float = 0.3) -> Dataset:
    """make_classification with so large a share of its values missing, at random."""
    dataset = data.classification(n_rows, n_columns)
    X = dataset.X.copy()
    X[np.random.default_rng(0).random(X.shape) < share] = np.nan
    return Dataset("holed", X, dataset.y)
