# SPDX-License-Identifier: BSD-3-Clause
"""A study as a report that a clinician would read: one page of HTML, or Markdown."""

from __future__ import annotations

import os
from pathlib import Path

from fasttree.base.values import short_repr
from fasttree.studies.report.contents import contents
from fasttree.studies.report.html import to_html
from fasttree.studies.report.markdown import to_markdown
from fasttree.studies.results import StudyResult

FORMATS = {".html": to_html, ".htm": to_html, ".md": to_markdown, ".markdown": to_markdown}


def report(result: StudyResult, path: str | os.PathLike[str]) -> str:
    """The text of a report, in the format given by the extension of `path`; nothing is written."""
    return FORMATS[check_ending(path)](contents(result))


def write_report(
    result: StudyResult, path: str | os.PathLike[str], *, overwrite: bool = False
) -> None:
    """Write the report to a file, completely or not at all: HTML or Markdown, by the extension."""
    from fasttree.base.atomic import write_whole

    text = report(result, path)
    if not overwrite and os.path.lexists(path):
        raise FileExistsError(
            f"{os.fspath(path)!r} already exists: choose another name, or pass overwrite=True"
        )
    write_whole(path, text)


def check_ending(path: str | os.PathLike[str]) -> str:
    ending = Path(path).suffix.lower()
    if ending not in FORMATS:
        raise ValueError(
            f"the name of a report must end in .html or .md (HTML or Markdown), got {short_repr(os.fspath(path))}"
        )
    return ending


__all__ = ["check_ending", "report", "write_report"]
