# SPDX-License-Identifier: BSD-3-Clause
"""A campaign: tables in files that are damaged or mean harm, and disks that are full at any moment.

Each run ends with the exit code of bad data or of an output that cannot be written, or is fine; what stood there stays.
"""

from __future__ import annotations

import errno
import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from batch_tables import fitted, table_of, write
from csv_signs import hostile_csv
from fuzz.mutants import copy_block, delete, flip_bits, insert, set_bytes, truncate

import fasttree
from fasttree.batch import score_files
from fasttree.studies import cesarean
from fasttree.studies.report import write_report

pytestmark = pytest.mark.campaign

DAMAGE = (flip_bits, set_bytes, truncate, insert, delete, copy_block)

# Damaged files of columns may be more than the library that reads them can bear: it shall not take the tests along.
JUDGE = """
import sys
from commands import run
sys.unraisablehook = lambda *_: None  # Arrow's own word on rows of CSV that are broken and no text
for words in sys.stdin.read().splitlines():
    result = run(*words.split("\\t"))
    print(result.code, "Traceback" in result.err, ascii(result.err[:200]), flush=True)
"""


def damaged(rng: random.Random, text: bytes) -> bytes:
    return rng.choice(DAMAGE)(rng, text)


def judged(commands: list[list[object]]) -> list[str]:
    """A line for each command: its exit code, whether it showed a traceback, and what it said."""
    tests = Path(__file__).parents[1]
    root = Path(fasttree.__file__).parents[1]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(tests), str(root)])}
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-W", "ignore", "-c", JUDGE],
        input="\n".join("\t".join(map(str, words)) for words in commands),
        capture_output=True,
        text=True,
        env=environment,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    ("kind", "mutation", "n"),
    [
        ("csv", hostile_csv, 40),
        ("csv", damaged, 15),
        ("parquet", damaged, 25),
        ("arrow", damaged, 25),
    ],
)
def test_tables_in_files(
    kind: str, mutation: Callable[..., bytes], n: int, length: int, tmp_path: Path
) -> None:
    whole = write(table_of(40, seed=3), tmp_path / f"whole.{kind}").read_bytes()
    fitted(table_of(300)).save(tmp_path / "m.model")
    for part in range(length):
        commands: list[list[object]] = []
        for number in range(n):
            rng = random.Random(f"{part} {number} {kind}")
            source = tmp_path / f"{part}-{number}.{kind}"
            source.write_bytes(mutation(rng, whole))
            out = tmp_path / f"{part}-{number}.out.csv"
            mode = rng.choice(("--strict", "--lenient", "--quiet"))
            commands += [
                ["rank", source, "-t", "class"],
                ["score", tmp_path / "m.model", source, "-o", out, "-j", 2, mode],
            ]
        lines = judged(commands)
        assert len(lines) == len(commands)
        for words, line in zip(commands, lines, strict=True):
            assert line.split()[:2] in (["0", "False"], ["3", "False"]), (words, line)
            if words[0] == "score":
                assert Path(str(words[4])).exists() == line.startswith("0 "), (words, line)
        for path in tmp_path.glob(f"{part}-*"):
            path.unlink()


# -- full disks --------------------------------------------------------------------------------------------------------


class Disk:
    """A disk that is full from one of the writes on. Who writes a file gets one of these instead of the file."""

    def __init__(self, room: int) -> None:
        self.room = room
        self._open = os.fdopen

    def fdopen(self, descriptor: int, mode: str, *given: Any) -> Any:
        file = self._open(descriptor, mode, *given)
        return _OnDisk(file, self) if mode == "wb" else file

    def take(self) -> None:
        self.room -= 1
        if self.room < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def refusal(
    write_to: Callable[[Path], Any], path: Path, disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> OSError | None:
    """What the system says of a disk without room; None: all was written."""
    with monkeypatch.context() as patch:
        patch.setattr("fasttree.base.atomic.os.fdopen", disk.fdopen)
        try:
            write_to(path)
        except OSError as error:
            return error
    return None


class _OnDisk:
    def __init__(self, file: Any, disk: Disk) -> None:
        self._file, self._disk = file, disk

    def write(self, data: Any) -> int:
        self._disk.take()
        return self._file.write(data)

    def flush(self) -> None:
        self._disk.take()
        self._file.flush()

    def __enter__(self) -> _OnDisk:
        return self

    def __exit__(self, *given: object) -> None:
        self._file.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


@pytest.fixture(scope="module")
def writers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Callable[[Path], Any]]:
    """Whatever writes files, by a name that the file may have."""
    model = fitted(table_of(400))
    source = write(table_of(2000), tmp_path_factory.mktemp("full") / "in.parquet")
    rng = np.random.default_rng(0)
    age = rng.normal(30, 5, 200).round()
    births = {"age": age, "outcome": np.where(age + rng.normal(0, 5, 200) > 30, "yes", "no")}
    found = cesarean.run(births, "outcome", seeds=1, methods=["ID3"])

    def scored(path: Path) -> Any:
        return score_files(model, [source], path, columns="all", proba=True, force=True)

    return {
        "m.model": model.save,
        "tree.sql": lambda path: model.export("sql", path),
        "report.html": lambda path: write_report(found, path, overwrite=True),
        "out.csv": scored,
        "out.csv.gz": scored,
        "out.parquet": scored,
        "out.arrow": scored,
    }


@pytest.mark.parametrize(
    "name",
    ["m.model", "tree.sql", "report.html", "out.csv", "out.csv.gz", "out.parquet", "out.arrow"],
)
def test_a_disk_that_is_full_at_any_write(
    name: str,
    writers: dict[str, Callable[[Path], Any]],
    length: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = tmp_path / name
    path.write_text("what stood there")
    few = 12 * length  # moments; all of them, where there are not more
    room, n_full = 0, 0
    while (error := refusal(writers[name], path, Disk(room), monkeypatch)) is not None:
        n_full += 1
        assert error.errno == errno.ENOSPC, room
        assert name in str(error), room
        assert path.read_text() == "what stood there", room
        assert os.listdir(tmp_path) == [name], room
        room += 1 if room < few else room // 4
    assert n_full > 1
    assert os.listdir(tmp_path) == [name]
    assert path.read_bytes() != b"what stood there"
