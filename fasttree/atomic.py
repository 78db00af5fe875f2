# SPDX-License-Identifier: BSD-3-Clause
"""A file that appears under its name when it is whole, or not at all."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO


@contextmanager
def atomic_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A temporary file beside `path`, that takes its place at the end of the block, on the disk and whole.

    If the block fails, the temporary file goes and what stood under the name stays. A link is followed, and a file that
    is replaced hands its permissions on.
    """
    target = os.path.realpath(path)
    folder, name = os.path.split(target)
    if os.path.isdir(target):
        raise IsADirectoryError(f"{os.fspath(path)!r} is a folder: give the name of a file in it")
    temporary = os.path.join(folder, f".{name[:100]}.{secrets.token_hex(6)}.part")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(temporary, flags, 0o666)  # less what the umask takes
    except FileNotFoundError:
        raise FileNotFoundError(
            f"{os.fspath(path)!r}: there is no folder {folder!r}: make it first"
        ) from None
    try:
        with os.fdopen(descriptor, "wb") as file:
            with suppress(FileNotFoundError):
                os.chmod(temporary, stat.S_IMODE(os.stat(target).st_mode))
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
    _sync_folder(folder)


def _sync_folder(folder: str) -> None:
    """Write the new name to the disk too, where a folder can be opened for that."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
