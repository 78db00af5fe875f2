# SPDX-License-Identifier: BSD-3-Clause
"""A run as on another processor is one: whatever would be passed over in silence is found."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import as_other_processors
import pytest
from as_other_processors import CHOSEN, PROCESSORS, capabilities, ordinary
from child import run_child
from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

pytestmark = pytest.mark.skipif(not capabilities(), reason="for x86-64 and Linux")
SHOW = """
    from as_other_processors import PROCESSORS, differences
    import numpy
    numpy.ones((3, 3)) @ numpy.ones((3, 3))
    print(*differences(PROCESSORS["any x86-64"]), sep="\\n")
"""


def differences(variables: dict[str, str]) -> str:
    here = {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])}
    return run_child(SHOW, environment=ordinary() | here | variables)


def test_an_ordinary_process_is_not_taken_for_another_processor() -> None:
    found = differences({})
    flags = capabilities()
    assert ("the C library uses AVX2" in found) == ("avx2" in flags)
    assert ("the C library uses FMA" in found) == ("fma" in flags)
    assert ("OpenBLAS takes the kernels of" in found) == ("avx2" in flags)
    for name in PROCESSORS["any x86-64"].numpy_names():
        assert f"numpy uses {name}" in found


def test_with_the_variables_only_the_core_is_that_of_this_machine() -> None:
    found = differences(PROCESSORS["any x86-64"].variables()).splitlines()
    assert [re.sub(r" /.*? has", " has", line) for line in found if "the core" not in line] == []
    assert len(found) == 1  # of which copies there is no choice without another build


@pytest.mark.parametrize(
    ("variable", "wrong", "told"),
    [
        ("NPY_DISABLE_CPU_FEATURES", "X86_V33", "numpy uses "),
        ("GLIBC_TUNABLES", "glibc.cpu.hwcaps=-AVX22,-FMAA", "the C library uses "),
        ("OPENBLAS_CORETYPE", "Prescot", "OpenBLAS takes the kernels of "),
    ],
)
def test_names_that_nobody_knows_are_found(variable: str, wrong: str, told: str) -> None:
    if "avx2" not in capabilities():
        pytest.skip("as old as the oldest that is imitated")
    variables = PROCESSORS["any x86-64"].variables()
    assert variable in variables
    assert told in differences(variables | {variable: wrong})


def test_every_processor_leaves_as_much_to_numpy_as_the_one_before() -> None:
    names = {name: processor.numpy_names() for name, processor in PROCESSORS.items()}
    assert names["any x86-64"] == [name for name in __cpu_dispatch__ if __cpu_features__[name]]
    assert set(names["any x86-64"]) >= set(names["Haswell"]) >= set(names["SkylakeX"])
    assert names["Zen"] == names["Haswell"]
    if "avx512bw" in capabilities():
        assert len(names["any x86-64"]) > len(names["Haswell"]) > 0


def test_a_test_process_that_is_not_what_it_should_be_does_not_start(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__]
    found = subprocess.run(
        command, capture_output=True, text=True, env=ordinary() | {CHOSEN: "any x86-64"}
    )
    assert found.returncode != 0
    assert "this process does not run as on any x86-64" in found.stdout + found.stderr


@pytest.mark.parametrize(
    ("body", "passed"),
    [
        ("@pytest.mark.numeric\ndef test_one(): pass\ndef test_other(): assert False", 1),
        ("def test_other(): pass", None),  # a run that selects nothing shows nothing
        ("@pytest.mark.numeric\ndef test_one(): assert False", None),
    ],
)
def test_passed_tests_are_counted(
    body: str, passed: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "test_made.py").write_text(f"import pytest\n\n{body}\n")
    monkeypatch.chdir(tmp_path)
    found = as_other_processors.run("any x86-64", tmp_path, tmp_path / "none", ["test_made.py"])
    assert found == passed
