# SPDX-License-Identifier: BSD-3-Clause
"""Batches are scored as the whole table is, and what is odd in them is counted."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import threading
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.ipc
import pytest
from batch_tables import LEVELS, NEW_LEVEL, attributes_of, fitted, table_of
from hypothesis import given
from hypothesis import strategies as st

import fasttree
from fasttree.batch import ArgumentError, InputError

MODELS = {
    "branch": lambda: fasttree.TreeClassifier(),
    "category": lambda: fasttree.TreeClassifier(missing="category", unknown="majority"),
    "fractional": lambda: fasttree.C45Classifier(),
    "fractional, majority": lambda: fasttree.C45Classifier(unknown="majority"),
    "surrogate": lambda: fasttree.CARTClassifier(missing="surrogate"),
    "costs": lambda: fasttree.TreeClassifier(
        misclassification_cost={"yes": {"nö": 3}, "nö": {"yes": 1}}, missing="fractional"
    ),
    "averaged": lambda: fasttree.MMLClassifier(),
    "rules": lambda: fasttree.RuleClassifier(),
    "multiway": lambda: fasttree.ID3Classifier(missing="category"),
}


def scored(model: Any, source: Any, **options: Any) -> tuple[Any, Any]:
    batches: list[Any] = []
    report = fasttree.score_batches(model, source, batches.append, **options)
    return pa.Table.from_batches(batches), report


def text_of(column: Any) -> list[Any]:
    return [None if value is None else str(value) for value in column.to_pylist()]


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("batch_rows", [1, 7, 1000])
def test_equal_to_the_whole_table(name: str, batch_rows: int) -> None:
    model = fitted(table_of(600), MODELS[name]())
    table = table_of(250 if batch_rows == 1 else 2000, seed=1, holes=0.2, new_levels=0.1)
    source = table.to_batches(batch_rows)
    options = {"proba": True, "leaf": True, "explain": True, "columns": ["id"]}
    out, report = scored(model, source, n_jobs=2, **options)
    X = attributes_of(table)
    assert out["prediction"].to_pylist() == model.predict(X).tolist()
    shares = np.column_stack([out[f"proba_{label}"] for label in model.classes_])
    assert np.array_equal(shares, model.predict_proba(X))
    ends = model.rules_.match(X) if name == "rules" else model.apply(X)
    assert out["leaf"].to_pylist() == ends.tolist()
    assert out["id"].to_pylist() == table["id"].to_pylist()
    assert report.rows == len(table)
    assert report.predictions == {
        label: int((model.predict(X) == label).sum()) for label in model.classes_
    }
    assert report.ignored_columns == ["class"]


@given(
    seed=st.integers(0, 2**32 - 1),
    cuts=st.lists(st.integers(1, 60), min_size=1, max_size=8),
    n_jobs=st.sampled_from([1, 3]),
)
def test_batches_of_any_size_with_dictionaries_that_change(
    seed: int, cuts: list[int], n_jobs: int
) -> None:
    model = fitted(table_of(300))
    table = table_of(sum(cuts), seed=seed, new_levels=0.3)
    rng = np.random.default_rng(seed)
    batches, at = [], 0
    for size in cuts:
        columns = []
        for column in table.slice(at, size).columns:
            array = column.combine_chunks()
            # A dictionary of its own, in an order of its own, with labels unused.
            if pa.types.is_string(array.type):
                labels = [*dict.fromkeys([*filter(None, array.to_pylist()), "unused", NEW_LEVEL])]
                rng.shuffle(labels)
                codes = [None if v is None else labels.index(v) for v in array.to_pylist()]
                kind = rng.choice([pa.int8(), pa.uint16(), pa.int64()])
                array = pa.DictionaryArray.from_arrays(pa.array(codes, kind), labels)
            columns.append(array)
        batches.append(pa.RecordBatch.from_arrays(columns, table.column_names))
        at += size
    out, report = scored(model, batches, n_jobs=n_jobs)
    assert out["prediction"].to_pylist() == model.predict(attributes_of(table)).tolist()
    assert report.columns["Färbung"].unseen == text_of(table["Färbung"]).count(NEW_LEVEL)


def test_batches_without_rows_or_without_values() -> None:
    model = fitted(table_of(300))
    table = table_of(90, seed=2)
    nothing = pa.table({f.name: pa.nulls(5, f.type) for f in table.schema})
    untyped = pa.table({f.name: pa.nulls(5) for f in table.schema})
    source = [
        table.slice(0, 0),
        table.slice(0, 40),
        nothing,
        table.slice(0, 0),
        untyped,
        table.slice(40),
    ]
    out, report = scored(model, source)
    whole = pa.concat_tables([table.slice(0, 40), nothing, nothing, table.slice(40)])
    assert out["prediction"].to_pylist() == model.predict(attributes_of(whole)).tolist()
    assert report.rows == 100
    assert scored_rows(model, []) == scored_rows(model, [table.slice(0, 0)]) == 0


def scored_rows(model: Any, source: Any) -> int:
    return fasttree.score_batches(model, source, pytest.fail).rows  # type: ignore[arg-type]


def test_every_kind_of_source_and_sink() -> None:
    table = table_of(500)
    model = fitted(table)
    expected = model.predict(attributes_of(table)).tolist()
    sources = {
        "table": table,
        "reader": table.to_reader(100),
        "generator": (batch for batch in table.to_batches(50)),
        "polars": pl.from_arrow(table),
        "several frames": [pl.from_arrow(table.slice(0, 100)), pl.from_arrow(table.slice(100))],
        "one batch": table.combine_chunks().to_batches()[0],
    }
    for name, source in sources.items():
        out, _ = scored(model, source)
        assert out["prediction"].to_pylist() == expected, name
    schema = out.schema
    stream = pa.BufferOutputStream()
    with pa.ipc.new_stream(stream, schema) as writer:
        fasttree.score_batches(model, table, writer)
    written = pa.ipc.open_stream(stream.getvalue()).read_all()
    assert written["prediction"].to_pylist() == expected


@pytest.mark.parametrize(
    ("classes", "kind"),
    [
        ([3, 1, 2], pa.int64()),
        ([True, False], pa.bool_()),
        ([0.0, 2.0], pa.float64()),
        (["a", "b"], pa.string()),
    ],
)
def test_classes_keep_their_type(classes: list[Any], kind: Any) -> None:
    X = {"x": np.arange(30.0)}
    y = np.array(classes)[np.arange(30) % len(classes)]
    model = fasttree.TreeClassifier().fit(X, y)
    out, report = scored(model, pa.table(X), proba=True)
    assert out["prediction"].to_pylist() == y.tolist()
    found = out["prediction"].type
    assert (found.value_type if pa.types.is_dictionary(found) else found) == kind
    assert report.predictions == {str(label): n for label, n in sorted(Counter(y.tolist()).items())}


def test_a_model_without_names_goes_by_position_or_by_its_numbers() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    model = fasttree.TreeClassifier().fit(X, X[:, 2] > X[:, 0])
    expected = model.predict(X).tolist()
    for names in (["a", "b", "c"], ["x0", "x1", "x2"]):
        out, _ = scored(model, pa.table(dict(zip(names, X.T, strict=True))))
        assert out["prediction"].to_pylist() == expected
    backwards = {f"x{j}": X[:, j] for j in (2, 1, 0)}
    out, _ = scored(model, pa.table(backwards | {"other": X[:, 0]}))
    assert out["prediction"].to_pylist() == expected
    with pytest.raises(
        InputError, match="has 2 columns, but the model was trained without column names on 3"
    ):
        scored(model, pa.table({"a": X[:, 0], "b": X[:, 1]}))


def test_columns_of_odd_types_are_read_as_predict_reads_them() -> None:
    rng = np.random.default_rng(1)
    n = 400
    days = np.datetime64("2020-01-01") + rng.integers(0, 1000, n)
    table = pa.table(
        {
            "day": pa.array(days),
            "half": pa.array(rng.normal(size=n).astype(np.float16)),
            "small": pa.array(rng.integers(0, 200, n).astype(np.uint8), mask=rng.random(n) < 0.2),
            "flag": pa.array(rng.random(n) < 0.5, mask=rng.random(n) < 0.2),
            "price": pa.array([f"{v:.2f}" for v in rng.random(n)]).cast(pa.decimal128(9, 2)),
        }
    )
    y = rng.integers(0, 2, n)
    model = fasttree.TreeClassifier().fit(table, y)
    out, report = scored(model, table.to_batches(64), proba=True)
    assert np.array_equal(
        np.column_stack([out["proba_0"], out["proba_1"]]), model.predict_proba(table)
    )
    assert {name: tally.missing for name, tally in report.columns.items()} == {
        name: table[name].null_count for name in table.column_names
    }


def test_levels_that_are_numbers_or_bools() -> None:
    rng = np.random.default_rng(2)
    n = 300
    table = pa.table({"code": rng.integers(1, 5, n), "x": rng.normal(size=n)})
    y = (table["code"].to_numpy() % 2) ^ (table["x"].to_numpy() > 0)
    model = fasttree.TreeClassifier(categorical_features=["code"]).fit(table, y)
    more = pa.table({"code": rng.integers(1, 7, n), "x": rng.normal(size=n)})
    out, report = scored(model, more.to_batches(50))
    assert out["prediction"].to_pylist() == model.predict(more).tolist()
    assert report.columns["code"].unseen == int((more["code"].to_numpy() > 4).sum())
    assert sorted(report.columns["code"].unseen_examples) == ["5", "6"]


@given(seed=st.integers(0, 2**32 - 1), batch_rows=st.integers(5, 200))
def test_the_report_counts_what_a_loop_over_rows_counts(seed: int, batch_rows: int) -> None:
    training, table = table_of(200, seed=3), table_of(200, seed=seed, new_levels=0.2)
    _, report = scored(fitted(training), table.to_batches(batch_rows))
    for name in ("size", "count, whole"):
        known = [v for v in training[name].to_pylist() if v is not None]
        values = table[name].to_pylist()
        tally = report.columns[name]
        assert tally.missing == sum(v is None for v in values)
        assert tally.below == sum(v is not None and v < min(known) for v in values)
        assert tally.above == sum(v is not None and v > max(known) for v in values)
        assert tally.unseen == tally.unreadable == 0
    for name in ("Färbung", "site"):
        values = table[name].to_pylist()
        tally = report.columns[name]
        assert tally.missing == values.count(None)
        new = [v for v in values if v is not None and v not in (*LEVELS, "north", "south")]
        assert tally.unseen == len(new)
        assert tally.unseen_examples == sorted(set(new))


def test_at_most_ten_examples() -> None:
    model = fitted(table_of(100))
    table = table_of(100).set_column(2, "Färbung", pa.array([f"new {i:03}" for i in range(100)]))
    _, report = scored(model, table.to_batches(9))
    assert report.columns["Färbung"].unseen == 100
    assert report.columns["Färbung"].unseen_examples == [f"new {i:03}" for i in range(9)] + [
        "new 009"
    ]


# -- explanations --------------------------------------------------------------------------------------------------


def test_a_rule_is_the_way_to_the_leaf() -> None:
    table = pa.table({"x": [1.0, 2.0, 3.0, 4.0], "c": ["a", "a", "b", "b"]})
    model = fasttree.TreeClassifier().fit(table, ["no", "yes", "no", "no"])
    out, _ = scored(model, table, explain=True)
    rules = {str(rule).rpartition(" (")[0] for rule in model.rules()}
    assert set(out["rule"].to_pylist()) == rules
    for rule, label in zip(out["rule"].to_pylist(), out["prediction"].to_pylist(), strict=True):
        assert rule.endswith(f" THEN {label}")


@pytest.mark.parametrize("name", ["branch", "category", "rules"])
def test_each_row_meets_its_rule(name: str) -> None:
    model = fitted(table_of(400), MODELS[name]())
    table = table_of(200, seed=5, holes=0.2)
    out, _ = scored(model, table.to_batches(30), explain=True)
    rules = model.rules_ if name == "rules" else model.rules()
    by_text = {str(rule).rpartition(" (")[0]: rule for rule in rules}
    rows = attributes_of(table).to_pylist()
    for row, text in zip(rows, out["rule"].to_pylist(), strict=True):
        if text.startswith("OTHERWISE"):
            assert not any(rule.holds(row) for rule in rules)
        else:
            assert by_text[text].holds(row)


def test_a_row_that_stops_on_its_way_is_explained_so_far() -> None:
    table = pa.table({"c": ["a", "a", "b", "b"], "x": [1.0, 2.0, 1.0, 2.0]})
    model = fasttree.TreeClassifier(unknown="majority").fit(table, ["p", "p", "q", "p"])
    out, _ = scored(model, pa.table({"c": ["new"], "x": [1.0]}), explain=True, leaf=True)
    assert out["leaf"].to_pylist() == [0]
    assert out["rule"].to_pylist() == ["IF c is unseen THEN p"]


def test_texts_are_not_kept_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fasttree.batch.models.CACHED_TEXTS", 3)
    rng = np.random.default_rng(0)
    table = pa.table({"x": rng.normal(size=500)})
    model = fasttree.TreeClassifier().fit(table, rng.integers(0, 2, 500))
    out, _ = scored(model, table.to_batches(20), explain=True)
    by_leaf = dict(zip(model.apply(table).tolist(), out["rule"].to_pylist(), strict=True))
    assert out["rule"].to_pylist() == [by_leaf[leaf] for leaf in model.apply(table).tolist()]


# -- what is refused -----------------------------------------------------------------------------------------------


def test_a_missing_column() -> None:
    table = table_of(100)
    model = fitted(table)
    with pytest.raises(
        InputError,
        match=r"the source has no column 'size', which the model needs: did you mean 'Size'",
    ):
        scored(model, table.rename_columns(["Size", *table.column_names[1:]]))
    with pytest.raises(
        InputError,
        match=r"no column 'site' \(and 1 other\), which the model needs|no column 'size'",
    ):
        scored(model, table.drop_columns(["size", "site"]))
    with pytest.raises(InputError, match="no column 'other', which was requested"):
        scored(model, table, columns=["other"])


def test_an_extra_column_is_ignored_or_refused() -> None:
    table = table_of(100)
    model = fitted(table)
    _, report = scored(model, table)
    assert report.ignored_columns == ["id", "class"]
    with pytest.raises(InputError, match="has the column 'id', which the model does not use"):
        scored(model, table, mode="strict")
    out, _ = scored(model, table, mode="strict", columns=["id", "class"])
    assert out.column_names == ["id", "class", "prediction"]


def test_a_column_of_another_type() -> None:
    table = table_of(100)
    model = fitted(table)
    wrong = table.set_column(0, "size", pa.array(["1.5"] * 99 + ["large"]))
    with pytest.raises(
        InputError, match=r"row 0: column 'size' contains text, '1.5': the model expects numbers"
    ):
        scored(model, wrong)
    out, report = scored(model, wrong, mode="lenient")
    read = table.set_column(0, "size", pa.array([1.5] * 99 + [None]))
    assert out["prediction"].to_pylist() == model.predict(attributes_of(read)).tolist()
    assert report.columns["size"].unreadable == 1
    assert report.columns["size"].unreadable_examples == ["large"]
    for mode in ("normal", "lenient"):
        with pytest.raises(
            InputError,
            match=r"column 'site' contains 7 \(number instead of text\): the model expects",
        ):
            scored(model, table.set_column(3, "site", pa.array([7] * 100)), mode=mode)
    with pytest.raises(InputError, match=r"column 'size'.*unpack it"):
        scored(model, table.set_column(0, "size", pa.array([[1.0]] * 100)))


def test_a_wrong_type_is_found_after_rows_without_values() -> None:
    model = fitted(table_of(100))
    labels = pa.array([3, 4])
    empty = pa.DictionaryArray.from_arrays(pa.array([None, None], pa.int8()), labels)
    full = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), labels)
    table = table_of(2)
    batches = [table.set_column(3, "site", column).to_batches()[0] for column in (empty, full)]
    with pytest.raises(InputError, match=r"row 2: column 'site' contains 3"):
        scored(model, batches)


def test_levels_that_were_not_seen() -> None:
    training, table = table_of(100), table_of(50, holes=0)
    places = [NEW_LEVEL if row == 33 else "red" for row in range(50)]
    table = table.set_column(2, "Färbung", pa.array(places))
    message = f"row 33: column 'Färbung' contains '{NEW_LEVEL}', which was not seen in training"
    with pytest.raises(InputError, match=message):
        scored(fitted(training), attributes_of(table).to_batches(10), mode="strict")
    with pytest.raises(InputError, match=message):
        scored(fitted(training, fasttree.TreeClassifier(unknown="error")), table.to_batches(10))


@pytest.mark.parametrize("column", [0, 1, 2])
def test_a_model_that_refuses_missing_values(column: int) -> None:
    model = fitted(table_of(100, holes=0), fasttree.TreeClassifier(missing="error"))
    table = table_of(50, holes=0)
    holed = table[column].to_pylist()
    holed[41] = None
    name = table.column_names[column]
    table = table.set_column(column, name, pa.array(holed, table[column].type))
    with pytest.raises(InputError, match=f"row 41: column '{name}' has a missing value"):
        scored(model, table.to_batches(10))


def test_batches_must_be_alike() -> None:
    table = table_of(20)
    with pytest.raises(InputError, match="batch 1 of the source has the columns"):
        scored(fitted(table_of(100)), [*table.to_batches(), *attributes_of(table).to_batches()])


def test_what_makes_no_sense() -> None:
    table = table_of(100)
    model = fitted(table)
    with pytest.raises(InputError, match="two columns are named 'size'"):
        scored(model, [table.append_column("size", table["size"]).to_batches()[0]])
    named = table.append_column("prediction", table["id"])
    with pytest.raises(InputError, match="the output would have 2 columns named 'prediction'"):
        scored(model, named, columns=["prediction"])
    with pytest.raises(
        ArgumentError, match="mode must be one of 'normal', 'strict', 'lenient', got 'harsh'"
    ):
        scored(model, table, mode="harsh")
    with pytest.raises(ArgumentError, match=r"to keep one column, write \['id'\]"):
        scored(model, table, columns="id")
    with pytest.raises(ValueError, match="n_jobs must be None or an integer other than 0"):
        scored(model, table, n_jobs=0)
    with pytest.raises(TypeError, match="model is a dict"):
        scored({}, table)
    with pytest.raises(ValueError, match="not fitted"):
        scored(fasttree.TreeClassifier(), table)
    with pytest.raises(
        TypeError,
        match="source must be Arrow record batches or a reader of them, got an object of type str",
    ):
        scored(model, "table.parquet")
    with pytest.raises(
        TypeError, match="source must yield Arrow record batches, got an object of type int"
    ):
        scored(model, [1])
    with pytest.raises(
        TypeError,
        match="sink must be a function or a writer with write_batch, got an object of type list",
    ):
        fasttree.score_batches(model, table, [])


# -- threads -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_jobs", [1, 4])
def test_never_more_than_a_few_batches_are_under_way(n_jobs: int) -> None:
    table = table_of(200)
    model = fitted(table)
    under_way, most, lock = 0, 0, threading.Lock()

    def source() -> Iterator[Any]:
        nonlocal under_way, most
        for batch in table.to_batches(1):
            with lock:
                under_way += 1
                most = max(most, under_way)
            yield batch

    def sink(batch: Any) -> None:
        nonlocal under_way
        with lock:
            under_way -= 1

    fasttree.score_batches(model, source(), sink, n_jobs=n_jobs)
    assert under_way == 0
    assert most <= n_jobs + 5


@pytest.mark.parametrize("where", ["source", "sink"])
@pytest.mark.parametrize("error", [ValueError("mine"), KeyboardInterrupt()])
def test_an_error_of_the_caller_passes_through_and_no_thread_stays(
    where: str, error: BaseException
) -> None:
    table = table_of(400)
    model = fitted(table)
    before = threading.active_count()

    def source() -> Iterator[Any]:
        for number, batch in enumerate(table.to_batches(5)):
            if where == "source" and number == 20:
                raise error
            yield batch

    calls = 0

    def sink(batch: Any) -> None:
        nonlocal calls
        calls += 1
        if where == "sink" and calls == 20:
            raise error

    with pytest.raises(type(error)) as caught:
        fasttree.score_batches(model, source(), sink, n_jobs=3)
    assert caught.value is error
    assert threading.active_count() == before


def test_the_report_prints() -> None:
    training, table = table_of(200), table_of(100, seed=9, new_levels=0.5)
    _, report = scored(fitted(training), table)
    text = str(report)
    assert text.startswith("100 rows in ")
    assert "column 'Färbung'" in text
    assert f"unseen ({NEW_LEVEL})" in text
    assert "missing values in 4 columns, most in " in text


def test_without_pyarrow_the_rest_of_fasttree_works() -> None:
    code = """
        import sys
        sys.modules["pyarrow"] = None
        from fasttree import *
        import fasttree
        assert "score_batches" in dir(fasttree)
        try:
            fasttree.score_batches
        except ImportError as error:
            print(error)
    """
    found = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], check=True, capture_output=True, text=True
    )
    assert "pip install 'fasttree[cli]'" in found.stdout
    light = "import sys, fasttree; assert 'pyarrow' not in sys.modules"
    subprocess.run([sys.executable, "-c", light], check=True)


@pytest.mark.parametrize(
    ("kind", "place"),
    [
        (pa.int8(), -1),
        (pa.int32(), -5),
        (pa.int64(), -(2**40)),
        (pa.int16(), 2),
        (pa.uint64(), 2**63),
    ],
)
@pytest.mark.parametrize("labels", [["low", "high"], ["1.5", "2.5"], [1.5, 2.5]])
def test_places_outside_of_a_dictionary_are_refused(kind: Any, place: int, labels: Any) -> None:
    values = pa.array(labels).take(pa.array([0, 1] * 20))
    model = fasttree.TreeClassifier().fit({"c": values}, [0, 1] * 20)
    index = pa.array([0, None, 1, place, 0], kind)
    column = pa.DictionaryArray.from_arrays(index, pa.array(labels), safe=False)
    words = rf"column 'c' refers to entry {place} of a dictionary of 2.*write it again"
    with pytest.raises(InputError, match=words):
        scored(model, [pa.record_batch({"c": column})])
