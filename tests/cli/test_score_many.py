# SPDX-License-Identifier: BSD-3-Clause
"""`fasttree score` of many inputs, of which some may be bad; of folders and patterns; and through pipes."""

from __future__ import annotations

import io
import json
import os
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
from commands import ok, patients, run

import fasttree
from fasttree.batch import ArgumentError, InputError, Report, score_files

ATTRIBUTES = ["age", "pulse", "ward"]
FASTTREE = [sys.executable, "-c", "from fasttree.cli import main; main()"]
N_ROWS = 30
on_posix = pytest.mark.skipif(os.name != "posix", reason="needs pipes of POSIX")


@pytest.fixture(scope="module")
def classifier() -> Any:
    table = patients()
    return fasttree.TreeClassifier(max_depth=5).fit(table.select(ATTRIBUTES), table["outcome"])


def visits(k: int) -> pa.Table:
    return patients(N_ROWS, seed=k + 1)


@pytest.fixture
def folder(tmp_path: Path, classifier: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A model, and a folder `in` with six files, of which two are bad: one at once, one in its last row."""
    monkeypatch.chdir(tmp_path)
    classifier.save("m.model")
    os.mkdir("in")
    for k in range(6):
        pa.csv.write_csv(visits(k), f"in/v{k}.csv")
    Path("in/v1.csv").write_text("name,value\n1,2\n")
    with open("in/v3.csv", "a") as file:
        file.write('99,"old",70,"north","ill"\n')
    return tmp_path


def predicted(k: int, classifier: Any) -> list[str]:
    found: list[str] = classifier.predict(visits(k).select(ATTRIBUTES)).tolist()
    return found


def predictions(path: str) -> list[str]:
    table = pq.read_table(path) if path.endswith("parquet") else pa.csv.read_csv(path)
    found: list[str] = table["prediction"].to_pylist()
    return found


def statuses(report: dict[str, Any]) -> dict[str, str]:
    return {file["input"]: file["status"] for file in report["files"]}


GOOD = (0, 2, 4, 5)


# -- bad inputs --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("jobs", [1, 2])
def test_bad_files_are_left_out_of_a_folder(folder: Path, classifier: Any, jobs: int) -> None:
    words = ("in/", "-o", "out/", "--keep-going", "--report", "r.json", "--quiet", "-j", jobs)
    result = run("score", "m.model", *words)
    assert result.code == 6
    assert result.out == ""
    *errors, last = result.err.splitlines()
    assert errors[0].startswith("Error: in/v1.csv has no column 'age'")
    assert errors[1].startswith("Error: in/v3.csv, line 32: column 'age' contains 'old'")
    assert last == "2 of 6 inputs could not be scored"
    assert sorted(path.name for path in Path("out").glob("v*")) == [f"v{k}.csv" for k in GOOD]
    for k in GOOD:
        assert predictions(f"out/v{k}.csv") == predicted(k, classifier)
    report = json.loads(Path("r.json").read_text())
    assert report["rows"] == N_ROWS * len(GOOD)
    assert sum(report["predictions"].values()) == N_ROWS * len(GOOD)
    assert statuses(report) == {
        f"in/v{k}.csv": "scored" if k in GOOD else "failed" for k in range(6)
    }
    for file in report["files"]:
        assert ("error" in file) == (file["status"] == "failed")
    assert "line 32" in report["files"][3]["error"]
    assert "error" not in report


@pytest.mark.parametrize("output", ["all.csv", "all.parquet", "all.arrow"])
def test_bad_files_are_left_out_of_a_file_with_all_their_rows(
    folder: Path, classifier: Any, output: str
) -> None:
    """Also those before the bad one."""
    words = ("in/", "-o", output, "--keep-going", "--explain", "--columns", "all", "--json")
    result = run("score", "m.model", *words)
    assert result.code == 6
    expected = [label for k in GOOD for label in predicted(k, classifier)]
    if output.endswith("arrow"):
        with pa.ipc.open_file(output) as file:
            table = file.read_all()
    else:
        table = pa.csv.read_csv(output) if output.endswith("csv") else pq.read_table(output)
    assert table["prediction"].to_pylist() == expected
    assert [int(i) for i in table["id"].to_pylist()] == list(range(N_ROWS)) * len(GOOD)
    assert result.json["rows"] == len(expected)
    assert list(folder.glob(".all*")) == []


def test_if_all_are_bad_nothing_is_made(folder: Path) -> None:
    Path("all.csv").write_text("mine")
    words = ("in/v1.csv", "in/v3.csv", "--keep-going", "--force", "--report", "r.json")
    for output in ("all.csv", "out/"):
        result = run("score", "m.model", *words, "-o", output)
        assert result.code == 3
        assert "2 of 2 inputs could not be scored" in result.err
        assert set(statuses(json.loads(Path("r.json").read_text())).values()) == {"failed"}
    assert Path("all.csv").read_text() == "mine"
    assert list(Path("out").glob("*")) == []


def test_files_that_are_none_are_bad_files(folder: Path, classifier: Any) -> None:
    Path("in/empty.csv").write_bytes(b"")
    Path("in/torn.parquet").write_bytes(b"PAR1" + b"x" * 100)
    names = ("in/none.csv", "in/empty.csv", "in/v0.csv", "in/torn.parquet")
    result = run("score", "m.model", *names, "-o", "out/", "--keep-going", "--resume")
    assert result.code == 6
    for message in ("in/none.csv does not exist", "empty.csv is empty", "torn.parquet cannot be"):
        assert message in result.err
    assert predictions("out/v0.csv") == predicted(0, classifier)


def test_the_bad_ones_are_made_when_they_are_mended(folder: Path, classifier: Any) -> None:
    for output in ("out/", "all.csv"):
        words = ("score", "m.model", "in/", "-o", output, "--keep-going", "--resume")
        pa.csv.write_csv(visits(1), "in/v1.csv")
        assert run(*words).code == 6
        pa.csv.write_csv(visits(3), "in/v3.csv")
        result = ok(*words)
        assert ("5 inputs already scored by an earlier run" in result.err) == (output == "out/")
        with open("in/v3.csv", "a") as file:
            file.write('99,"old",70,"north","ill"\n')
    assert predictions("all.csv") == [x for k in range(6) for x in predicted(k, classifier)]


def test_without_it_the_first_bad_file_ends_the_run_and_the_report_tells(
    folder: Path, classifier: Any
) -> None:
    Path("r.json").write_text("of yesterday")
    result = run("score", "m.model", "in/", "-o", "out/", "--report", "r.json")
    assert result.code == 3
    assert result.err.startswith("Error: in/v1.csv has no column 'age'")
    report = json.loads(Path("r.json").read_text())
    assert list(statuses(report).values()) == ["scored", "failed", *["not scored"] * 4]
    assert report["error"] == report["files"][1]["error"]
    assert report["rows"] == N_ROWS
    assert predictions("out/v0.csv") == predicted(0, classifier)
    # Into one file: nothing is there, so nothing counts.
    names = ("in/v0.csv", "in/v2.csv", "in/v3.csv", "in/v4.csv")
    assert run("score", "m.model", *names, "-o", "all.csv", "--report", "r.json").code == 3
    report = json.loads(Path("r.json").read_text())
    assert report["rows"] == 0
    assert report["predictions"] == {}
    assert sorted(statuses(report).items()) == [
        ("in/v0.csv", "not scored"),
        ("in/v2.csv", "not scored"),
        ("in/v3.csv", "failed"),
        ("in/v4.csv", "not scored"),
    ]


@pytest.mark.parametrize(
    ("words", "code", "error"),
    [
        (("none.model", "in/v0.csv", "-o", "o.csv"), 4, "no such model file"),
        (("m.model", "in/v0.csv", "-o", "there.csv"), 5, "there.csv already exists"),
        (
            ("m.model", "in/v0.csv", "-o", "o.xls"),
            2,
            "o.xls: the extension is not that of a known format",
        ),
        (("m.model", "none.csv", "-o", "o.csv"), 3, "none.csv does not exist"),
        (("m.model", "in/x*.csv", "-o", "o.csv"), 3, "no file matches the pattern in/x*.csv"),
        (("m.model", "in/v0.csv", "-o", "o.csv", "--strict", "--lenient"), 2, "contradict"),
    ],
)
def test_there_is_a_report_of_every_failure(
    folder: Path, words: tuple[str, ...], code: int, error: str
) -> None:
    """That of yesterday would tell of other work."""
    Path("there.csv").write_text("mine")
    Path("r.json").write_text("of yesterday")
    assert run("score", *words, "--report", "r.json").code == code
    report = json.loads(Path("r.json").read_text())
    assert error in report["error"]
    assert report["rows"] == 0


def test_a_report_is_no_input(folder: Path) -> None:
    before = Path("in/v0.csv").read_bytes()
    for name in ("in", "in/*.csv", "in/v0.csv"):
        result = run("score", "m.model", name, "-o", "o.csv", "--report", "in/v0.csv")
        assert result.code == 2
    assert Path("in/v0.csv").read_bytes() == before
    assert run("score", "m.model", "in", "-o", "o.csv", "--report", "-").code == 2


@pytest.mark.parametrize("output", ["o.parquet", "o.csv", "o.csv.gz", "o.arrow"])
@pytest.mark.parametrize("words", [(), ("--keep-going",)])
def test_nothing_is_said_after_the_message(
    folder: Path, output: str, words: tuple[str, ...]
) -> None:
    """A writer that is put away half-way, by whatever and whenever, does not complain of the file it was for."""
    table = pa.concat_tables([patients(100_000)] * 2)
    ages = table["age"].to_pylist()
    ages[-1] = "old"
    odd = table.set_column(1, "age", pa.array(map(str, ages)))
    pa.csv.write_csv(odd, "odd.csv")
    for name in ("odd.csv", "in/v0.csv"):
        command = [*FASTTREE, "score", "m.model", name, "odd.csv", "-o", output, *words]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == (6 if words and name != "odd.csv" else 3)
        errors = [line for line in done.stderr.splitlines() if line.startswith("Error: odd.csv, ")]
        assert errors
        assert not any(word in done.stderr for word in ("Traceback", "__del__", "Exception"))


@on_posix
@pytest.mark.parametrize("output", ["o.parquet", "o.csv", "o.arrow"])
def test_nothing_is_said_after_the_message_of_a_full_disk(folder: Path, output: str) -> None:
    """A limit on the size of files is as good as a disk that is full."""
    import resource

    pa.csv.write_csv(pa.concat_tables([patients(100_000)] * 3), "large.csv")

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))

    command = [*FASTTREE, "score", "m.model", "large.csv", "-o", output, "--columns", "all"]
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=limit)
    assert done.returncode == 5
    assert done.stderr.splitlines() == [f"Error: {output} cannot be written: File too large"]
    assert list(folder.glob("*o.*")) == []


# -- in Python ---------------------------------------------------------------------------------------------------------


def test_in_python(folder: Path, classifier: Any) -> None:
    report = score_files(classifier, ["in"], "out/", keep_going=True)
    assert [file.input for file in report.failed] == ["in/v1.csv", "in/v3.csv"]
    assert report.error is None
    whole = Report()
    with pytest.raises(InputError, match="has no column 'age'"):
        score_files(classifier, ["in"], "again/", report=whole)
    assert [file.status for file in whole.files] == ["scored", "failed", *["not scored"] * 4]
    assert whole.error is not None
    assert "has no column 'age'" in whole.error
    assert whole.seconds > 0


# -- folders and patterns ----------------------------------------------------------------------------------------------


@pytest.fixture
def tree(folder: Path) -> Path:
    """Data files of several kinds in a folder and below it, among others that are none."""
    os.makedirs("t/sub/deep")
    for k, name in enumerate(["b.csv", "a.parquet", "sub/c.csv", "sub/deep/d.csv", "B.csv"]):
        table = visits(k)
        path = f"t/{name}"
        pq.write_table(table, path) if name.endswith("parquet") else pa.csv.write_csv(table, path)
    for name in ("t/notes.txt", "t/.hidden.csv", "t/.b.csv.0123456789ab.part", "t/r.json"):
        Path(name).write_text("no table")
    return folder


def order_of(*words: str) -> list[str]:
    report = ok("score", "m.model", *words, "-o", "o.csv", "--force", "--json").json
    return [file["input"] for file in report["files"]]


def test_a_folder_means_the_data_files_in_it(tree: Path, classifier: Any) -> None:
    assert order_of("t") == ["t/B.csv", "t/a.parquet", "t/b.csv"]
    expected = [x for k in (4, 1, 0) for x in predicted(k, classifier)]
    assert predictions("o.csv") == expected
    assert order_of("t/sub/", "t") == ["t/sub/c.csv", "t/B.csv", "t/a.parquet", "t/b.csv"]


def test_a_pattern_that_the_shell_has_not_expanded(tree: Path) -> None:
    assert order_of("t/*.csv") == ["t/B.csv", "t/b.csv"]
    assert order_of("t/[ab].*") == ["t/a.parquet", "t/b.csv"]
    below = ["t/B.csv", "t/b.csv", "t/sub/c.csv", "t/sub/deep/d.csv"]
    assert order_of("t/**/*.csv") == below
    Path("t/odd[1].csv").write_bytes(Path("t/b.csv").read_bytes())
    assert order_of("t/odd[1].csv") == ["t/odd[1].csv"]  # there is a file of this name


def test_what_stands_for_nothing(tree: Path) -> None:
    os.mkdir("none")
    for words, message in (
        (["none"], "none is a folder without data files (.csv, "),
        (["t/*.feather"], "no file matches the pattern t/*.feather"),
        (["t/s*"], "no file matches the pattern t/s*"),  # a folder is no file
    ):
        for more in ([], ["--keep-going"]):
            result = run("score", "m.model", *words, "-o", "o.csv", *more)
            assert result.code == 3
            assert message in result.err
    assert not Path("o.csv").exists()


# -- pipes -------------------------------------------------------------------------------------------------------------


def piped(*words: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*FASTTREE, "score", "m.model", *words], input=given, capture_output=True)


def as_bytes(table: pa.Table, kind: str) -> bytes:
    sink = io.BytesIO()
    if kind == "csv":
        pa.csv.write_csv(table, sink)
    elif kind == "parquet":
        pq.write_table(table, sink)
    else:
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
    return sink.getvalue()


def from_bytes(data: bytes, kind: str) -> pa.Table:
    if kind == "csv":
        return pa.csv.read_csv(io.BytesIO(data))
    if kind == "parquet":
        return pq.read_table(io.BytesIO(data))
    return pa.ipc.open_stream(data).read_all()


@pytest.mark.parametrize("kind", ["csv", "parquet", "arrow"])
@pytest.mark.parametrize("target", ["csv", "parquet", "arrow"])
def test_from_pipe_to_pipe(folder: Path, classifier: Any, kind: str, target: str) -> None:
    words = ["-", "-o", "-", "--columns", "id", "--explain"]
    words += [] if kind == "csv" else ["--format", kind]
    words += [] if target == "csv" else ["--output-format", target]
    done = piped(*words, given=as_bytes(visits(0), kind))
    assert done.returncode == 0, done.stderr
    table = from_bytes(done.stdout, target)
    assert table.column_names == ["id", "prediction", "rule"]
    assert table["prediction"].to_pylist() == predicted(0, classifier)
    assert done.stderr.startswith(b"30 rows in ")  # and nothing of it is among the rows


def test_the_rows_that_are_printed_are_those_of_a_file(folder: Path) -> None:
    ok("score", "m.model", "in/v0.csv", "-o", "o.csv", "--proba")
    result = ok("score", "m.model", "in/v0.csv", "-o", "-", "--proba", "--quiet")
    assert result.out == Path("o.csv").read_text()
    assert result.err == ""


def test_errors_of_a_pipe_name_it(folder: Path) -> None:
    done = piped("-", "-o", "o.csv", given=b"age,pulse,ward\n40,70,north\nold,70,north\n")
    assert done.returncode == 3
    assert done.stderr.startswith(b"Error: standard input, line 3: column 'age' contains 'old'")
    done = piped("-", "-o", "o.csv")
    assert (
        done.stderr
        == b"Error: standard input is empty: its first line must contain the column names\n"
    )
    assert not Path("o.csv").exists()


def test_only_whole_files_are_printed_if_bad_ones_are_left_out(
    folder: Path, classifier: Any
) -> None:
    done = piped("in/v3.csv", "-", "-o", "-", "--keep-going", given=as_bytes(visits(9), "csv"))
    assert done.returncode == 6
    assert from_bytes(done.stdout, "csv")["prediction"].to_pylist() == predicted(9, classifier)
    assert b"Error: in/v3.csv, line 32" in done.stderr
    done = piped("in/v3.csv", "-o", "-", "--keep-going")
    assert (done.returncode, done.stdout) == (3, b"")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-", "-", "-o", "o.csv"], "can be read only once"),
        (["-", "-o", "out/"], "has no name for an output file in out"),
        (["-", "-o", "o.csv", "--resume"], "resume is not supported"),
        (["in/v0.csv", "-o", "-", "--resume"], "resume is not supported"),
        (["in/v0.csv", "-o", "-", "--json"], "--json and -o - both go to stdout"),
    ],
)
def test_what_pipes_cannot_do(folder: Path, words: list[str], message: str) -> None:
    result = run("score", "m.model", *words)
    assert result.code == 2
    assert message in result.err
    assert result.out == ""


def test_in_python_a_pipe_is_one_input(classifier: Any) -> None:
    with pytest.raises(ArgumentError, match="can be read only once"):
        score_files(classifier, ["-", "-"], "o.csv")


@on_posix
def test_a_reader_that_has_seen_enough(folder: Path) -> None:
    """Quiet, with the exit code that shells give a program that a broken pipe has ended."""
    pa.csv.write_csv(pa.concat_tables([patients(100_000)] * 3), "large.csv")
    for kind in ("csv", "parquet", "arrow"):
        words = [*FASTTREE, "score", "m.model", "large.csv", "-o", "-", "--quiet"]
        words += ["--columns", "all", "--output-format", kind, "--report", "r.json"]
        child = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert child.stdout is not None
        assert child.stderr is not None
        assert child.stdout.read(4)
        child.stdout.close()
        assert child.stderr.read() == b""
        child.stderr.close()
        assert child.wait(60) == 141
        assert json.loads(Path("r.json").read_text())["files"][0]["status"] == "not scored"


@on_posix
def test_ctrl_c_leaves_a_report_and_nothing_else(folder: Path) -> None:
    pa.csv.write_csv(pa.concat_tables([patients(100_000)] * 20), "large.csv")
    words = ["score", "m.model", "in/v0.csv", "large.csv", "-o", "out/", "--report", "r.json"]
    child = subprocess.Popen([*FASTTREE, *words, "--columns", "all"], stderr=subprocess.PIPE)
    while not list(folder.glob("out/.large.csv.*")):
        assert child.poll() is None
        time.sleep(0.01)
    child.send_signal(signal.SIGINT)
    child.communicate()
    assert child.returncode == 130
    report = json.loads(Path("r.json").read_text())
    assert statuses(report) == {"in/v0.csv": "scored", "large.csv": "not scored"}
    assert sorted(p.name for p in Path("out").iterdir() if p.suffix != ".jsonl") == ["v0.csv"]
