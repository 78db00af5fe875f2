# SPDX-License-Identifier: BSD-3-Clause
"""Whole numbers beyond 2^53, which float64 cannot tell from their neighbours, and numbers beyond float64."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import fasttree
from fasttree import TreeClassifier, _core
from fasttree.tables.fitted import read_table_for_schema
from fasttree.tables.schema import AttributeSchema, Schema
from fasttree.tables.training import Table, read_table

pytestmark = pytest.mark.numeric

LOW, HIGH = 2**60, 2**60 + 1  # one and the same float64
HUGE = 10**30
DECIMALS = [Decimal(LOW), None, Decimal(HIGH)]
NUMBER = Schema((AttributeSchema("a"),), np.array([0, 1]), named=True)

# LOW, a hole, HIGH
HOLED: dict[str, Any] = {
    "list": [LOW, None, HIGH],
    "list with NaN": [LOW, np.nan, HIGH],
    "objects": np.array([LOW, None, HIGH], dtype=object),
    "masked": np.ma.masked_array([LOW, 1, HIGH], mask=[False, True, False]),
    "decimals": DECIMALS,
    "signaling NaN": [Decimal(LOW), Decimal("sNaN"), Decimal(HIGH)],
    "fractions": [Fraction(LOW), None, Fraction(HIGH)],
    "polars": pl.Series([LOW, None, HIGH]),
    "polars UInt64": pl.Series([LOW, None, HIGH], dtype=pl.UInt64),
    "polars Int128": pl.Series([LOW, None, HIGH], dtype=pl.Int128),
    "polars Decimal": pl.Series(DECIMALS, dtype=pl.Decimal(30, 0)),
    "Arrow": pa.array([LOW, None, HIGH]),
    "Arrow chunks": pa.chunked_array([[LOW], [None, HIGH]]),
    "Arrow decimal128": pa.array(DECIMALS, pa.decimal128(30, 0)),
    "Arrow decimal256": pa.array(DECIMALS, pa.decimal256(60, 2)),
    "pandas Int64": pd.Series([LOW, None, HIGH], dtype="Int64"),
    "pandas UInt64": pd.Series([LOW, None, HIGH], dtype="UInt64"),
    "pandas over Arrow": pd.Series([LOW, None, HIGH], dtype=pd.ArrowDtype(pa.int64())),
    "pandas decimals": pd.Series(DECIMALS, dtype=pd.ArrowDtype(pa.decimal128(30, 0))),
}
# LOW, HIGH
WHOLE: dict[str, Any] = {
    "numpy": np.array([LOW, HIGH]),
    "decimals": [Decimal(LOW), Decimal(HIGH)],
    "polars Int128": pl.Series([LOW, HIGH], dtype=pl.Int128),
    "polars Decimal": pl.Series([Decimal(LOW), Decimal(HIGH)], dtype=pl.Decimal(30, 0)),
    "Arrow decimal": pa.array([Decimal(LOW), Decimal(HIGH)], pa.decimal128(38, 0)),
    "polars UInt64": pl.Series([LOW, HIGH], dtype=pl.UInt64),
}


def codes(table: Table) -> list[int]:
    column = (table.columns or ())[0]
    assert column.codes is not None
    return column.codes.tolist()


@pytest.mark.parametrize("column", HOLED.values(), ids=HOLED)
def test_identifiers_with_a_hole_are_categories(column: Any) -> None:
    table = read_table({"a": column}, ["a"])
    assert codes(table) == [1, 0, 2]
    assert (table.columns or ())[0].categories == (LOW, HIGH)
    assert {type(level) for level in (table.columns or ())[0].categories or ()} == {int}
    schema = Schema((AttributeSchema("a", (HIGH, LOW)),), np.array([0, 1]), named=True)
    assert codes(read_table_for_schema({"a": column}, schema)) == [2, 0, 1]
    assert codes(read_table({"a": column}, {"a": [HIGH, 7, LOW]})) == [3, 0, 1]


@pytest.mark.parametrize("column", WHOLE.values(), ids=WHOLE)
def test_identifiers_without_a_hole_are_categories(column: Any) -> None:
    table = read_table({"a": column}, ["a"])
    assert codes(table) == [1, 2]
    assert (table.columns or ())[0].categories == (LOW, HIGH)


@pytest.mark.parametrize("column", [*HOLED.values(), *WHOLE.values()], ids=[*HOLED, *WHOLE])
def test_a_threshold_cannot_tell_them_apart(column: Any) -> None:
    for categorical_features in ("from_dtype", None, []):
        with pytest.raises(
            ValueError,
            match=r"^column 'a' contains the integer 115\d+: beyond 2\*\*53, .* categorical",
        ):
            read_table({"a": column}, categorical_features)


@pytest.mark.parametrize("column", [*HOLED.values(), *WHOLE.values()], ids=[*HOLED, *WHOLE])
def test_a_fitted_threshold_takes_the_nearest_float(column: Any) -> None:
    found = read_table_for_schema({"a": column}, NUMBER).values()[0].astype(np.float64)
    assert found[0] == found[-1] == 2.0**60
    assert np.isnan(found[1:-1]).all()


def test_identifiers_of_any_length() -> None:
    ids = [HUGE, HUGE + 1, HUGE, HUGE + 1]
    model = TreeClassifier(categorical_features=["id"]).fit({"id": ids}, [0, 1, 0, 1])
    asked = [HUGE + 1, None, Decimal(HUGE + 1), HUGE + 2]
    assert model.predict({"id": asked}).tolist()[0::2] == [1, 1]
    assert model.tree_.schema.attributes[0].categories == (HUGE, HUGE + 1)


def test_identifiers_in_a_model_file(tmp_path: Path) -> None:
    ids = {"id": [HUGE, HUGE + 1, None, LOW, HIGH]}
    y = [0, 1, 0, 0, 1]
    model = TreeClassifier(categorical_features=["id"]).fit(ids, y)
    model.save(tmp_path / "ids.model")
    assert fasttree.load(tmp_path / "ids.model").predict(ids).tolist() == y


def test_identifiers_in_a_masked_matrix() -> None:
    X = np.ma.masked_array([[LOW, 1], [HIGH, 2], [LOW, 3]], [[0, 0], [0, 1], [1, 0]])
    table = read_table(X, [0])
    assert codes(table) == [1, 2, 0]
    assert (table.columns or ())[1].values is not None
    with pytest.raises(ValueError, match=r"column 'x0' contains the integer 1152"):
        read_table(X)
    model = TreeClassifier().fit(np.array([[1.0, 5.0], [2.0, 5.0]]), [0, 1])
    assert model.predict(X).tolist()[:2] == [1, 1]


def test_small_numbers_beside_large_ones_and_fractions() -> None:
    mixed = [LOW, 1, np.int64(2), Decimal("0.5"), 2.5, None, True + 6, Fraction(3, 4)]
    column = (read_table({"a": mixed}, ["a"]).columns or ())[0]
    assert column.categories == (0.5, 0.75, 1, 2, 2.5, 7, LOW)
    assert {type(level) for level in column.categories} == {int, float}


def test_what_lies_under_a_hole_is_not_looked_at() -> None:
    under = pa.Array.from_buffers(
        pa.int64(), 2, [pa.py_buffer(b"\x01"), pa.py_buffer(np.array([5, LOW + 1]).tobytes())]
    )
    assert read_table({"a": under}).values()[0].tolist()[0] == 5
    masked = np.ma.masked_array([5, LOW + 1], mask=[False, True])
    assert read_table({"a": masked}).values()[0].tolist()[0] == 5


def test_without_the_arrow_interface(monkeypatch: pytest.MonkeyPatch) -> None:
    """pandas without pyarrow."""

    def absent(*_: Any, **__: Any) -> None:
        raise ImportError

    monkeypatch.setattr(_core, "numbers_with_holes", absent)
    assert codes(read_table({"a": HOLED["pandas Int64"]}, ["a"])) == [1, 0, 2]
    for dtype in ("Int64", "UInt8"):
        small = pd.Series([1, None], dtype=dtype)
        assert read_table({"a": small}).values()[0].tolist()[0] == 1.0


def test_decimals_are_the_nearest_float() -> None:
    fine = [Decimal("0.1"), Decimal("9007199254740993.5"), Decimal(2**53), Decimal("-Infinity")]
    expected = [0.1, 9007199254740994.0, 2.0**53, -np.inf]
    assert read_table({"a": fine}).values()[0].tolist() == expected
    polars = pl.Series(fine[:3], dtype=pl.Decimal(30, 1))
    assert read_table({"a": polars}).values()[0].tolist() == expected[:3]
    with pytest.raises(ValueError, match="integer -9007199254740993: beyond"):
        read_table([[Decimal(-(2**53) - 1)], [Decimal("0.5")]])


BEYOND = {
    "int": [10**400, 1],
    "int with a hole": [None, -(10**400)],
    "more digits than Python prints": [10**5000, 1],
    "decimal": [Decimal("1e400"), 1],
    "decimal that is no whole number one could write": [Decimal("-1e999999999"), None],
    "fraction": [Fraction(10**400, 3), 0.5],
}


@pytest.mark.parametrize("column", BEYOND.values(), ids=BEYOND)
@pytest.mark.parametrize("categorical_features", ["from_dtype", ["a"]])
def test_numbers_beyond_float64(column: Any, categorical_features: Any) -> None:
    with pytest.raises(
        ValueError, match=r"^column 'a' contains .*outside the range of float64.*text"
    ):
        read_table({"a": column}, categorical_features)
    with pytest.raises(ValueError, match=r"column 'a' contains .*outside the range of float64"):
        read_table_for_schema({"a": column}, NUMBER)


@pytest.mark.skipif(
    np.finfo(np.longdouble).max == np.finfo(np.float64).max, reason="long doubles are doubles here"
)
def test_long_doubles_beyond_float64() -> None:
    big = np.array([1, "1e4000", 2], dtype=np.longdouble)
    masked = np.ma.masked_array(big, mask=[True, False, False])
    for column in (big, masked, list(big), [None, big[1]]):
        with pytest.raises(ValueError, match=r"^column 'a' contains .*1e\+4000.*range of float64"):
            read_table({"a": column})
    with pytest.raises(ValueError, match=r"column 'x1' contains .*1e\+4000"):
        read_table(np.stack([np.ones(3, np.longdouble), big], axis=1))
    hidden = np.ma.masked_array(big, mask=[False, True, False])
    assert read_table({"a": hidden}).values()[0].tolist()[::2] == [1.0, 2.0]
    infinite = np.array([np.inf, -np.inf, 1], dtype=np.longdouble)
    assert read_table({"a": infinite}).values()[0].tolist() == [np.inf, -np.inf, 1.0]
    with pytest.raises(ValueError, match="sample_weight contains inf in row 1"):
        TreeClassifier().fit({"a": [1, 2, 3]}, [0, 1, 0], sample_weight=big)


def test_batches() -> None:
    """Batches are scored as tables are."""
    ids = {"id": [LOW, HIGH, LOW, HIGH], "x": [1.0, 1.0, 2.0, 2.0]}
    model = TreeClassifier(categorical_features=["id"]).fit(ids, [0, 1, 1, 0])
    asked = pa.table({"id": [HIGH, LOW, None, LOW], "x": pa.array([LOW, None, 1, HIGH])})
    batches: list[Any] = []
    fasttree.score_batches(model, asked, batches.append)
    found = pa.Table.from_batches(batches).column("prediction").to_pylist()
    assert found == model.predict(asked).tolist()
    assert found[3] == 1
