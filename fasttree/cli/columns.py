# SPDX-License-Identifier: BSD-3-Clause
"""What the columns of a file were taken for, and warnings of those that may be something else."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from fasttree.cli.terminal import speaks_unicode, stdout
from fasttree.draw.terminal_text import clean, cut
from fasttree.files.tables import CSV, suffix

if TYPE_CHECKING:
    from fasttree.tables.column_list import ColumnList
    from fasttree.tables.doubts import Remedies


def remedies(path: Path, can_merge: bool = True) -> Remedies:
    """What the command line can do about a doubtful column of a file. `can_merge`: it joins categories of few rows."""
    from fasttree.tables.doubts import SUGGESTED, Remedies

    is_csv = not path.suffix or suffix(path) in CSV
    return Remedies(
        keep="declare it categorical (--categorical {})",
        empty="leave such fields empty" if is_csv else "make such cells null",
        to_dates="write dates as 2024-02-29" if is_csv else "store the column as dates",
        to_numbers="specify the decimal sign (--decimal ,)"
        if is_csv
        else "make the column numeric",
        leave_out="leave it out (--drop {})",
        merge=f"merge its rare categories (--min-category-count {SUGGESTED})"
        if can_merge
        else "merge its rare categories",
        unpruned="--prune none",
    )


def read_columns(path: Path, X: Any, y: Any, can_merge: bool = True) -> ColumnList:
    """The columns of a table as a model reads them. Warns of doubtful ones."""
    from fasttree import Columns
    from fasttree.tables.column_list import columns_of
    from fasttree.tables.doubts import speaking

    with speaking(remedies(path, can_merge)):
        return columns_of(Columns(X, y).encoded.schema)


def print_columns(columns: ColumnList) -> None:
    """The columns, and a blank line. Names and values are made safe: they come from a file."""
    from fasttree.tables.column_list import MOST

    console = stdout()
    ellipsis = "…" if speaks_unicode(console) else "..."
    for number, line in enumerate(columns.to_text(MOST).splitlines()):
        text = cut(clean(line), console.width, ellipsis)
        console.print(text, style="" if number else "dim", markup=False, soft_wrap=True)
    console.print()
