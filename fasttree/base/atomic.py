# SPDX-License-Identifier: BSD-3-Clause
"""A file that appears under its name when it is whole, or not at all, whatever ends the process that writes it.

What a killed process leaves behind is removed when the same file is written again. A file that is being written is
locked, and the lock goes with the process: one without a lock belongs to nobody.
"""

from __future__ import annotations

import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # Windows, where nobody can remove a file that another has open
    fcntl = None  # type: ignore[assignment]

ENDING = ".part"
TOKEN_BYTES = 6


@contextmanager
def atomic_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A temporary file beside `path`, that takes its place at the end of the block, on the disk and whole.

    If the block fails, the temporary file goes and what stood under the name stays. A link is followed, and a file that
    is replaced hands its permissions on. Its descriptor may also be read. What the system refuses to write
    names `path`.
    """
    path = os.fsdecode(path)
    check_replaceable(path)
    target = os.path.realpath(path)
    folder, name = os.path.split(target)
    if not os.path.isdir(folder):
        raise FileNotFoundError(
            f"{os.fspath(path)!r}: the directory {folder!r} does not exist: create it first"
        )
    _remove_leftovers(folder, name)
    temporary, descriptor = _locked_file(folder, name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            with suppress(FileNotFoundError):
                os.chmod(temporary, stat.S_IMODE(os.stat(target).st_mode))
            yield file
            file.flush()
            os.fsync(file.fileno())
            if fcntl is not None:  # while the lock is held
                os.replace(temporary, target)
        if fcntl is None:  # Windows does not rename a file that is open
            os.replace(temporary, target)
    except BaseException as error:
        with suppress(FileNotFoundError):
            os.unlink(temporary)
        if isinstance(error, OSError) and error.errno is not None and error.filename is None:
            error.filename = path  # of a full disk the system does not say which file it was
        raise
    _sync_folder(folder)


def check_replaceable(path: str | os.PathLike[str]) -> None:
    """Refuses a name that is taken by anything but a regular file: a device or a pipe would become one."""
    path = os.fsdecode(path)
    try:
        mode = os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(f"{path!r} is a directory: pass the path of a file")
    if not stat.S_ISREG(mode):
        raise FileExistsError(f"{path} is not a regular file: write to another name")


def write_whole(path: str | os.PathLike[str], content: str | bytes) -> None:
    """All of the content under the name, or what was there before."""
    with atomic_file(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)


def _locked_file(folder: str, name: str) -> tuple[str, int]:
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    while True:
        token = secrets.token_hex(TOKEN_BYTES)
        temporary = os.path.join(folder, f".{_start(name)}.{token}{ENDING}")
        try:
            descriptor = os.open(temporary, flags, 0o666)  # less what the umask takes
            if fcntl is not None:
                with suppress(OSError):  # some file systems have no locks; leftovers stay there
                    fcntl.flock(descriptor, fcntl.LOCK_EX)
            if _is_at(descriptor, temporary):
                return temporary, descriptor
            os.close(descriptor)  # another process took it for a leftover before it was locked
        except FileExistsError:  # somebody else's
            continue
        except BaseException:  # Ctrl-C strikes here, too
            with suppress(OSError):
                os.unlink(temporary)
            raise


def _remove_leftovers(folder: str, name: str) -> None:
    if fcntl is None:
        return
    token = f"[0-9a-f]{{{2 * TOKEN_BYTES}}}"
    ours = re.compile(rf"\.{re.escape(_start(name))}\.{token}{re.escape(ENDING)}")
    for other in filter(ours.fullmatch, os.listdir(folder)):
        leftover = os.path.join(folder, other)
        with suppress(OSError), open(leftover, "r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails if somebody is writing it
            if _is_at(file.fileno(), leftover):
                os.unlink(leftover)


def _start(name: str) -> str:
    """The start of a name, which may have 255 bytes, that leaves room for more."""
    return name[:200] if name.isascii() else name[:50]


def _is_at(descriptor: int, path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        return False


def _sync_folder(folder: str) -> None:
    """Write the new name to the disk too, where a folder can be opened for that."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
