# SPDX-License-Identifier: BSD-3-Clause
"""What the inputs of a run stand for: files, the data files of folders, patterns, and the standard input."""

from __future__ import annotations

import contextlib
import glob
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from fasttree.files.csv_style import CsvStyle
from fasttree.files.errors import ArgumentError, InputError
from fasttree.files.readers import FORMATS, Source, format_of, open_source

STANDARD = Path("-")  # the standard input, or output
NAME = Path("standard input")  # in messages


def is_standard(path: Path) -> bool:
    return path == STANDARD


def expand(inputs: Sequence[str | Path]) -> list[Path]:
    """The files that are meant, in the order of the inputs; what a folder or a pattern stands for is sorted.

    A folder stands for the data files in it (those whose ending names a format), without hidden ones and those of its
    own folders. A name with ``*``, ``?`` or ``[`` that is no file is a pattern, in which ``**`` goes through folders.
    """
    found: list[Path] = []
    for given in inputs:
        path = Path(given)
        if is_standard(path) or path.is_file():
            found.append(path)
        elif path.is_dir():
            found += _data_files(path)
        elif not path.exists() and glob.has_magic(str(given)):
            found += _matches(str(given))
        else:
            found.append(path)
    if found.count(STANDARD) > 1:
        raise ArgumentError("the standard input can be read only once: give '-' only once")
    return found


def _data_files(folder: Path) -> list[Path]:
    try:
        inside = sorted(folder.iterdir(), key=str)
    except OSError as error:
        raise InputError(f"{folder} cannot be read: {error.strerror or error}.") from None
    files = [path for path in inside if path.is_file() and not path.name.startswith(".")]
    found = [path for path in files if _is_data(path)]
    if not found:
        endings = ", ".join(ending for known in FORMATS.values() for ending in known)
        raise InputError(
            f"{folder} is a folder without data files ({endings}): use another folder, or a pattern such as "
            f"'{folder}/*.txt' together with the format."
        )
    return found


def _is_data(path: Path) -> bool:
    try:
        format_of(path)
    except ArgumentError:
        return False
    return True


def _matches(pattern: str) -> list[Path]:
    found = sorted(
        {path for path in map(Path, glob.glob(pattern, recursive=True)) if path.is_file()}
    )
    if not found:
        raise InputError(f"no file matches the pattern {pattern}.")
    return found


@contextlib.contextmanager
def opened(path: Path, said: str | None, style: CsvStyle) -> Iterator[Source]:
    """The source that a path names, closed in the end.

    The standard input is copied to a temporary file first: a source is read more than once, and from its end.
    """
    if not is_standard(path):
        if not path.exists():
            raise InputError(f"{path} does not exist.")
        with contextlib.closing(open_source(path, said, style)) as source:
            yield source
        return
    with tempfile.TemporaryDirectory(prefix="fasttree-") as folder:
        copy = Path(folder, "input")
        try:
            with open(copy, "wb") as file:
                shutil.copyfileobj(sys.stdin.buffer, file)
        except AttributeError:
            raise InputError(f"the {NAME} is closed.") from None
        except OSError as error:
            raise InputError(
                f"the {NAME} cannot be copied to {folder}: {error.strerror or error}."
            ) from None
        source = open_source(NAME, format_of(path, said), style, copy)
        with contextlib.closing(source):
            yield source
