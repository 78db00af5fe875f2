# SPDX-License-Identifier: BSD-3-Clause
"""``fasttree study cesarean`` as it is called from a shell."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("pyarrow")

import commands

from fasttree.cli import exit_codes
from fasttree.datasets import make_cesarean_cohort


def run(*arguments: object) -> tuple[int, str]:
    """The exit code, and all that was printed."""
    found = commands.run("study", "cesarean", *arguments, width=120)
    return found.code, found.out + found.err


@pytest.fixture(scope="module")
def births(tmp_path_factory: pytest.TempPathFactory) -> Path:
    X, y, _ = make_cesarean_cohort(600)
    names = ["parity", "age", "presentation", "fetal_distress", "admission_weight"]
    columns = [np.asarray(X[name]).tolist() for name in names] + [np.asarray(y).tolist()]
    lines = [",".join([*names, "cesarean"])]
    for row in zip(*columns, strict=True):
        lines.append(",".join("" if v is None or v != v else str(v) for v in row))
    path = tmp_path_factory.mktemp("study") / "births.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_file_of_ones_own(births: Path, tmp_path: Path) -> None:
    out = tmp_path / "study.json"
    code, printed = run(
        "--data", births, "--target", "cesarean", "--by", "parity",
        "--seeds", 1, "-m", "SMML", "-m", "logistic", "--json", out,
    )  # fmt: skip
    assert code == exit_codes.OK, printed
    found = json.loads(out.read_text())
    assert [group["name"] for group in found["groups"]] == ["nulliparous", "parous"]
    assert found["methods"] == ["SMML", "Logistic"]
    kinds = {column["name"]: column["kind"] for column in found["columns"]}
    assert kinds == {
        "age": "categorical",
        "presentation": "categorical",
        "fetal_distress": "categorical",
        "admission_weight": "numeric",
    }
    assert all(set(c) == {"name", "kind", "values", "missing", "example"} for c in found["columns"])
    for words in (
        "Table 1",
        "nulliparous: 276 rows",
        "AUC",
        "Calibration",
        "SMML, first split",
    ):
        assert words in printed
    code, printed = run("--data", births, "--target", "cesarean", "--seeds", 1, "--json", out)
    assert code == exit_codes.BAD_OUTPUT
    assert "--force" in printed
    code, _ = run(
        "--data", births, "-t", "cesarean", "--seeds", 1, "-m", "ID3", "--json", out, "--force"
    )
    assert code == exit_codes.OK
    assert json.loads(out.read_text())["methods"] == ["ID3"]


def test_the_columns_of_the_cohort_are_listed_too(tmp_path: Path) -> None:
    out = tmp_path / "study.json"
    code, printed = run("--seeds", 1, "-m", "SMML", "--json", out)
    assert code == exit_codes.OK, printed
    X, _, _ = make_cesarean_cohort(200)
    names = [column["name"] for column in json.loads(out.read_text())["columns"]]
    assert names == [name for name in X if name != "parity"]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--data", "FILE"], exit_codes.USAGE, "--data needs --target"),
        (["--target", "cesarean"], exit_codes.USAGE, "give the table with --data"),
        (
            ["--data", "FILE", "-t", "cesarean", "--by", "cesarean"],
            exit_codes.USAGE,
            "is the target",
        ),
        (["--data", "FILE", "-t", "cesarean", "-m", "forest"], exit_codes.USAGE, "names 'forest'"),
        (["--seeds", "0"], exit_codes.USAGE, "--seeds"),
        (["--data", "nothing.csv", "-t", "cesarean"], exit_codes.BAD_DATA, "nothing.csv"),
        (["--data", "FILE", "-t", "ill"], exit_codes.BAD_DATA, "no column 'ill'"),
        (["--data", "FILE", "-t", "age"], exit_codes.BAD_DATA, "two classes"),
        (
            ["--data", "FILE", "-t", "cesarean", "--by", "presentation"],
            exit_codes.BAD_DATA,
            "needs at least 50",
        ),
        (
            ["--json", "nowhere/study.json"],
            exit_codes.BAD_OUTPUT,
            "the directory nowhere does not exist",
        ),
        (["--json", "."], exit_codes.BAD_OUTPUT, "is a directory"),
        (
            ["-o", "nowhere/report.html"],
            exit_codes.BAD_OUTPUT,
            "the directory nowhere does not exist",
        ),
        (["-o", "report.pdf"], exit_codes.USAGE, "must end in .html or .md"),
    ],
)
def test_what_goes_wrong(births: Path, arguments: list[str], code: int, words: str) -> None:
    given = [str(births) if word == "FILE" else word for word in arguments]
    found, printed = run(*given)
    assert found == code, printed
    assert words in " ".join(printed.split())


def test_a_file_with_an_empty_column(births: Path, tmp_path: Path) -> None:
    path = tmp_path / "empty.csv"
    lines = births.read_text().splitlines()
    path.write_text("\n".join(["empty," + lines[0], *("," + line for line in lines[1:])]) + "\n")
    code, printed = run("--data", path, "-t", "cesarean", "--seeds", 1, "-m", "SMML")
    assert code == exit_codes.OK, printed
    assert "empty was left out: all values are missing in this group" in printed


def test_reports(births: Path, tmp_path: Path) -> None:
    page, text = tmp_path / "report.html", tmp_path / "report.md"
    given = ["--data", births, "-t", "cesarean", "--by", "parity", "--seeds", 1, "-m", "SMML"]
    code, printed = run(*given, "-m", "logistic", "-o", page, "-o", text)
    assert code == exit_codes.OK, printed
    assert f"Wrote {page}" in printed
    assert page.read_text("utf-8").startswith("<!DOCTYPE html>")
    assert text.read_text("utf-8").startswith("# Predicting")
    page.write_text("mine")
    code, printed = run(*given, "-o", page)
    assert code == exit_codes.BAD_OUTPUT
    assert "already exists" in " ".join(printed.split())
    assert "--force" in printed
    assert page.read_text() == "mine"
    code, printed = run(*given, "-o", page, "--force")
    assert code == exit_codes.OK, printed
    assert page.read_text("utf-8").startswith("<!DOCTYPE html>")


def test_a_report_that_cannot_be_written_in_the_end(
    births: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("fasttree.base.atomic.os.fsync", full)
    path = tmp_path / "report.html"
    code, printed = run("--data", births, "-t", "cesarean", "--seeds", 1, "-m", "ID3", "-o", path)
    assert code == exit_codes.BAD_OUTPUT
    assert "cannot be written: No space left" in " ".join(printed.split())
    assert list(tmp_path.iterdir()) == []
