# SPDX-License-Identifier: BSD-3-Clause
"""The command line in this process, and small data files for it."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest


class Result(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def run(*args: object, width: int = 80) -> Result:
    """`fasttree args`, as if on something that is no terminal."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", newline="\n") for _ in range(2))
    environment = {"COLUMNS": str(width), "TERM": "xterm"}
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        for name in ("NO_COLOR", "FORCE_COLOR"):
            patch.delenv(name, raising=False)
        for name, value in environment.items():
            patch.setenv(name, value)
        code = _command().main([str(arg) for arg in args], "fasttree", standalone_mode=False)
    return Result(code, _written(out), _written(err))


@cache
def _command() -> Any:
    from typer.main import get_command

    from fasttree.cli.app import app

    return get_command(app)


def _written(stream: io.TextIOWrapper) -> str:
    stream.flush()
    raw = stream.buffer
    assert isinstance(raw, io.BytesIO)
    return raw.getvalue().decode("utf-8", errors="backslashreplace")


def ok(*args: object, width: int = 80) -> Result:
    result = run(*args, width=width)
    assert result.code == 0, result.err
    return result


def patients(n_rows: int = 400, seed: int = 0) -> pa.Table:
    """Numbers, text and holes; the outcome depends on all of them and on chance."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, n_rows).astype(float)
    pulse = np.round(rng.normal(75, 12, n_rows), 1)
    ward = np.array(["north", "south", "east", "west"])[rng.integers(0, 4, n_rows)]
    risk = (age - 55) / 20 + (pulse - 75) / 15 + (ward == "north") + rng.normal(size=n_rows)
    holes = rng.random(n_rows) < 0.1
    return pa.table(
        {
            "id": np.arange(n_rows),
            "age": age.astype(int),
            "pulse": pa.array(pulse, mask=holes),
            "ward": ward,
            "outcome": np.where(risk > 0.5, "ill", "well"),
        }
    )


def write_csv(path: Path, table: pa.Table) -> Path:
    pa.csv.write_csv(table, path)
    return path


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_csv(tmp_path / "patients.csv", patients())
