# SPDX-License-Identifier: BSD-3-Clause
"""The pictures of the gallery are there, small, and made by its script."""

from __future__ import annotations

import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")

DOCS = Path(__file__).parents[1] / "docs"
LARGEST = 60_000  # bytes


def test_every_picture_is_there_and_small() -> None:
    page = (DOCS / "gallery.md").read_text("utf-8")
    shown = re.findall(r"!\[([^\]]+)\]\(gallery/([^)]+)\)", page)
    assert len(shown) == page.count("![")
    assert all(len(words) > 10 for words, _ in shown)  # for those who cannot see it
    assert {name for _, name in shown} == {path.name for path in (DOCS / "gallery").iterdir()}
    for path in (DOCS / "gallery").iterdir():
        assert path.stat().st_size < LARGEST, path.name
        if path.suffix == ".png":
            assert path.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
        else:
            ET.parse(path)


def test_the_script_draws_them_all(tmp_path: Path) -> None:
    command = [sys.executable, str(DOCS / "make_gallery.py"), "--folder", str(tmp_path)]
    subprocess.run(command, check=True, cwd=tmp_path)
    drawn = {path.name for path in tmp_path.iterdir()}
    assert drawn == {path.name for path in (DOCS / "gallery").iterdir()}
    # Our own drawing is the same everywhere; pixels depend on the version of matplotlib.
    assert (tmp_path / "tennis.svg").read_text() == (DOCS / "gallery" / "tennis.svg").read_text()
