# SPDX-License-Identifier: BSD-3-Clause
"""A file that is there whole or not at all, whatever ends the process that writes it.

It is written under another name in the same folder, and renamed when it is on the disk. What a killed run has left
behind is removed by the next one that writes the same file: a run holds a lock on the file that it writes, and the lock
goes when the process goes, so a file without one belongs to nobody.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
from pathlib import Path
from types import TracebackType
from typing import IO, Any

try:
    import fcntl
except ImportError:  # Windows, which does not let a file be removed while it is open
    fcntl = None  # type: ignore[assignment]

ENDING = ".fasttree-part"


class AtomicFile:
    """``with AtomicFile(path) as part:`` write to ``part.file``, then call ``part.publish()``."""

    def __init__(self, path: Path) -> None:
        self.path = Path(os.path.realpath(path))  # a link stays a link
        self.file: IO[bytes]

    def __enter__(self) -> AtomicFile:
        remove_leftovers(self.path)
        while True:
            self.part = self.path.with_name(f".{self.path.name}.{secrets.token_hex(4)}{ENDING}")
            self.file = open(self.part, "xb")
            if _lock(self.file) and _is_at(
                self.file, self.part
            ):  # no other run took it for a leftover
                return self
            self.file.close()

    def finish(self) -> os.stat_result:
        """All of it is on the disk now; what it will be under its name."""
        self.file.flush()
        os.fsync(self.file.fileno())
        return os.fstat(self.file.fileno())

    def publish(self) -> None:
        """The file gets its name; what had it before is replaced."""
        self.finish()
        if fcntl is None:
            self.file.close()
        os.replace(self.part, self.path)
        sync_folder(self.path.parent)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with contextlib.suppress(OSError):
            self.file.close()
        self.part.unlink(missing_ok=True)  # nothing is there if it has been published


def remove_leftovers(path: Path) -> None:
    """Remove what killed runs have left of a file that they were writing."""
    ours = re.compile(re.escape(f".{path.name}.") + "[0-9a-f]{8}" + re.escape(ENDING))
    for name in os.listdir(path.parent):
        if not ours.fullmatch(name):
            continue
        part = path.with_name(name)
        with contextlib.suppress(OSError), open(part, "r+b") as file:
            if _lock(file) and _is_at(file, part):
                part.unlink()


def _lock(file: IO[Any]) -> bool:
    """True if nobody else is writing the file."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_at(file: IO[Any], path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), os.stat(path))
    except FileNotFoundError:
        return False


def sync_folder(folder: Path) -> None:
    """A new name is on the disk, too."""
    if fcntl is None:
        return
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
