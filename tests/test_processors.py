# SPDX-License-Identifier: BSD-3-Clause
"""The same digits on every processor: numbers of all kinds, computed again as other processors would."""

from __future__ import annotations

import ast
import json
import os
import platform
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import every_number
import pytest

import fasttree

pytestmark = pytest.mark.numeric

TIME_LIMIT = 300.0
VARIABLES = ("NPY_DISABLE_CPU_FEATURES", "OPENBLAS_CORETYPE", "GLIBC_TUNABLES")
# What /proc/cpuinfo calls that which the kernels of OpenBLAS need.
KERNELS = {
    "Prescott": {"pni"},
    "Haswell": {"avx2", "fma"},
    "Zen": {"avx2", "fma"},
    "SkylakeX": {"avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl"},
}


def flags() -> set[str]:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return set()
    lines = (line for line in text.splitlines() if line.startswith("flags"))
    return set(next(lines, "").partition(":")[2].split())


def dispatched() -> list[str]:
    """The features that numpy has code of its own for, and that this processor has; the oldest first."""
    from numpy._core import _multiarray_umath as core

    return [name for name in core.__cpu_dispatch__ if core.__cpu_features__[name]]


def settings() -> dict[str, dict[str, str]]:
    found = {}
    names = dispatched()
    for first in range(len(names)):
        found[f"numpy without {names[first]} and later"] = {
            "NPY_DISABLE_CPU_FEATURES": " ".join(names[first:])
        }
    for kernel, needed in KERNELS.items():
        if needed <= flags():
            found[f"OpenBLAS for {kernel}"] = {"OPENBLAS_CORETYPE": kernel}
    if platform.libc_ver()[0] == "glibc" and {"avx2", "fma"} <= flags():
        found["C library without AVX2"] = {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA"}
    return found


@cache
def computed(**setting: str) -> dict[str, Any]:
    """What a process of its own computes under some environment."""
    environment = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    paths = [str(Path(fasttree.__file__).parents[1]), environment.get("PYTHONPATH", "")]
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    done = subprocess.run(
        [sys.executable, "-W", "ignore", every_number.__file__],
        capture_output=True,
        text=True,
        timeout=TIME_LIMIT,
        env=environment | setting,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


@pytest.mark.timeout(2 * TIME_LIMIT)
@pytest.mark.parametrize("name", settings())
def test_other_processors_compute_the_same(name: str) -> None:
    setting = settings()[name]
    here, there = computed(), computed(**setting)
    for feature in setting.get("NPY_DISABLE_CPU_FEATURES", "").split():
        assert here["features"][feature]
        assert not there["features"][feature], "the setting did nothing"
    if "GLIBC_TUNABLES" in setting:
        assert here["library"]["libm"] != there["library"]["libm"], "the setting did nothing"
    if setting.get("OPENBLAS_CORETYPE") == "SkylakeX" and there["kernels"]:
        assert there["kernels"] == ["SkylakeX"]
    different = [what for what, text in here["numbers"].items() if there["numbers"][what] != text]
    assert not different


@pytest.mark.skipif(
    not any(name in os.environ for name in VARIABLES), reason="this process has no such setting"
)
def test_this_process_computes_the_same() -> None:
    """A suite that runs under a setting, beside a process without."""
    assert every_number.numbers() == computed()["numbers"]


# -- nobody asks the others --------------------------------------------------------------------------------------------

# Of numpy and of Python's math ...
BOTH = [
    "exp",
    "exp2",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "cbrt",
    "hypot",
    "sin",
    "cos",
    "tan",
]
FUNCTIONS = {
    # ... of numpy alone, and of math.
    "np": [
        *BOTH,
        "logaddexp",
        "logaddexp2",
        "power",
        "float_power",
        "interp",
        "geomspace",
        "logspace",
        "arctan",
        "arctan2",
        "dot",
        "vdot",
        "inner",
        "matmul",
        "einsum",
        "tensordot",
        "linalg",
        "average",
        "mean",
        "std",
        "var",
        "cov",
        "corrcoef",
        "nansum",
        "nanmean",
        "trapezoid",
        "polyfit",
        "convolve",
    ],
    "math": [
        *BOTH,
        "pow",
        "gamma",
        "lgamma",
        "erf",
        "erfc",
        "atan",
        "atan2",
        "sinh",
        "cosh",
        "tanh",
        "dist",
        "sumprod",
    ],
}
METHODS = {"mean", "std", "var", "dot"}
ALLOWED = {
    # Products of whole numbers of which every partial sum is one.
    ("rules/pruning.py", "@"),
    ("stats/exact_tests.py", "@"),
    ("rules/subsets.py", "@"),
    # Shares of rows: a whole number by another.
    ("cli/compare.py", "np.mean"),
    ("studies/protocol.py", "np.mean"),
    ("studies/risk.py", ".mean"),
    # Where a point is drawn.
    ("studies/report/charts.py", ".dot"),
}


def asked(node: ast.AST) -> str | None:
    """The function of another library that a piece of code asks for."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        return "@"
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    owner, name = ast.unparse(node.func).split(".")[0], node.func.attr
    if owner in FUNCTIONS:
        called = ast.unparse(node.func)
        return called if called.split(".")[1] in FUNCTIONS[owner] else None
    return f".{name}" if name in METHODS and owner != "sums" else None


def test_no_module_asks_numpy_or_the_c_library_for_digits() -> None:
    home = Path(fasttree.__file__).parent
    found = set()
    for path in home.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            what = asked(node)
            if what is not None:
                found.add((path.relative_to(home).as_posix(), what))
    assert found == ALLOWED
