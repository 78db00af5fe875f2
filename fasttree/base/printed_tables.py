# SPDX-License-Identifier: BSD-3-Clause
"""Tables of results, for people: as aligned text, as Markdown, and as the data frame of a library."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Collection, Sequence
from typing import Any

from fasttree.base.hints import check_choice

LIBRARIES = ("pandas", "polars")


def aligned(rows: Sequence[Sequence[str]], n_left: int = 0, left: Collection[int] = ()) -> str:
    """Columns of equal width: the first `n_left` and those numbered in `left` flush left, the others flush right."""
    at_left = {*range(n_left), *left}
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [
            cell.ljust(width) if column in at_left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def markdown(rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table: the first row is its head, the first column flush left, the others flush right."""
    head, *rest = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    rule = ["---", *["---:"] * (len(head) - 1)]
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, rule, *rest])


def data_frame(columns: dict[str, list[Any]], backend: str | None, library: str) -> Any:
    """Columns as a data frame of `backend`, "pandas" or "polars", or as they are, "dict". None: that of `library`, else
    the one that is imported already, else a dict."""
    if backend is None:
        libraries = sorted(LIBRARIES, key=lambda name: name != library)
        backend = next((name for name in libraries if name in sys.modules), "dict")
    if backend == "dict":
        return columns
    check_choice("backend", backend, (*LIBRARIES, "dict"))
    return importlib.import_module(backend).DataFrame(columns)
