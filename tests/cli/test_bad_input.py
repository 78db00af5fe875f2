# SPDX-License-Identifier: BSD-3-Clause
"""What is wrong is said in a line or two on stderr, with the remedy, and by the exit code."""

from __future__ import annotations

import json
import os
import stat
import zipfile
from pathlib import Path

import pytest
from commands import data, ok, run, write_csv

import fasttree

__all__ = ["data"]

ROWS = "a,b,y\n1,x,p\n2,y,q\n3,x,p\n"
FILES = {
    "good.csv": ROWS,
    "empty.csv": "",
    "header.csv": "a,b,y\n",
    "unended.csv": "a,b,y",
    "broken.csv": "a,b,y\n1,x,p\n2,y\n",
    "one_class.csv": "a,b,y\n1,x,p\n2,y,p\n",
    "holes.csv": "a,b,y\n1,x,p\n2,y,\n",
    "numbers.csv": "a,b,y\n1,x,0.5\n2,y,1\n",
    "only.csv": "y\np\nq\n",
    "clock.csv": "a,y\n12:30,p\n13:30,q\n",
    "negative.csv": "a,w,y\n1,-1,p\n2,1,q\n",
    "weightless.csv": "a,w,y\n1,,p\n2,1,q\n",
    "rare.csv": "a,y\n1,p\n2,p\n3,q\n",
    "semicolons.csv": ROWS.replace(",", ";"),
    "commas.tsv": ROWS,
    "spaces.csv": ROWS.replace(",", " "),
    "decimals.csv": "a;b;y\n1,5;x;p\n2;y;q\n",
    "unnamed.csv": ",b,y\n1,x,p\n2,y,q\n",
    "table.xlsx": ROWS,
}
TRAIN = ["train", "good.csv", "-t", "y", "-o", "new.model"]
BY_MODEL = ["--model", "good.model"]
RANK = ["rank", "good.csv", "-t", "y", *BY_MODEL]
EUROPEAN = ["train", "decimals.csv", "-t", "y", "-o", "new.model", "--delimiter", ";"]
CASES: list[tuple[list[str], int, str]] = [
    # data files
    (["train", "none.csv", "-t", "y", "-o", "m"], 3, "none.csv: no such file"),
    (["train", ".", "-t", "y", "-o", "m"], 2, "the file format is unknown"),
    (
        ["train", "table.xlsx", "-t", "y", "-o", "m"],
        2,
        "'.xlsx' is not supported: rename the file with",
    ),
    (["train", "empty.csv", "-t", "y", "-o", "m"], 3, "empty.csv is empty: its first line must"),
    (["train", "header.csv", "-t", "y", "-o", "m"], 3, "header.csv has 3 columns, but no rows"),
    (
        ["train", "broken.csv", "-t", "y", "-o", "m"],
        3,
        "broken.csv, line 3: 2 fields, but the header",
    ),
    (["rank", "broken.csv", "-t", "y"], 3, "broken.csv, line 3"),
    (["evaluate", "broken.csv", "-t", "y"], 3, "broken.csv, line 3"),
    (["compare", "broken.csv", "-t", "y"], 3, "broken.csv, line 3"),
    (["train", "only.csv", "-t", "y", "-o", "m"], 3, "no attribute is left to predict 'y' from"),
    (["train", "clock.csv", "-t", "y", "-o", "m"], 3, "column 'a' has the type Time"),
    # columns
    (["train", "unended.csv", "-t", "y", "-o", "m"], 3, "unended.csv has 3 columns, but no rows"),
    (["train", "good.csv", "-t", "Y", "-o", "m"], 3, "no column 'Y' (--target): did you mean 'y'?"),
    (["train", "good.csv", "-t", "class", "-o", "m"], 3, "'class' (--target): there are a, b, y"),
    (["train", "unnamed.csv", "-t", "class", "-o", "m"], 3, """(--target): there are "", b, y"""),
    (
        ["train", "semicolons.csv", "-t", "y", "-o", "m"],
        3,
        "it has only one column, 'a;b;y'. If ';' separates its values, use --delimiter ';'",
    ),
    (
        ["rank", "commas.tsv", "-t", "y"],
        3,
        "it has only one column, 'a,b,y'. If ',' separates its values, use --delimiter ','",
    ),
    (["rank", "spaces.csv", "-t", "y"], 3, "'y' (--target): there is only 'a b y'"),
    (
        ["rank", "decimals.csv", "-t", "y"],
        3,
        "line 2: 2 fields, but the header has 1: it has only one column, 'a;b;y'. If ';' separates",
    ),
    (
        ["rank", "decimals.csv", "-t", "y", "--delimiter", ";"],
        3,
        "column 'a' contains text such as '1,5'. If the comma is the decimal sign, use --decimal ,",
    ),
    ([*EUROPEAN, "--categorical", "a"], 0, ""),
    ([*EUROPEAN, "--drop", "a"], 0, ""),
    ([*TRAIN, "--drop", "c"], 3, "good.csv has no column 'c' (--drop)"),
    ([*TRAIN, "--categorical", "c"], 3, "good.csv has no column 'c' (--categorical)"),
    ([*TRAIN, "--weights", "c"], 3, "good.csv has no column 'c' (--weights)"),
    ([*TRAIN, "--weights", "b"], 3, "column 'b' (--weights) is of type string, but weights"),
    ([*TRAIN, "--group", "c"], 3, "good.csv has no column 'c' (--group)"),
    (["evaluate", "good.csv", "-t", "y", "--group", "y"], 2, "--group names 'y', which is the tar"),
    (
        ["train", "weightless.csv", "-t", "y", "--group", "w", "-o", "m"],
        3,
        "column 'w' (--group) is missing in 1 row, first in row",
    ),
    ([*TRAIN, "--drop", "y"], 2, "--drop names 'y', which is the target"),
    ([*TRAIN, "--drop", "a", "--drop", "b"], 3, "no attribute is left"),
    (
        ["train", "negative.csv", "-t", "y", "--weights", "w", "-o", "m"],
        3,
        "sample_weight contains -1.0",
    ),
    (
        ["train", "weightless.csv", "-t", "y", "--weights", "w", "-o", "m"],
        3,
        "is missing in 1 row",
    ),
    # targets
    (["train", "one_class.csv", "-t", "y", "-o", "m"], 3, "'y' has only one class, 'p'"),
    (["rank", "one_class.csv", "-t", "y"], 3, "'y' has only one class, 'p'"),
    (
        ["train", "holes.csv", "-t", "y", "-o", "m"],
        3,
        "missing in 1 row, first in row 2 below",
    ),
    (
        ["train", "numbers.csv", "-t", "y", "-o", "m", "--task", "classification"],
        3,
        "(target 'y'): Unknown label type",
    ),
    (["train", "numbers.csv", "-t", "y", "-o", "new.model"], 0, ""),
    (["evaluate", "rare.csv", "-t", "y"], 3, "the class 'q' has 1 row"),
    (["evaluate", "good.csv", "-t", "y", "--folds", "3"], 3, "has 1 row"),
    ([*TRAIN, "--holdout", "0.3"], 3, "a fraction of 0.3 of each class is less than one row"),
    ([*TRAIN, "--test", "one_class.csv"], 0, ""),
    ([*TRAIN, "--test", "only.csv"], 3, "only.csv: no attribute is left"),
    (
        [*TRAIN, "-m", "tree", "--test", "clock.csv"],
        3,
        "clock.csv (target 'y'): The feature names should match",
    ),
    # options
    ([*TRAIN, "--delimiter", ";;"], 2, "--delimiter must be a single ASCII character other than"),
    (["rank", "good.csv", "-t", "y", "--delimiter", "\n"], 2, "or '\\t', got '\\n'"),
    (["compare", "good.csv", "-t", "y", "--delimiter", '"'], 2, "--delimiter must be a single"),
    (["evaluate", "good.csv", "-t", "y", "--decimal", ";"], 2, "--decimal must be one of '.', ','"),
    (
        [*TRAIN, "--method", "karte"],
        2,
        "--method 'karte' is not a known method: did you mean 'cart'",
    ),
    ([*TRAIN, "--prune", "eror_based"], 2, "did you mean 'error_based'?"),
    ([*TRAIN, "--method", "mml", "--prune", "none"], 2, "MML controls the size of the tree itself"),
    (
        [*TRAIN, "--method", "rules", "--prune", "none"],
        2,
        "--method rules prunes each rule separately",
    ),
    ([*TRAIN, "--set", "ordered_features=a"], 2, "available in Python only; in Parquet and Arrow"),
    ([*TRAIN, "--set", "max_dept=3"], 2, "did you mean 'max_depth'?"),
    ([*TRAIN, "--set", "max_depth"], 2, "--set 'max_depth': write name=value"),
    ([*TRAIN, "--set", "max_depth=deep"], 2, "max_depth must be None (no limit) or an integer"),
    ([*TRAIN, "--set", "max_depth=-1"], 2, "max_depth must be None (no limit) or an integer"),
    ([*TRAIN, "--set", "max_depth=1", "--set", "max_depth=2"], 2, "--set gives 'max_depth' twice"),
    ([*TRAIN, "--set", "criterion=gina"], 2, "criterion must be one of"),
    ([*TRAIN, "--set", "class_weight=balance"], 2, "class_weight"),
    ([*TRAIN, "--set", "pruning=none"], 2, "--set pruning=...: use --prune"),
    ([*TRAIN, "--set", "categorical_features=a"], 2, "use --categorical COL"),
    ([*TRAIN, "--set", "attribute_costs=a"], 2, "available in Python only"),
    ([*TRAIN, "-m", "c45", "--set", "confidence=2"], 2, "confidence must be above 0"),
    ([*TRAIN, "-m", "tree", "--set", "confidence=0.1"], 2, "has no such parameter"),
    ([*TRAIN, "-m", "rules", "--set", "when=never"], 2, "when must be one of"),
    ([*TRAIN, "--holdout", "1.5"], 2, "--holdout must be a fraction of the rows"),
    ([*TRAIN, "--holdout", "0.3", "--test", "good.csv"], 2, "--test and --holdout: give only one"),
    (["train", "good.csv", "-o", "m"], 2, "Missing option '--target'"),
    (["train", "good.csv", "-t", "y"], 2, "Missing option '--output'"),
    (["trainn"], 2, "No such command 'trainn'"),
    (["show", "--wide"], 2, "No such option"),
    (
        ["rank", "good.csv", "-t", "y", "-c", "ginny"],
        2,
        "--criterion 'ginny' is not a known criterion",
    ),
    ([*RANK, "-c", "gini"], 2, "--criterion cannot be used with --model"),
    ([*RANK, "--drop", "a"], 2, "--drop cannot be used with --model"),
    (
        [*RANK, "--metric", "logloss"],
        2,
        "'logloss' is not a known metric: did you mean 'log_loss'?",
    ),
    ([*RANK, "--weights", "a"], 2, "--weights names 'a', which is an attribute of the model"),
    (["rank", "good.csv", "-t", "a", *BY_MODEL], 2, "--target names 'a', which is an attribute"),
    (["rank", "good.csv", "-t", "z", *BY_MODEL], 3, "has no column 'z' (--target)"),
    (
        ["rank", "one_class.csv", "-t", "y", *BY_MODEL, "--metric", "auc"],
        3,
        "(target 'y'): metric='auc' is undefined, since y has only one class",
    ),
    (["rank", "unnamed.csv", "-t", "y", *BY_MODEL], 3, "has no column 'a' (of the model)"),
    (["rank", "good.csv", "-t", "y", "--model", "none.model"], 4, "no such model file"),
    (["rank", "good.csv", "-t", "y", "--seed", "1"], 2, "--seed needs --model"),
    (["rank", "good.csv", "-t", "y", "--metric", "auc"], 2, "--metric needs --model"),
    (["evaluate", "good.csv", "-t", "y", "-m", "c45,id4"], 2, "did you mean 'id3'?"),
    (["evaluate", "good.csv", "-t", "y", "-m", ","], 2, "--methods names no method"),
    (["evaluate", "good.csv", "-t", "y", "--folds", "1"], 2, "--folds"),
    (["compare", "good.csv", "-t", "y", "--holdout", "0"], 2, "--holdout must be a fraction"),
    (["rules", "good.model", "--format", "xml"], 2, "--format 'xml' is not a known format"),
    (["rules", "good.model", "-f", "json", "--limit", "2"], 2, "got json, which has all the rules"),
    (["export", "good.model", "--to", "sqll"], 2, "--to 'sqll' is not a known format"),
    (["export", "good.model"], 2, "export needs a format, --to FORMAT"),
    (["export", "--to", "text"], 2, "export needs a model"),
    (["export", "good.model", "--to", "text", "--set", "wide=1"], 2, "has no option 'wide'"),
    (["demo", "--rows", "5"], 2, "--rows"),
    # models
    (["show", "none.model"], 4, "none.model: no such model file"),
    (["show", "good.csv"], 4, "good.csv: it is not a fasttree model file"),
    (["rules", "newer.model"], 4, "newer.model: "),
    (["export", "cut.model", "--to", "text"], 4, "cut.model: "),
    (["show", "."], 4, ".: "),
    # outputs
    (["train", "good.csv", "-t", "y", "-o", "good.model"], 5, "good.model already exists"),
    (["train", "good.csv", "-t", "y", "-o", "no/m"], 5, "the directory no does not exist"),
    (["train", "good.csv", "-t", "y", "-o", "."], 5, "is a directory: give the name of a file"),
    (["rules", "good.model", "-o", "good.csv"], 5, "good.csv already exists"),
    (["export", "good.model", "--to", "text", "-o", "good.csv"], 5, "good.csv already exists"),
    (["demo", "--csv", "good.csv"], 5, "good.csv already exists"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bad")
    for name, text in FILES.items():
        (folder / name).write_text(text)
    model = fasttree.TreeClassifier().fit({"a": [1.0, 2, 3]}, ["p", "q", "p"])
    model.save(folder / "good.model")
    whole = (folder / "good.model").read_bytes()
    (folder / "cut.model").write_bytes(whole[: len(whole) // 2])
    _newer(folder / "good.model", folder / "newer.model")
    return folder


def _newer(path: Path, to: Path) -> None:
    """The same model with the number of a format that is not there yet."""
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(to, "w") as new:
        for item in old.infolist():
            content = old.read(item)
            if item.filename == "fasttree.json":
                header = json.loads(content)
                key = next(k for k in header if "version" in k and isinstance(header[k], int))
                header[key] += 1000
                content = json.dumps(header).encode()
            new.writestr(item, content)


@pytest.mark.parametrize(("args", "code", "words"), CASES, ids=[" ".join(c[0]) for c in CASES])
def test_message_and_exit_code(
    folder: Path, monkeypatch: pytest.MonkeyPatch, args: list[str], code: int, words: str
) -> None:
    monkeypatch.chdir(folder)
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    result = run(*args)
    assert result.code == code, result.err
    assert words in result.err
    if code:
        assert result.err.startswith("Error: ")
        assert "Traceback" not in result.err
        assert len(result.err.splitlines()) <= 5
        assert result.out == ""
        after = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
        assert after == before  # nothing is left, nothing is lost
    else:
        (folder / "new.model").unlink()


def test_debug_shows_the_traceback_wherever_it_stands(tmp_path: Path) -> None:
    for args in (["--debug", "show", "x"], ["show", "x", "--debug"], ["show", "--debug", "x"]):
        result = run(*args)
        assert result.code == 4
        assert "Traceback" in result.err
        assert result.err.splitlines()[-1] == "Error: x: no such model file"
    assert "--debug: no such" in run("show", "--", "--debug").err  # this one is a file


def test_a_bug_is_told_apart(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fasttree.TreeClassifier, "fit", lambda *_, **__: 1 / 0)
    result = run("train", data, "-t", "outcome", "-o", data.with_suffix(".model"))
    assert result.code == 1
    assert "unexpected ZeroDivisionError: division by zero" in result.err
    assert "--debug" in result.err


@pytest.mark.parametrize(("error", "code"), [(KeyboardInterrupt, 130), (MemoryError, 1)])
def test_interruption_and_lack_of_memory(
    data: Path, monkeypatch: pytest.MonkeyPatch, error: type[BaseException], code: int
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("fasttree.cli.rank.read_data", fail)
    result = run("rank", data, "-t", "outcome")
    assert result.code == code
    assert "Traceback" not in result.err
    assert len(result.err.splitlines()) == 1


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write and read anything")
def test_permissions(data: Path, tmp_path: Path) -> None:
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o500)
    result = run("train", data, "-t", "outcome", "-o", locked / "m.model")
    assert result.code == 5
    assert "no permission to write" in result.err
    data.chmod(0)
    result = run("rank", data, "-t", "outcome")
    assert result.code == 3
    assert "no permission to read" in result.err


def test_nothing_is_written_over_what_is_read(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even with --force, nor by way of a link."""
    monkeypatch.chdir(tmp_path)
    ok("train", data, "-t", "outcome", "-o", "m.model")
    Path("link.csv").symlink_to(data)
    Path("test.csv").write_bytes(data.read_bytes())
    before = {name: Path(name).read_bytes() for name in (data.name, "test.csv", "m.model")}
    train = ("train", data, "-t", "outcome", "--test", "test.csv", "--force", "-o")
    for words in (
        (*train, data),
        (*train, "link.csv"),
        (*train, "test.csv"),
        ("export", "m.model", "--to", "c", "--force", "-o", "m.model"),
        ("rules", "m.model", "--force", "-o", "m.model"),
        ("study", "cesarean", "--data", data, "-t", "outcome", "--force", "--json", data),
    ):
        result = run(*words)
        assert result.code == 5, words
        assert "is also an input: choose another name" in result.err
    assert {name: Path(name).read_bytes() for name in before} == before


MEGABYTE = "x" * 2**20
LONG = ", line 3: the row is {} bytes long, which is too long to be read"
OPEN = ", line 3: a quote is opened here but never closed"


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (f"1,p\n{MEGABYTE * 20},q\n2,p\n", LONG.format(f"{20 * 2**20 + 3:,}")),
        (f'1,p\n"{MEGABYTE * 20}",q\n2,p\n', LONG.format(f"{20 * 2**20 + 5:,}")),
        ('1,p\n"' + "2,q\n" * 2**20, OPEN),
        ('1,p\n"' + "2,q\n" * 50_000, OPEN),
        ('1,p\n"' + "2;q\n" * 50_000 + ",q", OPEN),
        (f"1,p\n{'x' * 200_000},q\n1,2,3\n", ": CSV parse error: Expected 2 columns, got 3: 1,2,3"),
    ],
)
def test_long_values(rows: str, words: str, tmp_path: Path) -> None:
    """Which row is too long to be read is said, and nothing else of it."""
    path = tmp_path / "long.csv"
    path.write_text("a,y\n" + rows)
    result = run("rank", path, "-t", "y")
    assert result.code == 3
    assert result.err.startswith(f"Error: {path}{words}")
    assert len(result.err) < 500


@pytest.mark.parametrize("kind", ["parquet", "feather"])
def test_names_that_are_not_utf8(kind: str, tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.feather as feather
    import pyarrow.parquet as parquet

    table, path = pa.table({"a": [1, 2], "qqqqqqq": ["p", "q"]}), tmp_path / f"in.{kind}"
    if kind == "parquet":
        parquet.write_table(table, path)
    else:
        feather.write_feather(table, path)
    path.write_bytes(path.read_bytes().replace(b"qqqqqqq", b"qqq\xffqqq"))
    result = run("rank", path, "-t", "a")
    assert result.code == 3
    assert result.err == f"Error: {path}: a column name is not UTF-8: rename the column\n"


def test_a_long_name(tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    path.write_text(f"{MEGABYTE * 3},y\n1,p\n2,q\n")
    result = run("rank", path, "-t", "y")
    assert result.code == 3
    assert f"{path}: a name in its first line has more than 131,072 characters" in result.err


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_devices_and_pipes_stay_what_they_are(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ok("train", data, "-t", "outcome", "-o", "m.model")
    before = set(os.listdir())
    for ending in (".html", ".json", ".model"):
        os.mkfifo(f"pipe{ending}")
    for words in (
        ("train", data, "-t", "outcome", "-o", "pipe.model"),
        ("export", "m.model", "--to", "c", "-o", "pipe.model"),
        ("rules", "m.model", "-o", "pipe.model"),
        ("score", "m.model", data, "-o", "o.csv", "--report", "pipe.json"),
        ("study", "cesarean", "--quick", "-o", "pipe.html"),
        ("study", "cesarean", "--quick", "--json", "pipe.json"),
        ("demo", "--csv", "pipe.model"),
    ):
        for force in ((), ("--force",)):
            result = run(*words, *force)
            assert result.code == 5, words
            assert "is not a regular file: write to another name" in result.err
    for name in set(os.listdir()) - before:
        assert stat.S_ISFIFO(os.stat(name).st_mode), name


def test_a_full_disk(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    path = data.with_suffix(".model")
    result = run("train", data, "-t", "outcome", "-o", path)
    assert result.code == 5
    assert "cannot be written: No space left on device" in result.err
    assert [file.name for file in data.parent.iterdir()] == [data.name]


def test_the_parts_of_a_test_file_are_checked(data: Path, tmp_path: Path) -> None:
    from commands import patients

    other = write_csv(tmp_path / "other.csv", patients(20).drop(["ward"]))
    args = ("train", data, "-t", "outcome", "--test", other, "-o", tmp_path / "m.model")
    result = run(*args)
    assert result.code == 3
    assert "now missing:" in result.err
    assert "- ward" in result.err
    ok(*args[:-4], "-o", tmp_path / "m.model")
