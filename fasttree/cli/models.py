# SPDX-License-Identifier: BSD-3-Clause
"""Model files, as commands read and write them; and other files that commands write."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fasttree.cli import exit_codes
from fasttree.cli.errors import CommandError, OutputError


def load_model(path: Path) -> Any:
    import fasttree

    try:
        return fasttree.load(path)
    except FileNotFoundError:
        raise CommandError(f"{path}: no such model file", exit_codes.BAD_MODEL) from None
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror or error}", exit_codes.BAD_MODEL) from error


def save_model(model: Any, path: Path) -> None:
    try:
        model.save(path)
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror or error}") from error


def check_output(path: Path, force: bool, read: Sequence[Path | None] = ()) -> None:
    """Before any work: an output that is there already, or cannot be written, is found out now. What is `read` is
    never written over."""
    from fasttree.base.atomic import check_replaceable

    if path.is_dir():
        raise OutputError(f"{path} is a directory: give the name of a file")
    try:
        check_replaceable(path)
    except OSError as error:
        raise OutputError(error.strerror or str(error)) from error
    for other in read:
        if other is not None and path.exists() and other.exists() and path.samefile(other):
            raise OutputError(f"{path} is also an input: choose another name")
    if path.exists() and not force:
        raise OutputError(
            f"{path} already exists: choose another name, or overwrite it with --force"
        )
    folder = path.parent
    if not folder.is_dir():
        raise OutputError(f"{path} cannot be written: the directory {folder} does not exist")
    if not os.access(folder, os.W_OK):
        raise OutputError(f"{path} cannot be written: no permission to write in {folder}")


def write_file(path: Path, content: str | bytes) -> None:
    """All of it or nothing under the final name."""
    from fasttree.base.atomic import write_whole

    try:
        write_whole(path, content)
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror or error}") from error
