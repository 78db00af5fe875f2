# SPDX-License-Identifier: BSD-3-Clause
"""What can be wrong with files that hold tables, with the tables that a batch run is given, and with the place where
its output goes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

EXAMPLES = 10  # of what is wrong, at most so many are named


class ArgumentError(ValueError):
    """Arguments that are invalid or contradict each other."""


class InputError(ValueError):
    """A table that cannot be read, or that does not fit the model."""


class TableError(InputError):
    """A file without a table that can be read, or that a model can be trained on; the message gives the remedy."""


class FileKindError(TableError):
    """A file name whose extension is not that of a known format."""


class OutputError(OSError):
    """An output that already exists or cannot be written."""


class CellError(InputError):
    """A value that does not fit the model, in a row of a batch. Whoever knows where the batch is from says where."""

    def __init__(self, row: int, column: str, problem: str, remedy: str) -> None:
        super().__init__(f"column {column!r} {problem} in row {row}: {remedy}.")
        self.row, self.column, self.problem, self.remedy = row, column, problem, remedy

    def at(self, where: str) -> InputError:
        return InputError(f"{where}: column {self.column!r} {self.problem}: {self.remedy}.")


def check_names(names: Iterable[str], where: str) -> None:
    """Refuses columns of the same name."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise TableError(f"{where}: two columns are named {twice[0]!r}: give them different names")


def first_line(error: Exception) -> str:
    text = str(error).strip().splitlines()
    return text[0] if text else type(error).__name__
