# SPDX-License-Identifier: BSD-3-Clause
"""Which outputs in a folder are whole, and what they were made of.

A line is added just before an output gets its name. It describes the file so that it is known again: whatever has that
name but is another file (not yet there, or changed since) is not the one that was noted.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

NAME = ".fasttree-score.jsonl"
ENTRY = ("output", "job", "file")


class Journal:
    def __init__(self, folder: Path) -> None:
        self.path = folder / NAME
        self._noted: dict[str, dict[str, Any]] = {}
        with contextlib.suppress(FileNotFoundError):
            for line in self.path.read_text("utf-8").splitlines():
                with contextlib.suppress(
                    ValueError, KeyError, TypeError
                ):  # a killed run's last line
                    entry = json.loads(line)
                    self._noted[entry["output"]] = {key: entry[key] for key in ENTRY}

    def knows(self, output: Path) -> bool:
        """Is the file one that an earlier run has made, and as it was then?"""
        entry = self._noted.get(output.name)
        with contextlib.suppress(OSError):
            return entry is not None and entry["file"] == _traits(output.stat())
        return False

    def is_made_by(self, output: Path, job: str) -> bool:
        return self.knows(output) and self._noted[output.name]["job"] == job

    def note(self, output: Path, job: str, file: os.stat_result) -> None:
        entry = dict(zip(ENTRY, (output.name, job, _traits(file)), strict=True))
        with open(self.path, "a", encoding="utf-8") as journal:
            # After the torn line of a killed run, a line of its own.
            journal.write(f"\n{json.dumps(entry)}\n")
            journal.flush()
            os.fsync(journal.fileno())
        self._noted[output.name] = entry


def _traits(found: os.stat_result) -> list[int]:
    return [found.st_size, found.st_mtime_ns]


def job_of(model: str, inputs: Sequence[Path], options: Any) -> str:
    """A digest of what an output is made of: the model, the inputs (name, size, time of change) and the options."""
    files = [[str(path.absolute()), *_traits(path.stat())] for path in inputs]
    said = json.dumps([model, files, repr(options)], sort_keys=True)
    return hashlib.sha256(said.encode()).hexdigest()
