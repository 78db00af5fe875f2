# SPDX-License-Identifier: BSD-3-Clause
"""Dates, times and durations: printed so that people can read them, and never taken for something else."""

from __future__ import annotations

import datetime
import json
import pickle
import re
import types
from collections.abc import Callable
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reading import without_marks

import fasttree
from fasttree import RuleClassifier, TreeClassifier
from fasttree.base.errors import ModelFileError
from fasttree.base.times import DATETIME, DURATION, INSTANT, read_time, time_text
from fasttree.studies import cesarean
from fasttree.studies.report import report
from fasttree.tables.training import read_table

DAY = 86_400_000_000
EXACT = st.integers(-(2**53), 2**53)  # what a float64 tells apart
COUNTS = st.one_of(
    EXACT,
    st.integers(-(10**6), 10**6),
    st.integers(-10_000, 10_000).map(lambda n: n * DAY),
    st.integers(-(10**6), 10**6).map(lambda n: n * 1_000_000),
)


def moments(counts: Any) -> np.ndarray:
    return np.array(counts, dtype="datetime64[us]")


# -- the text of a time --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        ("2024-03-01", DATETIME, "2024-03-01"),
        ("2024-03-01T12:30", DATETIME, "2024-03-01 12:30:00"),
        ("2024-03-01T12:30:00.5", DATETIME, "2024-03-01 12:30:00.5"),
        ("1969-12-31T23:59:59.999999", DATETIME, "1969-12-31 23:59:59.999999"),
        ("0001-01-01", DATETIME, "0001-01-01"),
        ("2024-03-01", INSTANT, "2024-03-01 00:00:00Z"),
        ("2024-03-01T12:30", INSTANT, "2024-03-01 12:30:00Z"),
    ],
)
def test_a_point_in_time_is_as_short_as_can_be(value: str, kind: str, text: str) -> None:
    count = float(moments(value).astype(np.int64))
    assert time_text(count, kind) == text
    assert time_text(count + 0.5, kind) == text  # nothing lies between


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "00:00:00"),
        (2 * 3600, "02:00:00"),
        (86400, "1 day"),
        (3 * 86400 + 7200, "3 days 02:00:00"),
        (-7200, "-02:00:00"),
        (-3 * 86400 - 7200.25, "-3 days -02:00:00.25"),
    ],
)
def test_a_duration_in_days_and_by_the_clock(seconds: float, text: str) -> None:
    assert time_text(seconds * 1e6, DURATION) == text
    assert pd.Timedelta(seconds=abs(seconds)) == pd.Timedelta(text.replace("-", ""))


@given(COUNTS)
def test_what_is_printed_is_read_back(count: int) -> None:
    for kind in (DATETIME, INSTANT, DURATION):
        text = time_text(count, kind)
        assert read_time(text, kind) == count
        for other in {DATETIME, INSTANT, DURATION} - {kind}:
            assert read_time(text, other) is None
    assert moments(time_text(count, DATETIME)) == moments(count)  # as numpy reads it
    assert pd.Timestamp(time_text(count, INSTANT)).tz_localize(None).to_numpy() == moments(count)


@given(st.integers(-(10**15), 10**15))
def test_durations_as_pandas_and_polars_write_them(count: int) -> None:
    assert read_time(str(pd.Timedelta(microseconds=count)), DURATION) == count
    written = pl.Series([datetime.timedelta(microseconds=count)]).dt.to_string("iso")[0]
    assert read_time(written, DURATION) == count


def test_times_beyond_all_calendars_have_a_text() -> None:
    assert time_text(1e30, INSTANT).endswith("microseconds since 1970-01-01 UTC")
    assert time_text(float("inf"), DATETIME) == "inf"
    assert time_text(4e17, DATETIME).startswith("14645-")


@pytest.mark.parametrize("kind", [DATETIME, INSTANT, DURATION])
@pytest.mark.parametrize(
    "text",
    ["", " ", "x", "17", "2023-02-29", "2024-01-01T25:00", "2024-01-01T00:00:00.0000001", "P", "PT",
     "1 day 2", "9" * 5000 + " days", "0000-01-01", "9999-12-31T23:59:59-23:00", "12:60"],
)  # fmt: skip
def test_what_is_no_time(text: str, kind: str) -> None:
    assert read_time(text, kind) is None


# -- printed thresholds --------------------------------------------------------------------------------------------

LINE = re.compile(r"((?:\|   )*)x (<=|>) (.*?)(?:: (\w+) \(.*\))?")


def by_printed_text(text: str, value: int, read: Callable[[str], float]) -> str:
    """Where a person comes who reads the tree line by line."""
    depth = 0
    for line in text.split("\n"):
        found = LINE.fullmatch(line)
        assert found is not None, line
        indent, sign, threshold, label = found.groups()
        if len(indent) // 4 != depth:
            continue
        if (value <= read(threshold)) == (sign == "<="):
            if label is not None:
                return label
            depth += 1
    raise AssertionError(text)


@pytest.mark.parametrize(("kind", "dtype"), [("datetime", "M8[us]"), ("duration", "m8[us]")])
@given(
    counts=st.lists(COUNTS, min_size=1, max_size=12).flatmap(
        lambda some: st.tuples(st.just(some), st.sampled_from([0, 1, 2, DAY]))
    ),
    seed=st.integers(0, 99),
    threshold=st.sampled_from(["midpoint", "value"]),
)
def test_printed_thresholds_route_as_the_tree_does(
    kind: str, dtype: str, counts: tuple[list[int], int], seed: int, threshold: str
) -> None:
    some, beside = counts
    values = np.array([*some, *(min(count + beside, 2**53) for count in some)])
    y = np.array(["a", "b", "c"])[np.random.default_rng(seed).integers(0, 3, len(values))]
    model = TreeClassifier(threshold=threshold).fit({"x": values.astype(dtype)}, y)
    text = without_marks(model.to_text())
    predicted = model.predict({"x": values.astype(dtype)}).tolist()
    if model.get_n_leaves() == 1:
        return

    def read(threshold: str) -> float:
        found = read_time(threshold, kind)
        assert found is not None, threshold
        return found

    assert [by_printed_text(text, value, read) for value in values.tolist()] == predicted
    rules = model.rules()
    for rule in rules:
        for condition in rule.conditions:
            said = str(condition).removesuffix(" (or missing)")
            for printed in re.findall(r"(?:<=|>) (.+)$|^(.+) < ", said):
                read("".join(printed))
    assert rules.predict({"x": values.astype(dtype)}).tolist() == predicted


def cohort(n_rows: int = 200, seed: int = 0) -> pa.Table:
    rng = np.random.default_rng(seed)
    start = np.datetime64("2024-01-01", "us")
    seen = start + rng.integers(0, 10**13, n_rows).astype("m8[us]")
    return pa.table(
        {
            "born": pa.array((start - rng.integers(0, 30_000, n_rows) * DAY).astype("M8[D]")),
            "seen": pa.array(seen, mask=rng.random(n_rows) < 0.2),
            "sent": pa.array(seen[::-1], pa.timestamp("us", "UTC")),
            "stay": pa.array(rng.integers(-(10**12), 10**12, n_rows).astype("m8[us]")),
            "size": pa.array(rng.normal(size=n_rows)),
        }
    )


COHORT = cohort()
OUTCOME = np.random.default_rng(1).integers(0, 3, COHORT.num_rows)
MICROSECONDS = re.compile(r"(?<![.\d])\d{12,}")


@pytest.fixture(scope="module")
def model() -> Any:
    return TreeClassifier(missing="surrogate", min_samples_leaf=5).fit(COHORT, OUTCOME)


def test_nothing_for_people_speaks_in_microseconds(model: Any, tmp_path: Any) -> None:
    pytest.importorskip("typer")
    from commands import ok

    model.save(tmp_path / "model")
    rules = RuleClassifier().fit(COHORT, OUTCOME).rules_
    explained = model.rules().explain(COHORT.slice(0, 1))
    texts = {
        "text": model.to_text(surrogates=True),
        "export": model.export("text"),
        "dot": model.export("dot"),
        "svg": model.export("svg"),
        "html": model._repr_html_(),
        "rules": model.rules().to_text(),
        "pruned rules": rules.to_text(),
        "markdown": rules.to_markdown(),
        "explanation": str(explained),
        "show": ok("show", tmp_path / "model", "--all", "--plain").out,
        "fasttree rules": ok("rules", tmp_path / "model").out,
    }
    for name, text in texts.items():
        assert MICROSECONDS.search(text) is None, name
        assert re.search(r"19\d\d-\d\d-\d\d", text) or name == "html", name


def test_the_plot_speaks_in_dates(model: Any) -> None:
    pytest.importorskip("matplotlib")
    import fasttree.plot

    figure = fasttree.plot.tree(model, max_depth=3).figure
    shown = " ".join(text.get_text() for text in figure.findobj() if hasattr(text, "get_text"))
    assert "2024-0" in shown
    assert MICROSECONDS.search(shown) is None


# -- one kind is not another ---------------------------------------------------------------------------------------

KINDS: dict[str, list[Any]] = {
    "numbers": [np.array([1, 2]), [1.5, 2.5], pl.Series([1, 2]), pa.array([1, None]), [True, False]],
    "dates or times without a time zone": [
        moments([1, 2]),
        np.array([1, 2], "M8[D]"),
        [datetime.date(2024, 1, 1), datetime.datetime(2024, 1, 2)],
        pd.Series(pd.to_datetime(["2024-01-01", None])),
        pl.Series([datetime.date(2024, 1, 1)] * 2),
        pa.array([1, 2], pa.timestamp("s")),
        pa.array([1, 2], pa.date32()),
    ],
    "times with a time zone": [
        [datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC)] * 2,
        pd.Series(pd.to_datetime(["2024-01-01", None], utc=True)),
        pl.Series([datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC)] * 2),
        pa.array([1, 2], pa.timestamp("ms", "Asia/Tokyo")),
    ],
    "durations": [
        np.array([1, 2], "m8[h]"),
        [datetime.timedelta(1), None],
        pd.Series(pd.to_timedelta([1, 2], unit="D")),
        pl.Series([datetime.timedelta(1)] * 2),
        pa.array([1, 2], pa.duration("s")),
    ],
}  # fmt: skip


@pytest.mark.parametrize("then", KINDS)
def test_a_column_of_another_kind_is_an_error_that_says_what_to_do(then: str) -> None:
    for column in KINDS[then][:-1]:
        fitted = TreeClassifier().fit({"when": column}, [0, 1])
        for now, others in KINDS.items():
            for other in others:
                if now == then:
                    assert len(fitted.predict({"when": other})) == 2
                    continue
                said = rf"^column 'when' contained {then} at fit, but now contains {now}: pass {then}, as at"
                with pytest.raises(ValueError, match=said):
                    fitted.predict({"when": other})
        if then != "numbers":
            with pytest.raises(
                ValueError, match=rf"contained {then} at fit, .* such as '2024-01-01'"
            ):
                fitted.predict({"when": ["2024-01-01", "x"]})
        for nothing in ([None, None], [np.nan, np.nan], np.array(["NaT"] * 2, "M8[s]")):
            assert len(fitted.predict({"when": nothing})) == 2


def test_a_matrix_of_numbers_is_no_matrix_of_times() -> None:
    times = moments([[1, 2], [3, 4]])
    fitted = TreeClassifier().fit(times, [0, 1])
    assert fitted.predict(times).tolist() == [0, 1]
    with pytest.raises(
        ValueError, match=r"'x0' contained dates .* now contains numbers.*datetime64\[us\]"
    ):
        fitted.predict(times.astype(np.int64))
    with pytest.raises(ValueError, match="'x0' contained numbers at fit, but now contains dates"):
        TreeClassifier().fit(times.astype(float), [0, 1]).predict(times)
    assert len(fitted.predict(np.full((3, 2), np.nan))) == 3


def test_the_remedies_for_zones_are_right() -> None:
    naive = pd.Series(pd.to_datetime(["2024-01-01", "2024-07-01"]))
    aware = naive.dt.tz_localize("Europe/Vienna")
    model = TreeClassifier().fit({"t": naive}, ["a", "b"])
    with pytest.raises(ValueError, match=r"tz_convert\(zone\)\.dt\.tz_localize\(None\)"):
        model.predict({"t": aware})
    back = aware.dt.tz_convert("Europe/Vienna").dt.tz_localize(None)
    assert model.predict({"t": back}).tolist() == ["a", "b"]
    model = TreeClassifier().fit({"t": aware}, ["a", "b"])
    with pytest.raises(ValueError, match=r"\.dt\.tz_localize\(zone\)"):
        model.predict({"t": naive})
    assert model.predict({"t": naive.dt.tz_localize("Europe/Vienna")}).tolist() == ["a", "b"]


def test_classes_are_no_times() -> None:
    for y in ([datetime.date(2024, 1, 1)] * 2, [datetime.timedelta(1)] * 2, moments([1, 2])):
        with pytest.raises(ValueError, match=r"Unknown label type: y contains .*pass them as text"):
            TreeClassifier().fit({"a": [1, 2]}, y)


# -- times as categories -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("then", [kind for kind in KINDS if kind != "numbers"])
def test_times_that_are_categories(then: str, tmp_path: Any) -> None:
    for column in KINDS[then]:
        X = {"when": column}
        fitted = TreeClassifier(categorical_features=["when"]).fit(X, [0, 1])
        path = fitted.save(tmp_path / "model") or tmp_path / "model"
        loaded = fasttree.load(path)
        differ = len(set(map(str, column))) == 2
        assert fitted.predict(X).tolist() == loaded.predict(X).tolist() == [0, int(differ)]
        for now, others in KINDS.items():
            if now not in (then, "numbers"):
                with pytest.raises(
                    ValueError, match=r"'when' was categorical at fit, .* pass values"
                ):
                    loaded.predict({"when": others[-1]})
    far = {"when": np.array([10**18, 1], "M8[us]")}
    with pytest.raises(ValueError, match="years 1 to 9999"):
        TreeClassifier(categorical_features=["when"]).fit(far, [0, 1])


def test_dates_as_levels_are_those_of_a_column_of_dates() -> None:
    days = [datetime.date(2024, 1, 1), datetime.date(2024, 1, 2)] * 2
    y = ["a", "b"] * 2
    typed = pa.array(days)
    for X, parameters in (
        ({"day": days}, {"categorical_features": {"day": days[:2]}}),
        ({"day": fasttree.Categorical(days)}, {}),
        ({"day": typed.dictionary_encode()}, {}),
    ):
        model = TreeClassifier(**parameters).fit(X, y)
        assert model.tree_.schema.attributes[0].categories == tuple(days[:2])
        for asked in (days, typed, typed.cast(pa.timestamp("s")), np.array(days, dtype="M8[D]")):
            assert model.predict({"day": asked}).tolist() == y
        noon = [datetime.datetime(2024, 1, 1, 12)]
        assert model.set_params(unknown="error").predict({"day": days[1:2]}).tolist() == ["b"]
        with pytest.raises(ValueError, match="was not seen at fit"):
            model.predict({"day": noon})


def test_a_condition_takes_no_other_kind() -> None:
    days = np.array(["2024-01-01", "2024-01-02", "2024-01-05"], dtype="M8[D]")
    rules = TreeClassifier().fit({"day": days}, ["a", "a", "b"]).rules()
    condition = rules[0].conditions[0]
    assert condition.holds({"day": datetime.date(2024, 1, 1)})
    assert condition.holds({"day": np.datetime64("2024-01-01")})
    assert condition.holds({"day": 0.0})
    for other in (
        datetime.timedelta(1),
        np.timedelta64(1, "D"),
        datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC),
    ):
        with pytest.raises(
            TypeError, match="day contained dates or times without a time zone at fit, got"
        ):
            condition.holds({"day": other})
    plain = TreeClassifier().fit({"day": [1, 2, 5]}, ["a", "a", "b"]).rules()[0].conditions[0]
    with pytest.raises(TypeError, match="day contained numbers at fit, got"):
        plain.holds({"day": datetime.date(2024, 1, 1)})


# -- models that are kept ------------------------------------------------------------------------------------------


def test_files_and_pickles_remember_the_kinds(model: Any, tmp_path: Any) -> None:
    expected = [DATETIME, DATETIME, INSTANT, DURATION, None]
    model.save(tmp_path / "model")
    for copy in (fasttree.load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        assert [attribute.time for attribute in copy.tree_.schema.attributes] == expected
        assert copy.tree_.schema == model.tree_.schema
        assert copy.to_text() == model.to_text()
        assert copy.predict(COHORT).tolist() == model.predict(COHORT).tolist()
        with pytest.raises(ValueError, match="'born' contained dates"):
            copy.predict({name: np.arange(3.0) for name in COHORT.column_names})


def test_encoded_columns_and_comparisons_keep_the_kinds() -> None:
    columns = fasttree.Columns(COHORT, OUTCOME)
    assert (
        TreeClassifier().fit(columns).to_text() == TreeClassifier().fit(COHORT, OUTCOME).to_text()
    )
    assert re.search(r"(<=|>) (19|20)\d\d-\d\d-\d\d", TreeClassifier().fit(columns).to_text())
    models = {"tree": TreeClassifier(max_depth=3), "rules": RuleClassifier()}
    found = fasttree.compare_methods(COHORT, OUTCOME, models, folds=3)
    read = zip(COHORT.column_names, read_table(COHORT).columns or (), strict=True)
    numbers = {
        name: COHORT.column(name) if column.values is None else column.values
        for name, column in read
    }
    as_numbers = fasttree.compare_methods(numbers, OUTCOME, models, folds=3)
    for method in models:
        assert found.values(method).tolist() == as_numbers.values(method).tolist()


def test_a_study_of_times() -> None:
    """Groups by a date, ranges of times in its table, trees and a regression."""
    n = 600
    data = cohort(n).append_column("size2", pa.array(np.arange(n) % 7))
    data = data.append_column("ward", pa.array(moments(np.arange(n) % 2 * DAY)))
    late = data["born"].to_numpy() > np.datetime64("1985-01-01")
    data = data.append_column("event", pa.array(np.where(late, "yes", "no")))
    page = report(cesarean.run(data, target="event", by="ward", seeds=1), "study.html")
    assert "1970-01-02" in page
    assert re.search(r"up to (19|20)\d\d-\d\d-\d\d", page)
    assert MICROSECONDS.search(page) is None


def test_a_pickle_with_an_unknown_kind_is_refused(model: Any) -> None:
    attributes = model.tree_.schema.attributes
    copy = pickle.loads(pickle.dumps(model))
    object.__setattr__(copy.tree_.schema.attributes[0], "time", "epoch")
    assert attributes[0].time == DATETIME
    with pytest.raises(ModelFileError, match="'born' has the invalid kind of time 'epoch'"):
        pickle.loads(pickle.dumps(copy))


# -- exports -------------------------------------------------------------------------------------------------------


def rows_of(table: pa.Table) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = table.to_pylist()
    return found


def module(source: str) -> Any:
    made = types.ModuleType("exported")
    exec(source, made.__dict__)
    return made


def test_python_takes_times_and_microseconds(model: Any) -> None:
    expected, rules = model.predict(COHORT).tolist(), model.rules()
    exported, classify = module(model.export("python")), module(rules.to_python()).classify
    rows = rows_of(COHORT)
    assert [exported.predict(row) for row in rows] == expected
    assert [classify(row) for row in rows] == rules.predict(COHORT).tolist()
    counted = COHORT.select(["size"])
    for name in ("born", "seen", "sent", "stay"):
        kind = pa.timestamp("us") if name == "born" else COHORT[name].type
        counted = counted.append_column(name, COHORT[name].cast(kind).cast(pa.int64()))
    assert [exported.predict(row) for row in rows_of(counted)] == expected
    assert [classify(row) for row in rows_of(counted)] == rules.predict(COHORT).tolist()
    for name, value in (
        ("born", rows[0]["sent"]),
        ("sent", rows[0]["born"]),
        ("stay", rows[0]["sent"]),
    ):
        with pytest.raises(TypeError, match=f"'{name}' is a "):
            exported.predict({**rows[0], name: value})
    plain = TreeClassifier().fit({"a": [1, 2]}, [0, 1]).export("python")
    assert "_microseconds" not in plain
    assert "KINDS" not in plain


def test_attributes_may_have_the_names_of_modules() -> None:
    X = {"datetime": moments([1, 2, 3, 4]), "math": [1.0, 1.0, 2.0, None]}
    rules = TreeClassifier().fit(X, list("abcd")).rules()
    classify = module(rules.to_python()).classify
    rows = [
        dict(zip(X, values, strict=True))
        for values in zip(X["datetime"].tolist(), X["math"], strict=True)
    ]
    assert [classify(row) for row in rows] == rules.predict(X).tolist()


def test_rules_hold_for_times(model: Any) -> None:
    rules = TreeClassifier(min_samples_leaf=5).fit(COHORT, OUTCOME).rules()
    applies = [
        next((rule.label for rule in rules if rule.holds(row)), rules.default_class)
        for row in rows_of(COHORT)
    ]
    assert applies == rules.predict(COHORT).tolist()
    assert rules[0].holds(rules.explain(COHORT.slice(0, 1)).row) == rules[0].holds(
        rows_of(COHORT)[0]
    )


def test_other_formats_say_what_the_numbers_are(model: Any) -> None:
    times = {"born": DATETIME, "seen": DATETIME, "sent": INSTANT, "stay": DURATION}
    document = json.loads(model.export("json"))
    assert {a["name"]: a["time"] for a in document["attributes"] if "time" in a} == times
    rules = json.loads(model.rules().to_json())
    said = {c["attribute"]: c.get("time") for rule in rules["rules"] for c in rule["if"]}
    assert said == {name: times.get(name) for name in said}
    assert len(said) == 5
    source = model.export("c")
    assert "column 0: microseconds since 1970-01-01 (no time zone)\n" in source
    assert "column 2: microseconds since 1970-01-01 UTC\n" in source
    assert "Times are" not in TreeClassifier().fit({"a": [1, 2]}, [0, 1]).export("c")
    assert 'displayName="stay, microseconds"' in model.export("pmml")
    onnx = pytest.importorskip("onnx")
    props = onnx.load_from_string(model.export("onnx")).metadata_props
    units = {one.key: one.value for one in props}["units"]
    assert json.loads(units)["sent"] == "microseconds since 1970-01-01 UTC"


@pytest.mark.parametrize("missing", ["branch", "surrogate", "fractional", "category"])
def test_duckdb_compares_times(missing: str) -> None:
    model = TreeClassifier(missing=missing, min_samples_leaf=3).fit(COHORT, OUTCOME)
    other = cohort(seed=5)
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'Asia/Tokyo'")
        for table in (COHORT, other):
            numbered = table.append_column("row", pa.array(range(table.num_rows)))
            connection.register("data", numbered)
            query = model.export("sql", dialect="duckdb", keep=["row"], leaf=True)
            found = sorted(connection.execute(query).fetchall())
            assert [label for _, label, _ in found] == model.predict(table).tolist()
            assert [leaf for _, _, leaf in found] == model.apply(table).tolist()


def test_sql_that_cannot_say_a_time(model: Any) -> None:
    with pytest.raises(ValueError, match=r"sqlite has no type for dates .* column 'born' .*python"):
        model.export("sql", dialect="sqlite")
    with pytest.raises(ValueError, match=r"ansi has no type for durations.* column 'stay'"):
        model.export("sql")
    assert "TIMESTAMP WITH TIME ZONE '2024-" in model.export("sql", dialect="postgres")
    shared = TreeClassifier(missing="fractional").fit(COHORT.drop(["stay"]), OUTCOME)
    with pytest.raises(ValueError, match=r"ansi cannot count microseconds.* column 'born'"):
        shared.export("sql")
    far = {"t": np.array([0, 10**18], "M8[us]")}
    with pytest.raises(
        ValueError, match=r"SQL has no portable literal for 17\d+-.*years 1 to 9999"
    ):
        TreeClassifier().fit(far, [0, 1]).export("sql")
    unused = {
        "t": moments([1, 1, 1]),
        "x": [1, 2, 3],
    }  # a column that is not asked for may be anything
    assert "t" in TreeClassifier(missing="error").fit(unused, [0, 1, 1]).export(
        "sql", dialect="sqlite"
    )


# -- times as objects, and as levels -------------------------------------------------------------------------------


def test_levels_that_are_dates_are_the_same_in_every_column() -> None:
    days = [datetime.date(2020, 1, 1 + i % 20) for i in range(60)]
    y = ["early" if day.day < 11 else "late" for day in days]
    midnights = pd.Series(pd.to_datetime(days))
    columns: list[Any] = [
        days,
        pd.Series(days).astype("category"),
        fasttree.Categorical(days),
        pa.array(days),
        pa.array(days).dictionary_encode(),
        midnights.astype("category"),
        np.array(days, dtype="M8[D]"),
    ]
    zoned = midnights.dt.tz_localize("UTC").astype("category")
    for then in columns:
        model = TreeClassifier(categorical_features=["d"]).fit({"d": then}, y)
        for now in columns:
            assert model.predict({"d": now}).tolist() == y
        with pytest.raises(
            ValueError, match=r"'d' was categorical at fit.*now contains times with a"
        ):
            model.predict({"d": zoned})
    model = TreeClassifier(categorical_features=["d"]).fit({"d": zoned}, y)
    assert model.predict({"d": zoned}).tolist() == y
    with pytest.raises(ValueError, match="now contains dates or times without a time zone"):
        model.predict({"d": days})


def test_objects_of_numpy_have_units_of_their_own() -> None:
    def numbers(values: list[Any]) -> list[float]:
        (column,) = read_table({"d": values}).columns or ()
        return column.values.tolist()

    years = [np.datetime64("300000-01-01"), np.datetime64("2000-01-01T12"), np.datetime64("NaT")]
    expected = [float(np.datetime64("300000-01-01").astype(int)) * 86_400e6, 946_728_000e6]
    assert numbers(years)[:2] == expected
    assert np.isnan(numbers(years)[2])
    spans = [np.timedelta64(1, "h"), np.timedelta64(2, "D"), datetime.timedelta(seconds=3)]
    assert numbers(spans) == [3600e6, 2 * 86_400e6, 3e6]
    first = np.datetime64("2020-01-01T00:00:00.000000000")
    for finer in (
        [first, first + np.timedelta64(900, "ns")],
        [pd.Timestamp("2020"), pd.Timestamp("2020") + pd.Timedelta(900, "ns")],
        [pd.Timestamp("2020", tz="UTC"), pd.Timestamp("2020", tz="UTC") + pd.Timedelta(1, "ns")],
        [pd.Timedelta(5, "s"), pd.Timedelta(5, "s") + pd.Timedelta(1, "ns")],
    ):
        with pytest.raises(
            ValueError, match="'d' has a time with a resolution finer than a microsecond in row 1"
        ):
            numbers(finer)
    for odd in ([np.timedelta64(1, "M"), None], [np.timedelta64(1), np.timedelta64(2)]):
        with pytest.raises(TypeError, match=r"'d' has durations in the unit .* which has no fixed"):
            numbers(odd)
    west = datetime.timezone(datetime.timedelta(hours=-5))
    with pytest.raises(ValueError, match=r"'d' contains .* in row 0, which in UTC is outside"):
        numbers([datetime.datetime.max.replace(tzinfo=west)])


def test_exported_python_compares_dates_as_the_model_does() -> None:
    days = [datetime.date(2020, 1, 1 + i % 20) for i in range(40)]
    y = ["early" if day.day < 11 else "late" for day in days]
    midnights = pd.Series(pd.to_datetime(days))
    zoned = midnights.dt.tz_localize("Asia/Tokyo")
    for column, asked in (
        (days, [*days, *map(datetime.datetime.fromordinal, map(datetime.date.toordinal, days))]),
        (midnights.astype("category"), [*days, *midnights]),
        (pd.Series(days).astype("category"), [*days, *midnights]),
        (zoned.astype("category"), list(zoned.dt.tz_convert("UTC"))),
        (pd.Series(pd.to_timedelta(midnights.dt.day, unit="h")).astype("category"),
         [datetime.timedelta(hours=day.day) for day in days]),
    ):  # fmt: skip
        model = TreeClassifier(categorical_features=["d"]).fit({"d": column}, y)
        source: dict[str, Any] = {}
        exec(model.export("python"), source)
        found = [source["predict"]([value]) for value in asked]
        assert found == model.predict({"d": pd.Series(asked, dtype=object)}).tolist()
        assert found == y * (len(asked) // len(y))
    finer = pd.Series(midnights + pd.Timedelta(1, "ns")).astype("category")
    model = TreeClassifier(categorical_features=["d"]).fit({"d": finer}, y)
    with pytest.raises(ValueError, match="cannot be written as Python source"):
        model.export("python")


def test_levels_of_bytes_are_refused() -> None:
    for column in (
        pd.Series([b"a", b"b"]).astype("category"),
        pa.array([b"a", b"b"]).dictionary_encode(),
    ):
        with pytest.raises(TypeError, match="column 'd' has the type"):
            TreeClassifier().fit({"d": column}, [0, 1])
