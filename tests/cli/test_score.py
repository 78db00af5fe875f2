# SPDX-License-Identifier: BSD-3-Clause
"""`fasttree score`: what it writes, what it says, and with which exit code."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from commands import Result, ok, patients, run

import fasttree
from fasttree.cli.score import _Log

ATTRIBUTES = ["age", "pulse", "ward"]
CHILD = [sys.executable, "-c", "from fasttree.cli import main; main()"]


@pytest.fixture(scope="module")
def classifier() -> Any:
    table = patients()
    return fasttree.TreeClassifier(max_depth=5).fit(table.select(ATTRIBUTES), table["outcome"])


@pytest.fixture
def folder(tmp_path: Path, classifier: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    """With a model, and visits as CSV and as Parquet."""
    monkeypatch.chdir(tmp_path)
    classifier.save("m.model")
    visits = patients(200, seed=1)
    pa.csv.write_csv(visits, "visits.csv")
    pq.write_table(visits, "visits.parquet")
    return tmp_path


def predictions(path: str) -> list[Any]:
    table = pq.read_table(path) if path.endswith("parquet") else pa.csv.read_csv(path)
    return table["prediction"].to_pylist()


def refused(code: int, message: str, *words: object) -> Result:
    before = sorted(os.listdir("."))
    result = run("score", *words)
    assert result.code == code, result.err
    assert re.search(message, result.err.replace("\n", " ")), result.err
    assert result.out == ""
    assert sorted(os.listdir(".")) == before  # nothing is left of what was begun
    return result


# -- what it does --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", ["visits.csv", "visits.parquet"])
@pytest.mark.parametrize("target", ["o.csv", "o.parquet"])
def test_predictions_are_those_of_the_model(
    folder: Path, classifier: Any, source: str, target: str
) -> None:
    result = ok("score", "m.model", source, "-o", target)
    visits = patients(200, seed=1).select(ATTRIBUTES)
    assert predictions(target) == classifier.predict(visits).tolist()
    assert result.out == ""
    assert result.err.startswith("200 rows in ")


def test_every_column_that_can_be_asked_for(folder: Path, classifier: Any) -> None:
    ok(
        "score",
        "m.model",
        "visits.parquet",
        "-o",
        "o.parquet",
        "--columns",
        "id,ward",
        "--proba",
        "--leaf",
        "--explain",
    )
    table, visits = pq.read_table("o.parquet"), patients(200, seed=1)
    names = ["id", "ward", "prediction", "proba_ill", "proba_well", "leaf", "rule"]
    assert table.column_names == names
    assert table["id"].to_pylist() == visits["id"].to_pylist()
    assert (
        table["proba_ill"].to_pylist()
        == classifier.predict_proba(visits.select(ATTRIBUTES))[:, 0].tolist()
    )
    assert table["leaf"].to_pylist() == classifier.apply(visits.select(ATTRIBUTES)).tolist()
    ok("score", "m.model", "visits.parquet", "-o", "all.parquet", "--columns", "all")
    assert pq.read_table("all.parquet").column_names == [*visits.column_names, "prediction"]


def test_a_column_name_with_a_comma(folder: Path) -> None:
    visits = patients(20).append_column('a, "b"', pa.array(range(20)))
    pq.write_table(visits, "odd.parquet")
    ok("score", "m.model", "odd.parquet", "-o", "o.parquet", "--columns", 'id,"a, ""b"""')
    assert pq.read_table("o.parquet").column_names == ["id", 'a, "b"', "prediction"]


def test_the_report(folder: Path, classifier: Any) -> None:
    visits = patients(50, seed=2).to_pandas()
    visits.loc[3, "ward"] = "attic"
    visits.loc[[5, 6], "age"] = 200
    visits.to_parquet("odd.parquet")
    result = ok("score", "m.model", "odd.parquet", "-o", "o.csv", "--report", "r.json", "--json")
    report = json.loads(Path("r.json").read_text())
    assert result.json == report
    assert result.err == ""
    assert report["rows"] == 50
    assert report["predictions"] == {
        label: predictions("o.csv").count(label) for label in classifier.classes_
    }
    assert report["columns"]["ward"]["unseen"] == 1
    assert report["columns"]["ward"]["unseen_examples"] == ["attic"]
    assert report["columns"]["age"]["above"] == 2
    assert report["columns"]["pulse"]["missing"] == int(visits["pulse"].isna().sum())
    assert report["ignored_columns"] == ["id", "outcome"]
    assert report["files"] == [
        {"input": "odd.parquet", "output": "o.csv", "rows": 50, "status": "scored"}
    ]


def test_the_summary_says_what_is_odd(folder: Path) -> None:
    visits = patients(50, seed=2).to_pandas()
    visits.loc[3, "ward"] = "at\x1b[31mtic"
    visits.loc[[5, 6], "age"] = 200
    visits.to_parquet("odd.parquet")
    lines = ok("score", "m.model", "odd.parquet", "-o", "o.csv").err.splitlines()
    assert "column 'age': 2 above the training range" in lines
    assert "column 'ward': 1 unseen (at\\x1b[31mtic)" in lines
    assert lines[-1].startswith("missing values in column 'pulse': ")


def test_quiet_is_quiet(folder: Path) -> None:
    result = ok("score", "m.model", "visits.csv", "-o", "o.csv", "--quiet")
    assert result.out == result.err == ""


def test_a_line_now_and_then_where_there_is_no_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = 0.0
    monkeypatch.setattr("fasttree.cli.score.time.monotonic", lambda: now)
    log = _Log()
    for now, rows in ((4.0, 100), (10.0, 2_000_000), (12.0, 2_100_000), (20.0, 4_000_000)):  # noqa: B007
        log("visits.csv", rows / 8_000_000, rows)
    assert capsys.readouterr().err.splitlines() == [
        "visits.csv: 25%, 2,000,000 rows, 200,000 rows per second",
        "visits.csv: 50%, 4,000,000 rows, 200,000 rows per second",
    ]


def test_a_bar_on_a_terminal(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    from rich.console import Console

    shown: list[str] = []
    console = Console(force_terminal=True, width=100, file=open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
    monkeypatch.setattr("fasttree.cli.score.stderr", lambda: console)
    write = console.file.write
    monkeypatch.setattr(
        console.file, "write", lambda text: shown.append(text) or write(text), raising=False
    )
    ok("score", "m.model", "visits.csv", "-o", "o.csv")
    console.file.close()
    assert "visits.csv" in "".join(shown)
    assert "200 rows" in "".join(shown)


def test_resume(folder: Path) -> None:
    ok("score", "m.model", "visits.csv", "-o", "out/")
    result = ok("score", "m.model", "visits.csv", "visits.parquet", "-o", "out/", "--resume")
    assert "1 input already scored by an earlier run, outputs kept" in result.err
    assert predictions("out/visits.csv") == predictions("out/visits.parquet")
    refused(5, r"out/visits\.csv already exists", "m.model", "visits.csv", "-o", "out/")


# -- what it refuses -----------------------------------------------------------------------------------------------


def test_a_missing_column(folder: Path) -> None:
    pq.write_table(
        patients(20).rename_columns(["id", "Age", "pulse", "ward", "outcome"]), "odd.parquet"
    )
    message = r"odd\.parquet has no column 'age', which the model needs: did you mean 'Age'\?"
    refused(3, message, "m.model", "odd.parquet", "-o", "o.csv")
    Path("odd.csv").write_text("age;pulse;ward\n50;70;north\n")
    message = r"'age' \(and 2 others\), .* only one column, 'age;pulse;ward'\. If ';' .* use --delimiter ';'"
    refused(3, message, "m.model", "odd.csv", "-o", "o.csv")
    refused(
        3,
        "has no column 'name', which was requested",
        "m.model",
        "visits.csv",
        "-o",
        "o.csv",
        "--columns",
        "name",
    )


def test_an_extra_column(folder: Path) -> None:
    message = (
        r"visits\.csv has the column 'id', which the model does not use: leave it out, keep it"
    )
    refused(3, message, "m.model", "visits.csv", "-o", "o.csv", "--strict")
    ok("score", "m.model", "visits.csv", "-o", "o.csv")


def test_a_column_of_another_type(folder: Path) -> None:
    visits = patients(20)
    pq.write_table(visits.set_column(1, "age", pa.array(["old"] * 20)), "odd.parquet")
    message = r"odd\.parquet, row 0: column 'age' contains text, 'old': the model expects numbers: .*\(--lenient\)"
    refused(3, message, "m.model", "odd.parquet", "-o", "o.csv")
    result = ok("score", "m.model", "odd.parquet", "-o", "o.csv", "--lenient")
    assert "column 'age': 20 unreadable" in result.err
    pq.write_table(visits.set_column(3, "ward", pa.array(range(20))), "odd.parquet")
    refused(
        3,
        r"row 0: column 'ward' contains 0 \(number instead of text\)",
        "m.model",
        "odd.parquet",
        "-o",
        "p.csv",
    )


def test_an_empty_file(folder: Path) -> None:
    for name, problem in (
        ("empty.csv", "its first line must contain the column names"),
        ("empty.parquet", "it has 0 bytes"),
        ("empty.arrow", "it has 0 bytes"),
    ):
        Path(name).write_bytes(b"")
        refused(3, rf"{name} is empty: {problem}", "m.model", name, "-o", "o.csv")
    refused(3, r"none\.csv does not exist", "m.model", "none.csv", "-o", "o.csv")


def test_a_broken_row(folder: Path) -> None:
    Path("odd.csv").write_text("age,pulse,ward\n40,70,north\n\n41,70\n")
    refused(
        3,
        r"odd\.csv, line 4: 2 fields, but the header has 3",
        "m.model",
        "odd.csv",
        "-o",
        "o.csv",
    )
    result = ok("score", "m.model", "odd.csv", "-o", "o.csv", "--lenient")
    assert "1 broken row skipped" in result.err
    assert len(predictions("o.csv")) == 1
    Path("odd.csv").write_text("age,pulse,ward\n40,70,north\nforty,70,north\n")
    message = r"odd\.csv, line 3: column 'age' contains 'forty', which is not a number"
    refused(3, message, "m.model", "odd.csv", "-o", "p.csv")


def test_no_rows_are_no_error(folder: Path) -> None:
    pq.write_table(patients(10).slice(0, 0), "odd.parquet")
    result = ok("score", "m.model", "odd.parquet", "-o", "o.parquet", "--proba")
    assert "Warning: odd.parquet has no rows." in result.err
    assert pq.read_table("o.parquet").num_rows == 0
    assert pq.read_table("o.parquet").column_names == ["prediction", "proba_ill", "proba_well"]


def test_an_output_that_exists(folder: Path) -> None:
    Path("o.csv").write_text("mine")
    refused(
        5,
        r"o\.csv already exists: choose another name, or overwrite it \(--force\)",
        "m.model",
        "visits.csv",
        "-o",
        "o.csv",
    )
    assert Path("o.csv").read_text() == "mine"
    ok("score", "m.model", "visits.csv", "-o", "o.csv", "--force")
    assert len(predictions("o.csv")) == 200


def test_outputs_that_cannot_be(folder: Path) -> None:
    refused(5, "the directory .* does not exist", "m.model", "visits.csv", "-o", "none/o.csv")
    refused(
        5, r"visits\.csv is also an input", "m.model", "visits.csv", "-o", "visits.csv", "--force"
    )
    refused(5, r"m\.model is the model file", "m.model", "visits.csv", "-o", "m.model", "--force")
    refused(
        5,
        "is not a regular file",
        "m.model",
        "visits.csv",
        "-o",
        os.devnull,
        "--output-format",
        "csv",
        "--force",
    )
    refused(
        5,
        "the directory none does not exist",
        "m.model",
        "visits.csv",
        "-o",
        "o.csv",
        "--report",
        "none/r.json",
    )
    refused(
        2,
        r"--report visits\.csv is also",
        "m.model",
        "visits.csv",
        "-o",
        "o.csv",
        "--report",
        "visits.csv",
    )


def test_a_folder_without_permission(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the system says it, since nothing is locked for root."""

    def refuse(*_: Any) -> None:
        raise PermissionError(13, "Permission denied")

    os.mkdir("locked")
    monkeypatch.setattr("fasttree.base.atomic._locked_file", refuse)
    refused(5, "Permission denied", "m.model", "visits.csv", "-o", "locked/o.csv")


def test_bad_models(folder: Path) -> None:
    whole = Path("m.model").read_bytes()
    Path("newer.model").write_bytes(whole.replace(b'"format_version":4,', b'"format_version":5,'))
    refused(
        4,
        r"newer\.model: .*version 5.*upgrade fasttree",
        "newer.model",
        "visits.csv",
        "-o",
        "o.csv",
    )
    Path("cut.model").write_bytes(whole[:-100])
    refused(4, r"cut\.model: ", "cut.model", "visits.csv", "-o", "o.csv")
    import zipfile

    with zipfile.ZipFile("bomb.model", "w", zipfile.ZIP_DEFLATED) as bomb:
        bomb.writestr("fasttree.json", b" " * 10**8)
    refused(4, r"bomb\.model: ", "bomb.model", "visits.csv", "-o", "o.csv")
    refused(4, r"visits\.csv: ", "visits.csv", "visits.csv", "-o", "o.csv")
    refused(4, r"none\.model: no such model file", "none.model", "visits.csv", "-o", "o.csv")


def test_wrong_usage(folder: Path) -> None:
    refused(2, "contradict", "m.model", "visits.csv", "-o", "o.csv", "--strict", "--lenient")
    refused(2, "--jobs must not be 0", "m.model", "visits.csv", "-o", "o.csv", "-j", 0)
    refused(
        2,
        "--delimiter must be a single",
        "m.model",
        "visits.csv",
        "-o",
        "o.csv",
        "--delimiter",
        ";;",
    )
    refused(
        2,
        r"o\.xls: the extension is not that of a known format",
        "m.model",
        "visits.csv",
        "-o",
        "o.xls",
    )
    refused(2, "format must be one of", "m.model", "visits.csv", "-o", "o.csv", "--format", "xls")
    refused(2, "Missing option", "m.model", "visits.csv")
    refused(2, "No such option", "m.model", "visits.csv", "-o", "o.csv", "--speed")
    os.mkdir("sub")
    Path("sub/visits.csv").write_text("age,pulse,ward\n")
    refused(
        2,
        "would both be written to out/visits.csv",
        "m.model",
        "visits.csv",
        "sub/visits.csv",
        "-o",
        "out/",
    )


@pytest.mark.skipif(os.name != "posix", reason="needs signals of POSIX")
def test_ctrl_c_leaves_nothing(folder: Path) -> None:
    pa.csv.write_csv(pa.concat_tables([patients(100_000)] * 20), "large.csv")
    words = [
        *CHILD,
        "score",
        "m.model",
        "large.csv",
        "-o",
        "o.csv",
        "--columns",
        "all",
        "--explain",
    ]
    child = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
    while not list(folder.glob(".o.csv.*")):
        assert child.poll() is None
        time.sleep(0.01)
    child.send_signal(signal.SIGINT)
    _, said = child.communicate()
    assert child.returncode == 130, said
    assert "Traceback" not in said
    assert sorted(os.listdir()) == ["large.csv", "m.model", "visits.csv", "visits.parquet"]


def test_help_has_examples() -> None:
    assert (
        "fasttree score patients.model visits.parquet -o scored.parquet"
        in ok("score", "--help", width=100).out
    )
