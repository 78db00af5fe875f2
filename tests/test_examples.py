# SPDX-License-Identifier: BSD-3-Clause
"""What `make demo` runs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"


def run_both(name: str, *arguments: object, cwd: Path) -> tuple[str, str]:
    """What an example writes to stdout and to stderr."""
    command = [sys.executable, str(EXAMPLES / name), *map(str, arguments)]
    found = subprocess.run(command, capture_output=True, text=True, cwd=cwd)
    assert found.returncode == 0, found.stderr
    return found.stdout, found.stderr


def run(name: str, *arguments: object, cwd: Path) -> str:
    return run_both(name, *arguments, cwd=cwd)[0]


def test_the_tour(tmp_path: Path) -> None:
    printed = run("demo.py", "--rows", 2000, "--columns", 6, cwd=tmp_path)
    assert "Outlook = Overcast: Yes (4)" in printed
    assert "with one thread and with 2: yes" in printed


def test_the_short_study_leaves_its_report_where_the_last_line_says(tmp_path: Path) -> None:
    printed = run("study.py", "--rows", 1000, "--seeds", 1, cwd=tmp_path)
    for words in ("nulliparous: 460 deliveries", "The SMML tree:", "Logistic", "synthetic"):
        assert words in printed
    page = tmp_path / "build" / "cesarean-study.html"
    assert printed.splitlines()[-1].endswith(page.resolve().as_uri())
    assert page.read_text("utf-8").rstrip().endswith("</html>")
    run("study.py", "--rows", 1000, "--seeds", 1, "-o", page, cwd=tmp_path)  # over the old one


def test_the_comparison_ends_when_scikit_learn_has_had_its_time(tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    sizes = {}
    for seconds in (0, 1000):
        printed = run("demo.py", "--rows", 1600, "--columns", 6, "--seconds", seconds, cwd=tmp_path)
        lines = printed[printed.index("Compared with scikit-learn") :]
        sizes[seconds] = re.findall(r"^([\d,]+) .* x$", lines, re.M)
        assert ("200 rows would take scikit-learn about" in lines) == (seconds == 0)
    assert sizes == {0: ["100"], 1000: ["100", "200", "400", "800", "1,600"]}


def test_the_study_tells_how_far_it_is_where_nobody_has_a_terminal(tmp_path: Path) -> None:
    _, told = run_both("study.py", "--rows", 600, "--seeds", 1, cwd=tmp_path)
    assert [line for line in told.splitlines() if line.startswith("split")] == [
        "split 1 of 2",
        "split 2 of 2",
    ]


@pytest.mark.skipif(not (ROOT / "Makefile").exists(), reason="no Makefile here")
def test_the_demonstration_installs_nothing_for_tests() -> None:
    make = shutil.which("make")
    if make is None:
        pytest.skip("no make here")
    here = {name: value for name, value in os.environ.items() if name != "MAKEFLAGS"}
    command = [make, "--dry-run", "demo", "VENV=none-yet"]
    found = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=here, check=True)
    assert "examples/demo.py" in found.stdout
    # What the build needs, the package without extras, and the other library of the tour.
    assert re.findall(r"pip install .*?([^- ]\S*)$", found.stdout, re.M) == [
        "none-yet/build-requirements.txt",
        ".",
        "scikit-learn",
    ]
