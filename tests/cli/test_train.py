# SPDX-License-Identifier: BSD-3-Clause
"""`fasttree train` makes the model that the library makes, and says true things about it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from commands import data, ok, patients, run, write_csv

import fasttree
from fasttree.pruning import CostComplexity, ErrorBased

__all__ = ["data"]

ATTRIBUTES = ["age", "pulse", "ward"]


def expected(estimator: Any, table: pa.Table | None = None, names: list[str] = ATTRIBUTES) -> Any:
    table = patients() if table is None else table
    return estimator.fit(table.select(names), table["outcome"])


@pytest.mark.parametrize(
    ("method", "estimator"),
    [
        ("tree", fasttree.TreeClassifier()),
        ("id3", fasttree.ID3Classifier()),
        ("c45", fasttree.C45Classifier()),
        ("C45", fasttree.C45Classifier()),
        ("cart", fasttree.CARTClassifier()),
        ("cart0", fasttree.CARTClassifier(pruning=CostComplexity(se=0))),
        ("smml", fasttree.SMMLClassifier()),
        ("mml", fasttree.MMLClassifier()),
        ("bayes", fasttree.BayesTreeClassifier()),
        ("rules", fasttree.RuleClassifier()),
    ],
)
def test_every_method_is_the_librarys(data: Path, method: str, estimator: Any) -> None:
    path = data.with_suffix(".model")
    summary = ok(
        "train", data, "-t", "outcome", "-m", method, "--drop", "id", "-o", path, "--json"
    ).json
    model = expected(estimator)
    loaded = fasttree.load(path)
    assert loaded.tree_ == model.tree_
    X = patients(300, seed=1).select(ATTRIBUTES)
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert summary["model"] == str(path)
    assert summary["method"] == method.lower()
    assert (summary["rows"], summary["attributes"]) == (400, 3)
    assert (summary["leaves"], summary["depth"]) == (model.tree_.n_leaves, model.tree_.max_depth)
    assert summary["classes"] == ["ill", "well"]
    right = model.predict(patients().select(ATTRIBUTES)) == patients()["outcome"].to_numpy()
    assert summary["training_accuracy"] == pytest.approx(right.mean(), abs=1e-15)
    assert summary["test"] is None
    assert ("rules" in summary) == (method == "rules")


@pytest.mark.parametrize(
    ("options", "estimator"),
    [
        (
            ["-m", "tree", "--set", "max_depth=3", "--set", "criterion=entropy"],
            fasttree.TreeClassifier(max_depth=3, criterion="entropy"),
        ),
        (["-m", "tree", "--set", "max-depth=none"], fasttree.TreeClassifier()),
        (["--prune", "none"], fasttree.TreeClassifier()),
        (
            ["-m", "tree", "--set", "stop_zero_gain=true"],
            fasttree.TreeClassifier(stop_zero_gain=True),
        ),
        ([], fasttree.TreeClassifier(pruning="cost_complexity")),
        (
            ["--set", "max_depth=3,se=0,folds=5"],
            fasttree.TreeClassifier(max_depth=3, pruning=CostComplexity(se=0, folds=5)),
        ),
        (["--prune", "error-based"], fasttree.TreeClassifier(pruning="error_based")),
        (
            ["--prune", "error_based", "--set", "confidence=0.01", "--set", "raising=false"],
            fasttree.TreeClassifier(pruning=ErrorBased(confidence=0.01, raising=False)),
        ),
        (
            ["-m", "c45", "--set", "confidence=0.4", "--set", "min_samples_leaf=5"],
            fasttree.C45Classifier(pruning=ErrorBased(confidence=0.4), min_samples_leaf=5),
        ),
        (["-m", "c45", "--prune", "none"], fasttree.C45Classifier(pruning=None)),
        (
            ["-m", "cart0", "--set", "folds=5"],
            fasttree.CARTClassifier(pruning=CostComplexity(se=0, folds=5)),
        ),
        (
            ["-m", "rules", "--set", "confidence=0.1", "--set", "min_samples_leaf=10"],
            fasttree.RuleClassifier(
                base=fasttree.C45Classifier(pruning=None, min_samples_leaf=10), confidence=0.1
            ),
        ),
    ],
)
def test_settings_reach_the_estimator(data: Path, options: list[str], estimator: Any) -> None:
    path = data.with_suffix(".model")
    ok("train", data, "-t", "outcome", "--drop", "id", *options, "-o", path)
    model, loaded = expected(estimator), fasttree.load(path)
    assert loaded.tree_ == model.tree_
    if hasattr(model, "rules_"):
        assert str(loaded.rules_) == str(model.rules_)


WHY = "without --method, cross-validation chooses the size (no pruning: --prune none)"


def test_without_a_method_the_tree_has_the_size_that_pays(data: Path, tmp_path: Path) -> None:
    path, other = tmp_path / "m.model", write_csv(tmp_path / "new.csv", patients(4000, seed=7))
    words = ("train", data, "-t", "outcome", "--drop", "id", "--test", other, "--force", "-o", path)
    found, whole = ok(*words, "--json").json, ok(*words, "-m", "tree", "--json").json
    assert found["method"] == whole["method"] == "tree"
    assert whole["pruning"] is None
    removed = whole["leaves"] - found["leaves"]
    assert found["pruning"] == {"method": "cost_complexity", "leaves_removed": removed}
    assert removed > whole["leaves"] / 2
    assert found["test"]["accuracy"] > whole["test"]["accuracy"] + 0.01
    lines = [line.strip() for line in ok(*words).out.splitlines()]
    place = lines.index(f"pruned by         cost_complexity: {removed} leaves removed")
    assert lines[place + 1] == WHY
    for choice in (["-m", "tree"], ["--prune", "none"], ["--prune", "cost_complexity"]):
        assert WHY not in ok(*words, *choice).out
    assert "pruned by         error_based: " in ok(*words, "-m", "c45").out


def test_a_single_leaf_says_how_to_see_what_had_grown(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    noise = pa.table({"a": rng.normal(size=80), "y": np.array(["p", "q"])[rng.integers(0, 2, 80)]})
    data = write_csv(tmp_path / "t.csv", noise)
    result = ok("train", data, "-t", "y", "-o", tmp_path / "m.model")
    assert "use --prune none to see the unpruned tree" in result.err
    assert "pruning=None" not in result.err


def test_categories_by_name(tmp_path: Path) -> None:
    table = pa.table(
        {"code": ["007", "008", "007", "9"] * 10, "outcome": ["a", "b", "a", "b"] * 10}
    )
    data = write_csv(tmp_path / "t.csv", table)
    path = tmp_path / "m.model"
    ok("train", data, "-t", "outcome", "--categorical", "code", "-o", path)
    assert fasttree.load(path).tree_.schema.attributes[0].categories == ("007", "008", "9")
    ok("train", data, "-t", "outcome", "-o", path, "--force")
    assert fasttree.load(path).tree_.schema.attributes[0].categories is None


def test_weights_count_as_copies(tmp_path: Path) -> None:
    weights = np.arange(400) % 3
    table = patients().append_column("w", pa.array(weights))
    data, path = write_csv(tmp_path / "t.csv", table), tmp_path / "m.model"
    ok("train", data, "-t", "outcome", "-m", "tree", "--drop", "id", "--weights", "w", "-o", path)
    copies = patients().take(np.repeat(np.arange(400), weights))
    assert fasttree.load(path).tree_ == expected(fasttree.TreeClassifier(), copies).tree_


def test_a_test_file_judges(data: Path, tmp_path: Path) -> None:
    others = patients(200, seed=5)
    test = write_csv(tmp_path / "test.csv", others)
    path = tmp_path / "m.model"
    args = (
        "train",
        data,
        "-t",
        "outcome",
        "-m",
        "tree",
        "--drop",
        "id",
        "--test",
        test,
        "-o",
        path,
    )
    model = expected(fasttree.TreeClassifier())
    accuracy = (model.predict(others.select(ATTRIBUTES)) == others["outcome"].to_numpy()).mean()
    assert ok(*args, "--json").json["test"] == {"rows": 200, "accuracy": pytest.approx(accuracy)}
    assert f"{accuracy:.2%} of 200 rows in" in ok(*args, "--force").out


def test_held_out_rows_are_not_trained_on(data: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.model"
    args = ("train", data, "-t", "outcome", "-m", "tree", "--drop", "id", "--holdout", "0.25")
    args = (*args, "-o", path)
    summary = ok(*args, "--json").json
    assert summary["rows"] + summary["test"]["rows"] == 400
    assert summary["test"]["rows"] == pytest.approx(100, abs=2)
    model = fasttree.load(path)
    assert model.tree_.counts[0].sum() == summary["rows"]
    everything = model.predict(patients().select(ATTRIBUTES)) == patients()["outcome"].to_numpy()
    of_training = round(summary["training_accuracy"] * summary["rows"])
    of_test = round(summary["test"]["accuracy"] * summary["test"]["rows"])
    assert np.count_nonzero(everything) == of_training + of_test
    # It has not seen these.
    assert summary["training_accuracy"] > 0.99 > summary["test"]["accuracy"]


def test_the_summary_for_people(data: Path) -> None:
    path = data.parent / "my model.model"
    out = ok("train", data, "-t", "outcome", "--drop", "id", "-o", path).out
    for words in (
        "400 rows, 3 attributes (2 numeric, 1 categorical)",
        "outcome (2 classes)",
        "training accuracy",
        str(path),
        "Next:",
    ):
        assert words in out
    assert f"fasttree show '{path}'" in out  # may be pasted into a shell


def test_what_the_columns_were_taken_for(tmp_path: Path) -> None:
    """Dates that no machine reads are seen to be text; and so is a name in every row."""
    data = tmp_path / "t.csv"
    rows = [f"P{n},{n},2024-01-{n % 31 + 1:02},{n % 3 + 1}/2/2024,{'ab'[n % 2]}" for n in range(60)]
    data.write_text("name,age,admitted,seen,y\n" + "\n".join(rows) + "\n")
    words = ("train", data, "-t", "y", "-m", "tree", "--force", "-o", tmp_path / "m.model")
    result = ok(*words)
    assert "60 rows, 4 attributes (1 numeric, 1 times, 2 categorical)" in result.out
    for line in (
        "column    kind         values  missing  example",
        "name      categorical      60        0  P0",
        "age       numeric          60        0  0",
        "admitted  time             31        0  2024-01-01",
        "seen      categorical       3        0  1/2/2024",
    ):
        assert line in result.out.splitlines()
    assert result.err.splitlines() == [
        "Warning: column 'name' has 60 distinct values in 60 rows, so it does not generalise to new rows: leave it out "
        "(--drop name), or merge its rare categories (--min-category-count 20)",
        "Warning: column 'seen' contains text such as '1/2/2024', which looks like a date, and was read as 3 "
        "categories: write dates as 2024-02-29, or declare it categorical (--categorical seen) if its values are "
        "categories",
    ]
    result = ok(*words, "--drop", "name", "--categorical", "seen")
    assert "3 attributes (1 numeric, 1 times, 1 categorical)" in result.out
    assert "Warning" not in result.err


def test_a_column_of_numbers_but_for_a_cell(tmp_path: Path) -> None:
    data = tmp_path / "t.csv"
    rows = [f"{'unknown' if n == 70 else 18 + n % 70},{n % 2},{'ab'[n % 2]}" for n in range(900)]
    data.write_text("Age,x,y\n" + "\n".join(rows) + "\n")
    message = (
        "Warning: column 'Age' was read as 71 categories instead of numbers, because 1 of its 900 values is not a "
        "number, such as 'unknown': leave such fields empty, or declare it categorical (--categorical Age) if its "
        "values are categories"
    )
    for words in (
        ("train", data, "-t", "y", "-o", tmp_path / "m.model"),
        ("train", data, "-t", "y", "-o", tmp_path / "r.model", "-m", "rules"),
        ("evaluate", data, "-t", "y", "-m", "c45,cart", "--folds", "3"),
        ("rank", data, "-t", "y"),
        ("compare", data, "-t", "y", "--holdout", "0.1"),
    ):
        result = ok(*words)
        warned = [line for line in result.err.splitlines() if line.startswith("Warning")]
        expected = message.replace("900", "810") if words[0] == "compare" else message
        assert warned == [expected] or words[0] == "compare"
        assert len(warned) == 1
        head, age = result.out.splitlines(), "Age     categorical      71        0  18"
        assert "column  kind         values  missing  example" in head
        assert age in head or words[0] == "compare"
        assert (
            "Warning"
            not in ok(
                *words, "--categorical", "Age", *(("--force",) if words[0] == "train" else ())
            ).err
        )
        columns = json.loads(
            ok(*words, "--json", *(("--force",) if words[0] == "train" else ())).out
        )["columns"]
        assert [column["name"] for column in columns] == ["Age", "x"]
        assert columns[0]["kind"] == "categorical"


def test_categories_of_few_rows(tmp_path: Path) -> None:
    data = tmp_path / "t.csv"
    rows = [f"{'Ulm' if n % 2 else 'Bonn' if n % 3 else f'T{n}'},{'ab'[n % 2]}" for n in range(60)]
    data.write_text("town,y\n" + "\n".join(rows) + "\n")
    words = ("train", data, "-t", "y", "--force", "-o", tmp_path / "m.model")
    assert (
        "town    categorical (10 merged)      12        0  Bonn"
        in ok(*words, "--min-category-count", "5").out
    )
    assert "merged" not in ok(*words).out
    by_set = ok(*words, "--json", "--set", "min_category_count=5").out
    assert json.loads(by_set)["columns"][0]["others"] == 10
    for words_of_other in (("evaluate", "--folds", "3"), ("compare",)):
        command, *rest = words_of_other
        ok(command, data, "-t", "y", *rest, "--min-category-count", "5")
    result = run(*words, "--min-category-count", "0")
    assert result.code == 2
    assert "min_category_count must be a finite number >= 1, got 0" in result.err
    result = run(*words, "--min-category-count", "5", "--set", "min_category_count=5")
    assert result.code == 2
    assert "--min-category-count and --set min_category_count: give only one of them" in result.err


def test_judged_by_the_rows_of_training(tmp_path: Path) -> None:
    rows = [f"{n},{'ab'[n % 2]}" for n in range(60)]
    files = {}
    for name, lines in (("t", rows), ("same", rows), ("other", rows[::-1]), ("few", rows[:49])):
        files[name] = tmp_path / f"{name}.csv"
        files[name].write_text("x,y\n" + "\n".join(lines) + "\n")
    for name, is_warned in (("t", True), ("same", True), ("other", False)):
        words = (
            "train",
            files["t"],
            "-t",
            "y",
            "--force",
            "-o",
            tmp_path / "m.model",
            "--test",
            files[name],
        )
        assert (
            "contains the training rows, so the test accuracy says nothing about new rows"
            in ok(*words).err
        ) == is_warned
    words = (
        "train",
        files["few"],
        "-t",
        "y",
        "--force",
        "-o",
        tmp_path / "m.model",
        "--test",
        files["few"],
    )
    assert "Warning" not in ok(*words).err


def test_an_output_is_not_lost(data: Path) -> None:
    path = data.with_suffix(".model")
    path.write_text("mine")
    result = run("train", data, "-t", "outcome", "-o", path)
    assert result.code == 5
    assert "already exists" in result.err
    assert "--force" in result.err
    assert path.read_text() == "mine"
    ok("train", data, "-t", "outcome", "-o", path, "--force")
    assert fasttree.load(path).tree_.n_leaves > 1


def test_warnings_of_the_library_are_told(tmp_path: Path) -> None:
    data = tmp_path / "t.csv"
    data.write_text("a,b\n1,x\n2,x\n3,y\n")
    result = ok("train", data, "-t", "b", "-m", "cart", "-o", tmp_path / "m.model")
    assert result.err.startswith("Warning: ")
    assert "not pruned" in result.err
