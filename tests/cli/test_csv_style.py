# SPDX-License-Identifier: BSD-3-Clause
"""Every command that reads CSV reads what a spreadsheet in Europe writes: semicolons, and commas in numbers."""

from __future__ import annotations

import csv
from pathlib import Path

import pyarrow as pa
import pytest
from commands import data, ok, run
from pyarrow import parquet

import fasttree

__all__ = ["data"]

STYLE = ("--delimiter", ";", "--decimal", ",")


@pytest.fixture
def european(data: Path) -> Path:
    """The same table in the other style; no text in it has a point."""
    rows = list(csv.reader(data.read_text("utf-8").splitlines()))
    path = data.with_name("european.csv")
    path.write_text("\n".join(";".join(row).replace(".", ",") for row in rows) + "\n", "utf-8")
    assert "," in path.read_text("utf-8")
    return path


def test_train_and_score(data: Path, european: Path) -> None:
    ok("train", data, "-t", "outcome", "--test", data, "-o", "m", "--json")
    found = ok("train", european, "-t", "outcome", "--test", european, "-o", "e", "--json", *STYLE)
    fingerprint = fasttree.load("m").tree_.fingerprint()
    assert fasttree.load("e").tree_.fingerprint() == fingerprint
    assert found.json["test"]["rows"] == found.json["rows"]
    ok("score", "m", data, "-o", "m.csv", "--proba")
    ok("score", "m", european, "-o", "e.csv", "--proba", *STYLE)
    assert Path("e.csv").read_text() == Path("m.csv").read_text()


def test_what_is_next_says_it_too(european: Path) -> None:
    text = ok("train", european, "-t", "outcome", "-o", "m", *STYLE).out
    assert "fasttree score m --delimiter ';' --decimal , NEW.csv -o SCORED.csv" in text
    tabs = european.with_name("tabs.csv")
    tabs.write_text(european.read_text("utf-8").replace(",", ".").replace(";", "\t"), "utf-8")
    text = ok("train", tabs, "-t", "outcome", "-o", "t", "--delimiter", "tab").out
    assert r"fasttree score t --delimiter '\t' NEW.csv -o SCORED.csv" in text
    ok("score", "t", "--delimiter", r"\t", tabs, "-o", "t.csv")


@pytest.mark.parametrize(
    "command",
    [
        ["rank", "--json"],
        ["evaluate", "-m", "cart,c45", "--folds", 3],
        ["compare", "--json"],
    ],
)
def test_commands_that_judge(data: Path, european: Path, command: list[object]) -> None:
    if command[0] == "compare":
        pytest.importorskip("sklearn")
    name, *options = command
    one = ok(name, data, "-t", "outcome", *options)
    other = ok(name, european, "-t", "outcome", *options, *STYLE)
    if name == "compare":
        told = [
            [{key: v for key, v in m.items() if "seconds" not in key} for m in r.json["models"]]
            for r in (one, other)
        ]
        assert told[0] == told[1]
    else:
        assert untimed(one.out) == untimed(other.out)


def untimed(text: str) -> list[list[str]]:
    """Lines as words, without the time at the end of those of a table."""
    lines = [line.split() for line in text.splitlines()]
    return [words[:-1] if words and words[0] in ("CART", "C4.5") else words for words in lines]


def test_what_is_left_out_may_hold_anything(data: Path) -> None:
    """Numbers that no tree can hold, and text with commas."""
    lines = data.read_text("utf-8").splitlines()
    lines = [
        f'"a b","big",{lines[0]}',
        *(f'"1,5",1{n:030},{line}' for n, line in enumerate(lines[1:])),
    ]
    data.write_text("\n".join(lines) + "\n", "utf-8")
    words = ("train", data, "-t", "outcome", "-o", "m")
    assert "'big' contains the integer 1000" in run(*words, "--drop", "a b").err
    assert "'a b' contains text such as '1,5'" in run(*words, "--drop", "big").err
    ok(*words, "--drop", "big", "--drop", "a b")
    ok(*words, "--drop", "big", "--categorical", "a b", "--force")
    ok(*words, "--drop", "a b", "--categorical", "big", "--force")


def test_text_of_other_files_is_text(data: Path) -> None:
    table = pa.table({"a": ["1,5", "2,5"] * 20, "y": ["p", "q"] * 20})
    parquet.write_table(table, data.with_suffix(".parquet"))
    ok("train", data.with_suffix(".parquet"), "-t", "y", "-o", "m")


def test_study(european: Path) -> None:
    words = ("study", "cesarean", "--data", european, "-t", "outcome", "--drop", "id")
    result = run(*words, "-m", "SMML", "--seeds", 1, *STYLE)
    assert result.code == 0, result.err
    refused = run(*words, "-m", "SMML", "--seeds", 1, "--delimiter", ";")
    assert refused.code == 3
    assert "column 'pulse' contains text such as" in refused.err
    assert "use --decimal ,;" in refused.err


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
