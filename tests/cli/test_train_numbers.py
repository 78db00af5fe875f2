# SPDX-License-Identifier: BSD-3-Clause
"""Targets of numbers on the command line: which task a target asks for, and a regressor from training to its scores."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from commands import ok, run

import fasttree
from fasttree.datasets import make_hospital_stays
from fasttree.pruning import CostComplexity

ATTRIBUTES = ["ward", "severity", "emergency", "age", "weight"]


def stays(n_rows: int = 400, seed: int = 0) -> pa.Table:
    X, days = make_hospital_stays(n_rows, random_state=seed)
    columns: dict[str, Any] = {}
    for name, column in X.items():
        if isinstance(column, fasttree.Categorical):
            column = np.array(column.categories, dtype=object)[column.codes]
        if name == "emergency":  # a file of text has no bools
            column = np.where(column, "yes", "no")
        columns[name] = pa.array(column, from_pandas=True)
    return pa.table(columns | {"days": days})


def write(path: Path, table: pa.Table) -> Path:
    pa.csv.write_csv(table, path)
    return path


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write(tmp_path / "stays.csv", stays())


@pytest.mark.parametrize(
    ("method", "estimator"),
    [
        ("tree", fasttree.TreeRegressor()),
        ("cart", fasttree.CARTRegressor()),
        ("cart0", fasttree.CARTRegressor(pruning=CostComplexity(se=0))),
    ],
)
def test_the_model_is_the_librarys(data: Path, method: str, estimator: Any) -> None:
    path = data.with_suffix(".model")
    summary = ok("train", data, "-t", "days", "-m", method, "-o", path, "--json").json
    table = stays()
    model = estimator.fit(table.select(ATTRIBUTES), table["days"])
    assert fasttree.load(path).tree_ == model.tree_
    assert summary["task"] == "regression"
    assert summary["classes"] == []
    days = table["days"].to_numpy()
    off = days - model.predict(table.select(ATTRIBUTES))
    assert summary["training_rmse"] == pytest.approx(math.sqrt(np.square(off).mean()), rel=1e-12)
    r2 = 1 - np.square(off).mean() / days.var()
    assert summary["training_r2"] == pytest.approx(r2, abs=1e-12)


def test_what_is_printed(data: Path) -> None:
    printed = ok("train", data, "-t", "days", "-o", data.with_suffix(".model"), "--holdout", "0.25")
    assert "tree model, regression" in printed.out
    assert (
        "days (predicted as a number, since the target has numbers with a fraction)" in printed.out
    )
    assert re.search(
        r"test R2 +0\.\d{4} \(root mean squared error [\d.]+\) of \d+ rows held out", printed.out
    )
    assert "predict new rows" in printed.out
    assert "fasttree rules" not in printed.out
    drawn = ok("show", data.with_suffix(".model")).out
    assert re.search(r"mean +rows +sd", drawn)
    assert "(no bar) to " in drawn


@pytest.mark.parametrize(
    ("target", "options", "task", "warning"),
    [
        (["a", "b"], [], "classification", None),
        ([True, False], [], "classification", None),
        ([0.5, 1.0], [], "regression", None),
        (
            [0, 1],
            [],
            "classification",
            "2 distinct whole numbers, which are taken for classes: --task regression",
        ),
        (list(range(30)), [], "classification", "30 distinct whole numbers"),
        (
            list(range(31)),
            [],
            "regression",
            "31 distinct whole numbers, which are predicted as numbers: --task class",
        ),
        (list(range(31)), ["-m", "c45"], "classification", None),
        ([0.0, 1.0], [], "classification", "2 distinct whole numbers, which are taken for classes"),
        ([0.0, 1.0], ["-m", "c45"], "classification", None),
        ([0, 1], ["--task", "regression"], "regression", None),
        (list(range(31)), ["--task", "classification"], "classification", None),
    ],
)
def test_the_task(
    target: list[Any], options: list[str], task: str, warning: str | None, tmp_path: Path
) -> None:
    y = (target * 62)[:62]
    table = pa.table({"x": np.arange(62.0), "y": y})
    path = tmp_path / "some.parquet"
    pa.parquet.write_table(table, path)
    whole = [] if "-m" in options else ["--prune", "none"]
    done = ok("train", path, "-t", "y", "-o", tmp_path / "m", "--json", *options, *whole)
    assert done.json["task"] == task
    assert type(fasttree.load(tmp_path / "m")).__name__.endswith(
        "Regressor" if task == "regression" else "Classifier"
    )
    warned = " ".join(done.err.split())
    assert (warning in warned) if warning else ("whole number" not in warned)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["-m", "c45", "--task", "regression"],
            "--method c45 predicts classes only: for numbers, use --method tree",
        ),
        (["-m", "c45"], "--method c45 predicts classes only"),
        (["--task", "guess"], "--task 'guess' is not a task: there are classification, regression"),
        (["--task", "classification"], "use fasttree.TreeRegressor to predict numbers"),
        (["--set", "criterion=gini"], "criterion must be .*squared_error.* got 'gini'"),
        (["--prune", "error_based"], 'pruning must be None, "cost_complexity"'),
    ],
)
def test_what_does_not_go_together(data: Path, options: list[str], message: str) -> None:
    done = run("train", data, "-t", "days", "-o", data.with_suffix(".model"), *options)
    assert done.code != 0
    assert re.search(message, " ".join(done.err.split()))
    assert not data.with_suffix(".model").exists()


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (
            [f"{number}.5" for number in range(60)] + ["unknown"],
            "60 distinct numbers, but also the text 'unknown'",
        ),
        ([f"{number},5" for number in range(60)], "looks like a number: give its decimal sign"),
    ],
)
def test_numbers_that_were_read_as_text(texts: list[str], message: str, tmp_path: Path) -> None:
    path = tmp_path / "some.parquet"
    pa.parquet.write_table(pa.table({"x": np.arange(len(texts)), "y": texts}), path)
    done = run("train", path, "-t", "y", "-o", tmp_path / "m", "--prune", "none")
    assert done.code != 0
    assert message in " ".join(done.err.split())
    as_classes = ("--task", "classification", "--prune", "none")
    assert (
        ok("train", path, "-t", "y", "-o", tmp_path / "m", *as_classes, "--json").json["leaves"]
        > 50
    )


@pytest.mark.parametrize("command", ["evaluate", "rank", "compare"])
def test_commands_for_classes_alone(data: Path, command: str, tmp_path: Path) -> None:
    done = run(command, data, "-t", "days")
    assert done.code != 0
    message = f"the target has numbers with a fraction, but {command} knows classes only"
    assert message in " ".join(done.err.split())
    table = stays().set_column(5, "days", pa.array(np.arange(400) % 40))
    many = write(tmp_path / "many.csv", table)
    err = run(command, many, "-t", "days", *(["-m", "tree"] if command == "evaluate" else [])).err
    assert f"40 distinct whole numbers, and {command} takes each of them for a class" in " ".join(
        err.split()
    )


def test_scores_with_their_reasons(data: Path, tmp_path: Path) -> None:
    """Every reason is read again, and is true of its row; where it ends, the prediction stands."""
    model, out = data.with_suffix(".model"), tmp_path / "out.csv"
    ok("train", data, "-t", "days", "-m", "cart", "-o", model)
    new = stays(300, seed=7)
    write(tmp_path / "new.csv", new)
    report = tmp_path / "report.json"
    ok("score", model, tmp_path / "new.csv", "-o", out, "--leaf", "--explain", "--report", report)
    found = pyarrow.csv.read_csv(out).to_pylist()
    fitted = fasttree.load(model)
    predicted = fitted.predict(new.select(ATTRIBUTES))
    assert [row["prediction"] for row in found] == predicted.tolist()
    assert [row["leaf"] for row in found] == fitted.apply(new.select(ATTRIBUTES)).tolist()
    told = json.loads(report.read_text())["predicted"]
    assert (told["lowest"], told["highest"]) == (predicted.min(), predicted.max())
    assert told["mean"] == pytest.approx(predicted.mean(), rel=1e-12)
    n_read = 0
    for row, answer in zip(new.to_pylist(), found, strict=True):
        premise, number = re.fullmatch(r"IF (.*) THEN (\S+)", answer["rule"]).groups()
        assert float(number) == answer["prediction"]
        if None in row.values():
            continue
        n_read += 1
        assert all(holds(condition, row) for condition in premise.split(" AND ")), (row, premise)
    assert n_read > 200


def holds(condition: str, row: dict[str, Any]) -> bool:
    condition = re.sub(r" or missing( \(surrogates\))?$", "", condition)
    if found := re.fullmatch(r"(\w+) in \{(.*)\}", condition):
        return str(row[found[1]]) in found[2].split(", ")
    if found := re.fullmatch(r"(\w+) = (.*)", condition):
        return str(row[found[1]]) == found[2]
    if found := re.fullmatch(r"(\S+) < (\w+) <= (\S+)", condition):
        return float(found[1]) < row[found[2]] <= float(found[3])
    name, sign, number = re.fullmatch(r"(\w+) (<=|>) (\S+)", condition).groups()
    return row[name] <= float(number) if sign == "<=" else row[name] > float(number)


def test_what_regressors_do_not_have(data: Path, tmp_path: Path) -> None:
    model = data.with_suffix(".model")
    ok("train", data, "-t", "days", "-m", "cart", "-o", model)
    for arguments, message in (
        (
            ["score", model, data, "-o", tmp_path / "o.csv", "--proba"],
            "predicts numbers: leave it out",
        ),
        (["rules", model], "only classifiers have rules: see its tree, fasttree show"),
        (["export", model, "--to", "onnx", "-o", tmp_path / "m.onnx"], "for classifiers only"),
    ):
        done = run(*arguments)
        assert done.code != 0
        assert message in " ".join(done.err.split())
