# SPDX-License-Identifier: BSD-3-Clause
"""What `make demo` runs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[1] / "examples"


def run(name: str, *arguments: object, cwd: Path) -> str:
    command = [sys.executable, str(EXAMPLES / name), *map(str, arguments)]
    found = subprocess.run(command, capture_output=True, text=True, cwd=cwd)
    assert found.returncode == 0, found.stderr
    return found.stdout


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
