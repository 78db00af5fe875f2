# SPDX-License-Identifier: BSD-3-Clause
"""Columns of pyarrow as arrays, without pandas."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fasttree.tables.arrow import as_array, filled, to_numpy
from fasttree.tables.training import read_table

pa = pytest.importorskip("pyarrow")

WHOLE = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
TIMES = {
    pa.date32(): date(1969, 12, 30),
    pa.date64(): date(2400, 2, 29),
    pa.timestamp("s"): datetime(1969, 1, 1, 2, 3, 4),
    pa.timestamp("ms"): datetime(2026, 1, 1, 2, 3, 4, 567_000),
    pa.timestamp("us", "Asia/Tokyo"): datetime(2026, 1, 1, 2, 3, 4, 567_890, tzinfo=UTC),
    pa.timestamp("ns"): datetime(1969, 1, 1, 2, 3, 4, 567_891),
    pa.duration("s"): timedelta(days=-400, seconds=3),
    pa.duration("ns"): timedelta(microseconds=-3),
}


def cut(values: pa.Array, places: list[int]) -> pa.ChunkedArray:
    """The same column in chunks that begin anywhere in their memory."""
    ends = sorted({0, len(values), *(place for place in places if place <= len(values))})
    chunks = [values[a:b] for a, b in pairwise(ends)]
    return pa.chunked_array([*chunks, values[:0]], type=values.type)


CUTS = st.lists(st.integers(0, 40), max_size=4)


@given(
    values=st.lists(st.none() | st.integers(0, 127), max_size=40),
    places=CUTS,
    kind=st.sampled_from(WHOLE),
)
def test_whole_numbers(values: list[int | None], places: list[int], kind: str) -> None:
    column = cut(pa.array(values, kind), places)
    series = nw.from_native(column, series_only=True)
    found = filled(series, 99)
    assert found.dtype == kind
    assert found.tolist() == [99 if value is None else value for value in values]
    if None not in values:
        assert to_numpy(series).tolist() == values
    else:
        assert as_array(column) is None
        np.testing.assert_array_equal(to_numpy(series), column.to_numpy())


@given(
    values=st.lists(st.none() | st.sampled_from([0.5, -0.0, float("inf"), 2.0**-14]), max_size=40),
    places=CUTS,
    kind=st.sampled_from(["halffloat", "float", "double"]),
)
def test_fractions(values: list[float | None], places: list[int], kind: str) -> None:
    column = cut(pa.array(values, kind), places)
    found = as_array(column)
    assert found is not None
    assert found.dtype.itemsize == {"halffloat": 2, "float": 4, "double": 8}[kind]
    expected = [np.nan if value is None else value for value in values]
    np.testing.assert_array_equal(found.astype(np.float64), expected)
    assert np.signbit(found).tolist() == [v is not None and bool(np.signbit(v)) for v in values]


@given(values=st.lists(st.none() | st.booleans(), max_size=40), places=CUTS)
def test_bools(values: list[bool | None], places: list[int]) -> None:
    column = cut(pa.array(values, "bool"), places)
    found = as_array(column)
    if None in values:
        assert found is None
    else:
        assert found is not None
        assert found.tolist() == values


@pytest.mark.parametrize("kind", TIMES, ids=str)
@given(holes=st.lists(st.booleans(), max_size=40), places=CUTS)
def test_times(kind: Any, holes: list[bool], places: list[int]) -> None:
    time = TIMES[kind]
    column = cut(pa.array([None if hole else time for hole in holes], kind), places)
    found = as_array(column)
    assert found is not None
    assert found.dtype.kind == ("m" if isinstance(time, timedelta) else "M")
    if isinstance(time, datetime):
        time = time.replace(tzinfo=None)
    assert np.isnat(found).tolist() == holes
    assert {v for v in found.astype(f"{found.dtype.kind}8[us]").tolist() if v is not None} <= {
        datetime(time.year, time.month, time.day) if type(time) is date else time
    }


def test_what_numpy_has_no_type_for() -> None:
    for values in (pa.array(["a"]), pa.array([[1]]), pa.array([b"a"]), pa.nulls(3)):
        assert as_array(pa.chunked_array([values])) is None


def test_other_libraries_are_left_to_themselves() -> None:
    for column in (pl.Series([3, None, 1]), pd.Series([3, None, 1], dtype="Int64")):
        assert filled(nw.from_native(column, series_only=True), -1).tolist() == [3, -1, 1]
    assert to_numpy(nw.from_native(pl.Series([3, 1]), series_only=True)).tolist() == [3, 1]


# -- pandas stays where it is -----------------------------------------------------------------------

PROGRAM = """
import io, sys
import numpy as np
import pyarrow as pa
import pyarrow.csv
import fasttree

rows = "".join(
    f"{i},{'' if i % 7 == 0 else i % 9},{i / 8},{'' if i % 5 == 0 else i / 4},20{10 + i % 30}-03-04,"
    f"{'' if i % 3 == 0 else f'2026-01-01 00:00:{i % 60:02}'},{i % 2 == 0},{['', 'true', 'false'][i % 3]},"
    f"{'xyz'[i % 3]},{'no' if i % 4 else 'yes'}\\n"
    for i in range(400))
names = "whole,holed,fraction,part,day,moment,flag,unsure,word,y"
table = pyarrow.csv.read_csv(io.BytesIO(f"{names}\\n{rows}".encode()))
for name in ("halffloat", "float", "decimal128(20, 3)", "uint8"):
    kind = pa.decimal128(20, 3) if "decimal" in name else name
    table = table.append_column(name, table["holed"].cast("double").cast(kind))
table = table.append_column("zoned", table["moment"].cast(pa.timestamp("us", "Asia/Tokyo")))
table = table.append_column("span", table["holed"].cast(pa.duration("ms")))
table = table.append_column("places", table["holed"].dictionary_encode())
table = table.append_column("words", table["word"].dictionary_encode())
table = table.append_column("nothing", pa.nulls(400))
assert "pandas" not in sys.modules, "not this test's doing"


class Stream:
    def __init__(self, holder):
        self.holder = holder

    def __arrow_c_stream__(self, requested_schema=None):
        return self.holder.__arrow_c_stream__(requested_schema)


class Array:
    def __init__(self, holder):
        self.holder = holder

    def __arrow_c_array__(self, requested_schema=None):
        return self.holder.__arrow_c_array__(requested_schema)


y, X = table["y"], table.drop_columns("y")
weight = table["whole"]
batch = X.combine_chunks().to_batches()[0]
model = fasttree.C45Classifier().fit(X, y, sample_weight=weight)
for form in (X, batch, Stream(X), Array(batch), {name: X[name] for name in X.column_names}):
    again = fasttree.C45Classifier().fit(form, y, sample_weight=weight)
    assert again.tree_.fingerprint() == model.tree_.fingerprint()
    assert again.score(form, y) == model.score(X, y)
for target in ("whole", "flag", "words"):
    fasttree.TreeClassifier(max_depth=2).fit({"word": Stream(X["word"])}, table[target])
fasttree.TreeClassifier().fit(fasttree.Columns(X, y)).predict_proba(X)
fasttree.RuleClassifier().fit(X, y).predict(X)
fasttree.rank_attributes(X, y, sample_weight=weight)
fasttree.metrics.accuracy(y, model.predict(X), sample_weight=weight)
print("pandas" in sys.modules)
"""


POLARS_PROGRAM = """
import sys
from datetime import datetime, timedelta
import polars as pl
import fasttree

place = list(range(400))
X = pl.DataFrame({
    "whole": place,
    "holed": [None if i % 7 == 0 else i % 9 for i in place],
    "part": [None if i % 7 == 0 else i / 8 for i in place],
    "flag": [i % 2 == 0 for i in place],
    "unsure": [None if i % 3 else True for i in place],
    "word": ["xyz"[i % 3] for i in place],
    "moment": [None if i % 4 == 0 else datetime(2026, 1, 1) + timedelta(hours=i) for i in place],
    "span": [timedelta(days=i) for i in place],
    "nothing": [None] * 400,
}).with_columns(
    pl.col("word").cast(pl.Categorical).alias("category"),
    pl.col("word").cast(pl.Enum(["x", "y", "z"])).alias("enum"),
    pl.col("whole").cast(pl.Decimal(10, 2)).alias("decimal"),
    pl.col("moment").dt.date().alias("day"),
    pl.col("moment").dt.replace_time_zone("Asia/Tokyo").alias("zoned"),
)
y = pl.Series(["no" if i % 4 else "yes" for i in place])
fasttree.C45Classifier().fit(X, y, sample_weight=X["whole"]).score(X, y)
print(bool({"pandas", "pyarrow"} & sys.modules.keys()))
"""


@pytest.mark.parametrize("program", [PROGRAM, POLARS_PROGRAM], ids=["pyarrow", "polars"])
def test_no_other_library_is_loaded(program: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60
    )
    assert done.stdout.strip() == "False", done.stderr


def test_columns_of_every_type_are_read_as_before() -> None:
    """What pyarrow's own way to numpy gives, column by column."""
    random = np.random.default_rng(0)
    columns = {kind: pa.array(random.integers(0, 100, 300)).cast(kind) for kind in WHOLE}
    columns |= {kind: pa.array(random.random(300)).cast(kind) for kind in ("float", "double")}
    table = pa.table(columns)
    for column, read in zip(table.columns, read_table(table).columns or (), strict=True):
        np.testing.assert_array_equal(read.values, column.to_numpy())
