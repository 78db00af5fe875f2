# SPDX-License-Identifier: BSD-3-Clause
"""Exports as files."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path


def write(path: str | os.PathLike[str], content: str | bytes) -> None:
    """The whole content, or what was there before: never a part of it."""
    target = Path(path)
    if not target.parent.is_dir():
        raise FileNotFoundError(
            f"cannot write {str(target)!r}: there is no directory {str(target.parent)!r}, create it first"
        )
    data = content.encode() if isinstance(content, str) else content
    place, name = tempfile.mkstemp(prefix=f".{target.name[:40]}.", dir=target.parent)
    try:
        with os.fdopen(place, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, _mode(target))
        os.replace(name, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


def _mode(target: Path) -> int:
    """The permissions of the file that is replaced, or those of a new one: mkstemp's are for its owner alone."""
    if target.exists():
        return target.stat().st_mode & 0o7777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
