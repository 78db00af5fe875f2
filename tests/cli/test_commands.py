# SPDX-License-Identifier: BSD-3-Clause
"""The other commands say what the library says."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from commands import data, ok, patients, run, write_csv
from pyarrow import parquet
from rich.cells import cell_len

import fasttree
from fasttree.cli.methods import METHODS
from fasttree.export import EXPORTERS

__all__ = ["data"]

ATTRIBUTES = ["age", "pulse", "ward"]


@pytest.fixture
def model(data: Path) -> Path:
    path = data.with_suffix(".model")
    ok("train", data, "-t", "outcome", "-m", "c45", "--drop", "id", "-o", path)
    return path


def without(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if a library were not installed."""
    import fasttree.cli.compare as module

    find = module.find_spec
    monkeypatch.setattr(module, "find_spec", lambda n: None if n == name else find(n))


# -- rules and export ------------------------------------------------------------------------------


@pytest.mark.parametrize("format", ["text", "markdown", "json", "python"])
def test_rules(model: Path, tmp_path: Path, format: str) -> None:
    rules = fasttree.load(model).rules()
    expected = getattr(rules, f"to_{format}")()
    assert ok("rules", model, "--format", format).out.rstrip("\n") == expected.rstrip("\n")
    path = tmp_path / "rules.out"
    assert ok("rules", model, "-f", format, "-o", path).out == ""
    assert path.read_text("utf-8").rstrip("\n") == expected.rstrip("\n")
    assert run("rules", model, "-f", format, "-o", path).code == 5


@pytest.mark.parametrize("method", ["c45", "cart", "rules", "id3"])
def test_rules_judged_by_the_rows_of_training(tmp_path: Path, method: str) -> None:
    """Whole rows and rows that are shared out; another order is the same table, one other class is another one."""
    rng = np.random.default_rng(4)
    n, size = 240, np.round(rng.normal(size=240), 2)
    ward = rng.choice(["a", "b", "c", ""], n)
    y = np.where((size + (ward == "a") + rng.normal(size=n) / 2 > 0.4), "ill", "well")
    sizes = ["" if k % 9 == 0 else str(s) for k, s in enumerate(size)]
    rows = [",".join(cells) for cells in zip(sizes, ward, y, strict=True)]
    halves = [rows[::2], rows[1::2]]
    flip = "well" if rows[0].endswith("ill") else "ill"
    tables = {
        "t": (rows, True),
        "reversed": (rows[::-1], True),
        "one": ([f"{rows[0].rsplit(',', 1)[0]},{flip}", *rows[1:]], False),
        "half": (halves[0], False),
    }
    for name, (lines, _) in tables.items():
        (tmp_path / f"{name}.csv").write_text("size,ward,y\n" + "\n".join(lines) + "\n")
    path = tmp_path / "m.model"
    ok("train", tmp_path / "t.csv", "-t", "y", "-m", method, "-o", path)
    for name, (_, is_warned) in tables.items():
        said = ok("rules", path, "--test", tmp_path / f"{name}.csv", "-t", "y").err
        words = f"{name}.csv has as many rows of each class at each leaf of the tree as the training rows"
        assert (words in " ".join(said.split())) == is_warned, said
    ok("train", tmp_path / "half.csv", "-t", "y", "-m", method, "--force", "-o", path)
    (tmp_path / "other.csv").write_text("size,ward,y\n" + "\n".join(halves[1]) + "\n")
    assert "Warning" not in ok("rules", path, "--test", tmp_path / "other.csv", "-t", "y").err


def test_rules_of_a_rule_model_and_a_limit(data: Path, tmp_path: Path) -> None:
    path = tmp_path / "r.model"
    ok("train", data, "-t", "outcome", "-m", "rules", "--drop", "id", "-o", path)
    rules = fasttree.load(path).rules_
    assert ok("rules", path).out == rules.to_text() + "\n"
    assert ok("rules", path, "--limit", 2).out == rules.to_text(2) + "\n"


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("method", ["c45", "rules"])
def test_rules_judged_by_held_out_rows(
    data: Path, tmp_path: Path, ending: str, method: str
) -> None:
    """With columns that the model does not know, in another order, and a postcode with zeros."""

    def table(seed: int) -> pa.Table:
        found = patients(300, seed)
        zips = [f"00{k % 3}" for k in range(300)]
        found = found.append_column("zip", pa.array(zips))
        return found.select([*found.column_names[::-1]])

    write_csv(data, table(1))
    path = tmp_path / "z.model"
    words = ("--drop", "id", "--categorical", "zip", "-o", path)
    ok("train", data, "-t", "outcome", "-m", method, *words)
    held = table(2)
    other = tmp_path / f"held.{ending}"
    if ending == "csv":
        write_csv(other, held)
    else:
        parquet.write_table(held, other)
    model = fasttree.load(path)
    rules = model.rules_ if method == "rules" else model.rules()
    expected = rules.evaluate(held.select(list(rules.schema.names)), held["outcome"])
    assert ok("rules", path, "--test", other, "-t", "outcome").out == expected.to_text() + "\n"
    printed = ok("rules", path, "--test", other, "-t", "outcome", "-f", "json").json
    right = int((model.predict(held.select(list(rules.schema.names))) == held["outcome"]).sum())
    if method == "rules" or "pulse" not in str(rules):
        assert printed["held_out"]["errors"] == 300 - right


def test_rules_judged_by_rows_that_do_not_fit(model: Path, data: Path, tmp_path: Path) -> None:
    for words, code, message in (
        (("--test", data), 2, "--test needs --target COL"),
        (("-t", "outcome"), 2, "--target needs --test FILE"),
        (("--test", data, "-t", "outcom"), 3, "has no column 'outcom' (--target): did you mean"),
        (("--test", data, "-t", "ward"), 2, "which is an attribute of the model"),
        (("--test", data, "-t", "outcome", "-o", data, "--force"), 5, "is also an input"),
    ):
        result = run("rules", model, *words)
        assert result.code == code
        assert message in result.err.replace("\n", " ")
    odd = write_csv(tmp_path / "odd.csv", patients(20).drop_columns(["age"]))
    result = run("rules", model, "--test", odd, "-t", "outcome")
    assert result.code == 3
    assert "has no column 'age'" in result.err


@pytest.mark.parametrize("format", sorted(EXPORTERS))
def test_exports(model: Path, tmp_path: Path, format: str) -> None:
    fitted = fasttree.load(model)
    try:
        expected = fitted.export(format)
    except (ValueError, ImportError) as refusal:
        result = run("export", model, "--to", format)
        is_absent = isinstance(refusal, ImportError)
        start = "Error: " if is_absent else f"Error: --to {format}: "
        assert (result.code, result.err.startswith(start)) == (1 if is_absent else 2, True)
        return
    path = tmp_path / f"m{EXPORTERS[format].ending}"
    ok("export", model, "--to", format, "-o", path)
    content = expected.encode() if isinstance(expected, str) else expected
    assert path.read_bytes() == content
    if EXPORTERS[format].is_text:
        assert ok("export", model, "--to", format).out.rstrip("\n") == str(expected).rstrip("\n")


def test_export_options_and_the_list(model: Path) -> None:
    fitted = fasttree.load(model)
    text = ok("export", model, "--to", "sql", "--set", "dialect=duckdb", "--set", "leaf=true").out
    assert text.rstrip("\n") == fitted.export("sql", dialect="duckdb", leaf=True).rstrip("\n")
    listing = ok("export", "--list").out
    as_json = ok("export", "--list", "--json").json
    assert list(as_json) == list(EXPORTERS)
    for name, exporter in EXPORTERS.items():
        assert f"{name} " in listing
        assert as_json[name]["help"] == exporter.help
        if as_json[name]["options"] is None:
            with pytest.raises(ImportError):
                exporter.load()
        else:
            assert set(as_json[name]["options"]) == set(exporter.options())


# -- choosing --------------------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", ["entropy", "gini", "gain_ratio", "ami", "mic"])
def test_rank(data: Path, criterion: str) -> None:
    table = patients().drop(["id"])
    expected = fasttree.rank_attributes(
        table.select(ATTRIBUTES), table["outcome"], criterion=criterion
    )
    args = ("rank", data, "-t", "outcome", "--drop", "id", "-c", criterion)
    found = ok(*args, "--json").json
    assert found["attributes"] == [{"attribute": n, "score": s} for n, s in expected]
    assert (found["target"], found["criterion"], found["rows"]) == ("outcome", criterion, 400)
    for width in (40, 60, 80, 120):
        lines = ok(*args, width=width).out.splitlines()
        assert max(map(cell_len, lines)) <= width
        assert [line.split()[0] for line in lines[: lines.index("")]] == ["column", *ATTRIBUTES]
        ranked = lines[lines.index("") + 2 :]
        assert [line.split()[:2] for line in ranked] == [[n, f"{s:.6f}"] for n, s in expected]
        bars = [line.count("█") for line in ranked]
        longest = max(bars)
        for bar, (_, score) in zip(bars, expected, strict=True):
            assert bar == max(round(score / expected[0].score * longest), score > 0)


def test_rank_says_where_there_is_no_split(tmp_path: Path) -> None:
    table = pa.table({"x": [1, 2, 3, 4], "same": [1, 1, 1, 1], "y": ["a", "a", "b", "b"]})
    out = ok("rank", write_csv(tmp_path / "t.csv", table), "-t", "y").out
    assert re.search(r"^same +no split$", out, re.M)


def test_rank_shows_a_column_without_a_name(tmp_path: Path) -> None:
    table = pa.table({"": [1, 2, 3, 4], "y": ["a", "a", "b", "b"]})
    out = ok("rank", write_csv(tmp_path / "t.csv", table), "-t", "y").out
    assert re.search(r'^""  1\.000000', out, re.M)


@pytest.mark.parametrize("metric", ["accuracy", "log_loss"])
def test_rank_by_what_a_model_loses(data: Path, metric: str) -> None:
    path = data.with_name("o.model")
    ok("train", data, "-t", "outcome", "--drop", "id", "-m", "cart", "-o", path)
    model, table = fasttree.load(path), patients()
    expected = fasttree.permutation_importance(
        model, table.select(ATTRIBUTES), table["outcome"], metric=metric, repeats=4, random_state=2
    )
    args = ("rank", data, "-t", "outcome", "--model", path, "--metric", metric)
    args += ("--repeats", 4, "--seed", 2)
    found = ok(*args, "--json").json
    best_first = np.argsort(-expected.means, kind="stable")
    assert found["attributes"] == [
        {
            "attribute": expected.names[a],
            "score": pytest.approx(expected.means[a], abs=1e-12),
            "sd": pytest.approx(expected.sds[a], abs=1e-12),
        }
        for a in best_first
    ]
    assert found["score"] == expected.score
    assert (found["target"], found["metric"], found["rows"]) == ("outcome", metric, 400)
    assert found["repeats"] == 4
    for width in (40, 80, 120):
        lines = ok(*args, width=width).out.splitlines()
        assert max(map(cell_len, lines)) <= width
        ranked = lines[1 : lines.index("")]
        assert [line.split()[0] for line in ranked] == [expected.names[a] for a in best_first]
        means = [float(line.split()[1]) for line in ranked]
        assert means == pytest.approx(expected.means[best_first], abs=5e-5)
        bars = [line.count("█") for line in ranked]
        assert bars == sorted(bars, reverse=True)
        assert all(bar == 0 for bar, mean in zip(bars, means, strict=True) if mean <= 0)
        said = " ".join(lines[lines.index("") + 1 :])
        assert said == "mean (standard deviation) of 4 shuffles"
    assert ok(*args[:-4], "--repeats", 1, "--json").json["attributes"][0]["sd"] is None


def test_evaluate(data: Path) -> None:
    names = ["c45", "smml", "rules"]
    args = ("evaluate", data, "-t", "outcome", "--drop", "id", "--folds", 4, "--seed", 3)
    found = ok(*args, "--methods", ",".join(names), "--json").json
    estimators = {
        "C4.5": fasttree.C45Classifier(),
        "SMML": fasttree.SMMLClassifier(),
        "rules": fasttree.RuleClassifier(base=fasttree.C45Classifier(pruning=None)),
    }
    table = patients()
    expected = fasttree.compare_methods(
        table.select(ATTRIBUTES), table["outcome"], estimators, folds=4, random_state=3
    )
    assert (found["rows"], found["folds"], found["target"]) == (400, 4, "outcome")
    assert [one["method"] for one in found["methods"]] == names
    for one, title in zip(found["methods"], estimators, strict=True):
        for measure in ("accuracy", "auc", "log_loss", "brier", "leaves", "depth"):
            spread = expected.spread(title, measure)
            mean, se = (None if np.isnan(v) else pytest.approx(v) for v in (spread.mean, spread.se))
            assert one[measure] == mean
            assert one[f"{measure}_se"] == se
        assert one["error"] == pytest.approx(1 - one["accuracy"])
        assert one["best"] == (title in expected.best())
    best = expected.best()[0]
    for difference in expected.differences(baseline=best):
        one = found["methods"][list(estimators).index(difference.first)]
        assert one["p_value"] == pytest.approx(difference.p_value)
        assert one["differs"] == (difference.p_value < 0.05)
    out = ok(*args, "-m", "c45", "-m", "smml", "-m", "rules", width=100).out
    for one, title in zip(found["methods"], estimators, strict=True):
        row = next(line for line in out.splitlines() if line.startswith(title))
        mark = "*" if one["best"] else "v" if one["differs"] else " "
        assert f"{one['accuracy']:.4f} ± {one['accuracy_se']:.4f}{mark}" in row
        assert f"{one['error']:.4f}" in row
        assert f"{one['auc']:.4f} ± {one['auc_se']:.4f}" in row


def visits(n_patients: int = 60) -> pa.Table:
    """Three visits of each patient, alike but for the time; nothing tells who is ill."""
    rng = np.random.default_rng(0)
    patient = np.repeat(np.arange(n_patients), 3)
    columns = {name: rng.normal(size=n_patients).round(3)[patient] for name in "ab"}
    ill = rng.integers(0, 2, n_patients)[patient]
    names = np.char.add("p", patient.astype(str))
    return pa.table(columns | {"patient": names, "n": 1 + patient % 2, "ill": ill})


def test_rows_of_a_group_stay_together(tmp_path: Path) -> None:
    table = visits()
    path = write_csv(tmp_path / "visits.csv", table)
    X, y, patient = table.select(["a", "b"]), table["ill"], table["patient"]
    args = ("evaluate", path, "-t", "ill", "--drop", "n", "-m", "id3", "--folds", 5)
    found = ok(*args, "--group", "patient", "--repeats", 2, "--json").json
    estimators = {"ID3": fasttree.ID3Classifier()}
    expected = fasttree.compare_methods(X, y, estimators, folds=5, groups=patient, repeats=2)
    assert found["methods"][0]["accuracy"] == pytest.approx(expected.spread("ID3").mean)
    assert (found["folds"], found["repeats"]) == (5, 2)
    assert [one["name"] for one in found["columns"]] == ["a", "b"]
    assert found["methods"][0]["accuracy"] < 0.7
    one_by_one = ok(*args, "--drop", "n,patient", "--json").json
    assert one_by_one["methods"][0]["accuracy"] > 0.9
    assert "\n2 times 5 folds of 180 rows" in ok(*args, "--group", "patient", "--repeats", 2).out


def test_a_model_of_groups(tmp_path: Path) -> None:
    table = visits()
    path, model = write_csv(tmp_path / "visits.csv", table), tmp_path / "visits.model"
    words = ("train", path, "-t", "ill", "-m", "cart", "--group", "patient", "-o", model, "--force")
    found = ok(*words, "--drop", "n", "--json").json
    assert found["attributes"] == 2
    X, y, patient = table.select(["a", "b"]), table["ill"], table["patient"]
    expected = fasttree.CARTClassifier().fit(X, y, groups=patient)
    assert fasttree.load(model).tree_.fingerprint() == expected.tree_.fingerprint()
    assert expected.get_n_leaves() < fasttree.CARTClassifier().fit(X, y).get_n_leaves()
    held = ok(*words, "--drop", "n", "--holdout", 0.3, "--json").json
    assert (held["rows"] % 3, held["test"]["rows"] % 3) == (0, 0)
    assert ok(*words, "--drop", "n", "--test", path, "--json").json["test"]["rows"] == 180
    # Whole weights are copies, which may be on both sides; without groups they are drawn one by one.
    words = ("train", path, "-t", "ill", "--weights", "n", "--drop", "patient", "-o", model)
    held = ok(*words, "--force", "--holdout", 0.3, "--json").json
    assert 180 < held["rows"] + held["test"]["rows"] <= 270


def test_compare_holds_groups_out(tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    path = write_csv(tmp_path / "visits.csv", visits())
    found = ok("compare", path, "-t", "ill", "--drop", "n", "--group", "patient", "--json").json
    assert found["train_rows"] % 3 == found["test_rows"] % 3 == 0
    assert found["models"][0]["accuracy"] < 0.8


def test_evaluate_judges_all_methods_and_says_what_its_signs_are(data: Path) -> None:
    args = ("evaluate", data, "-t", "outcome", "--drop", "id", "--folds", 2)
    found = ok(*args, "--json").json
    assert [one["method"] for one in found["methods"]] == list(METHODS)
    assert {"tree", "rules"} < set(METHODS)
    out = ok(*args, "-m", "id3,c45", width=100).out
    assert "AUC" in out
    assert "2 folds of 400 rows, mean ± standard error (corrected); * best" in out
    narrow = ok(*args, "-m", "id3,c45", width=45).out
    assert "±" not in narrow


@pytest.mark.parametrize("width", [45, 60, 80, 100, 120])
def test_evaluate_fits_the_terminal(data: Path, width: int) -> None:
    args = ("evaluate", data, "-t", "outcome", "--drop", "id", "--folds", 2, "-m", "id3,c45")
    lines = ok(*args, width=width).out.splitlines()
    assert max(map(cell_len, lines)) <= width
    assert "…" not in "".join(lines)


def test_methods_that_are_clearly_worse_are_marked(tmp_path: Path) -> None:
    """Two attributes that say next to nothing alone."""
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 2, (2, 600)) + rng.normal(scale=0.05, size=(2, 600))
    y = np.where((a > 0.5) ^ (b > 0.5), "odd", "even")
    path = write_csv(tmp_path / "t.csv", pa.table({"a": a, "b": b, "y": y}))
    found = ok("evaluate", path, "-t", "y", "-m", "tree,c45", "--json").json
    by_name = {one["method"]: one for one in found["methods"]}
    assert by_name["tree"]["best"]
    assert by_name["c45"]["differs"]  # no first split gains enough for it
    out = ok("evaluate", path, "-t", "y", "-m", "tree,c45").out
    assert re.search(r"^C4\.5 +0\.\d{3} ± 0\.\d{3}v", out, re.M)
    assert out.endswith("v less accurate than tree, p < 0.05\n")
    out = ok("evaluate", path, "-t", "y", "-m", "tree,c45,smml").out
    assert out.endswith("v less accurate than tree, p < 0.05, not adjusted for 2 comparisons\n")


def test_compare_is_fair(data: Path) -> None:
    pytest.importorskip("sklearn")
    args = ("compare", data, "-t", "outcome", "--drop", "id")
    found = ok(*args, "--json").json
    assert [one["model"] for one in found["models"]] == ["fasttree tree", "scikit-learn"]
    assert found["train_rows"] + found["test_rows"] == 400
    for one in found["models"]:
        assert one["fit_seconds"] > 0 < one["predict_seconds"]
        right = one["accuracy"] * found["test_rows"]
        assert right == pytest.approx(round(right))
    out = ok(*args).out
    assert "fasttree tree" in out
    assert f"Trained on {found['train_rows']} rows" in out


def test_compare_sees_the_same_tree_where_both_grow_it(tmp_path: Path) -> None:
    """Numbers that float32 holds, and no ties between splits to speak of: one tree, one accuracy."""
    pytest.importorskip("sklearn")
    rng = np.random.default_rng(1)
    X = rng.normal(size=(3000, 3)).astype(np.float32).astype(float)
    y = np.where(X[:, 0] + X[:, 1] > rng.normal(scale=0.3, size=3000), "a", "b")
    table = pa.table({"x": X[:, 0], "y": X[:, 1], "z": X[:, 2], "class": y})
    path = write_csv(tmp_path / "t.csv", table)
    ours, theirs = ok("compare", path, "-t", "class", "--json").json["models"]
    assert ours["leaves"] == pytest.approx(theirs["leaves"], rel=0.03)
    assert ours["accuracy"] == pytest.approx(theirs["accuracy"], abs=0.02)


def test_compare_reads_every_kind_of_column(tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    table = patients(200)
    days = np.datetime64("2024-01-01") + np.arange(200)
    flags = np.arange(200) % 3 == 0
    table = table.append_column("day", pa.array(days)).append_column("flag", pa.array(flags))
    table = table.append_column("huge", pa.array(np.geomspace(1e-300, 1e300, 200)))
    path = tmp_path / "t.parquet"
    parquet.write_table(table, path)
    found = ok("compare", path, "-t", "outcome", "--json").json
    assert all(one["accuracy"] > 0.5 for one in found["models"])


def test_compare_without_scikit_learn(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without("sklearn", monkeypatch)
    result = run("compare", data, "-t", "outcome")
    assert result.code == 1
    assert result.err == "Error: compare needs scikit-learn: pip install scikit-learn\n"


# -- the others ------------------------------------------------------------------------------------


def test_demo(monkeypatch: pytest.MonkeyPatch) -> None:
    out = ok("demo", "--rows", 2000).out
    X, y = fasttree.datasets.play_tennis()
    model = fasttree.ID3Classifier().fit(X, y)
    assert model.rules().to_text() in out
    assert "└─ Outlook = Rain" in out
    assert "scikit-learn takes" in out
    without("sklearn", monkeypatch)
    out = ok("demo", "--rows", 2000).out
    assert "scikit-learn is not installed" in out
    assert "scikit-learn takes" not in out


def test_what_the_demo_tells_to_try_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    out = ok("demo", "--rows", 1000).out
    commands = [line.split()[1:] for line in out.splitlines() if line.startswith("fasttree ")]
    commands = [command for command in commands if command[0] in (*ALL, "--help")]
    assert [command[0] for command in commands][:3] == ["demo", "train", "show"]
    for command in commands:
        if command[0] != "export" or command[3] in EXPORTERS:
            ok(*command)
    assert len((tmp_path / "tennis.csv").read_text().splitlines()) == 15
    assert fasttree.load("tennis.model").tree_.n_leaves == 5


ALL = (
    "train",
    "score",
    "show",
    "rules",
    "export",
    "evaluate",
    "rank",
    "compare",
    "study",
    "demo",
    "version",
)


def test_version() -> None:
    assert ok("--version").out == f"fasttree {fasttree.__version__}\n"
    found = ok("version", "--json").json
    assert found["fasttree"] == fasttree.__version__
    assert found["numpy"] == np.__version__
    assert f"fasttree      {fasttree.__version__}" in ok("version").out


@pytest.mark.parametrize("command", ALL)
def test_every_command_has_help_with_examples(command: str) -> None:
    out = ok(command, "--help").out
    assert f"fasttree {command}" in out
    assert command == "version" or "Examples" in out


def test_help_is_the_answer_to_nothing() -> None:
    assert ok().out == ok("--help").out
    listed = re.findall(r"^│ (\w+) ", ok("--help").out, re.M)
    assert sorted(listed) == sorted(ALL)
    for name, method in METHODS.items():
        assert re.search(
            rf"^ +{name} +{re.escape(method.what[:30])}", ok("train", "--help").out, re.M
        )


def test_train_and_score_read_files_alike(tmp_path: Path) -> None:
    """Numbers, words, days, truths and holes in a CSV mean the same to both."""
    table = patients(300, seed=2).drop(["id"])
    days = np.datetime64("2024-01-01") + np.arange(300)
    table = table.append_column("day", pa.array(days))
    table = table.append_column("flag", pa.array(np.array(["TRUE", "FALSE"])[np.arange(300) % 2]))
    train, path = write_csv(tmp_path / "t.csv", table), tmp_path / "m.model"
    ok("train", train, "-t", "outcome", "-o", path)
    ok("score", path, train, "-o", tmp_path / "scored.csv", "-q")
    scored = pa.csv.read_csv(tmp_path / "scored.csv")
    from fasttree.files.tables import read_table

    predicted = fasttree.load(path).predict(read_table(train).drop(["outcome"]))
    assert scored.column(scored.column_names[-1]).to_pylist() == predicted.tolist()


def test_nothing_is_printed_that_steers_the_terminal(tmp_path: Path) -> None:
    table = pa.table({"\x1b[31mname": ["\x1b[2J", "b"] * 4, "y": ["p\x07", "q"] * 4})
    data, path = write_csv(tmp_path / "t.csv", table), tmp_path / "m.model"
    results = [
        ok("train", data, "-t", "y", "-o", path),
        ok("show", path),
        ok("rank", data, "-t", "y"),
        run("train", data, "-t", "\x1b[31mnam", "-o", path, "--force"),
    ]
    for result in results:
        assert "\x1b" not in result.out + result.err
        assert "\x07" not in result.out + result.err


def test_json_is_plain(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from fasttree.cli.terminal import print_json

    value: Any = {"a": np.float64("nan"), "b": [np.int64(3), float("inf"), None, "é"], 4: (True,)}
    print_json(value)
    text = capsys.readouterr().out
    assert json.loads(text) == {"a": None, "b": [3, None, None, "é"], "4": [True]}
    assert "é" in text
