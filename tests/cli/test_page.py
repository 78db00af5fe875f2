# SPDX-License-Identifier: BSD-3-Clause
"""Every command on the pages about the command line does what the page says."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path

import pytest
from commands import run

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "command-line.md"
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.M | re.S)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def examples(page: Path = PAGE) -> list[tuple[list[str], str]]:
    """The commands, and what they print."""
    found = []
    for block in BLOCK.findall(page.read_text("utf-8")):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, output = part.partition("\n")
            found.append((shlex.split(command), output))
    return found


@pytest.mark.parametrize(("name", "at_least"), [("command-line.md", 13), ("batch-scoring.md", 9)])
def test_the_page(
    name: str, at_least: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("sklearn")
    monkeypatch.chdir(tmp_path)
    commands = examples(DOCS / name)
    assert len(commands) >= at_least
    for command, expected in commands:
        assert command[0] == "fasttree"
        result = run(*command[1:])
        assert (result.code == 0) == ("Error: " not in expected), result.err
        printed = result.out + result.err
        assert doctest.OutputChecker().check_output(expected, printed, FLAGS), (command, printed)


def test_every_command_is_on_the_page() -> None:
    from typer.main import get_command

    from fasttree.cli.app import app

    text = PAGE.read_text("utf-8")
    names = set(get_command(app).commands)  # type: ignore[attr-defined]
    assert names == set(re.findall(r"^\| \[?`(\w+)`", text, re.M))
    shown = {command[1] for command, _ in examples()} | {"version"}
    assert names <= shown | {"demo"}
