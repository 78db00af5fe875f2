# SPDX-License-Identifier: BSD-3-Clause
"""Which outputs in a folder are whole, and what they were made of.

A line is added just before an output gets its name. It describes the file so that it is known again: whatever has that
name but is another file (not yet there, or changed since) is not the one that was noted. Earlier lines stay true: a run
may be killed between the two steps, with an older output still there.
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


class Journal:
    def __init__(self, folder: Path) -> None:
        self.path = folder / NAME
        self._noted: dict[str, list[tuple[str, list[int]]]] = {}  # by output: jobs and files
        with contextlib.suppress(FileNotFoundError):
            for line in self.path.read_text("utf-8", errors="replace").splitlines():
                # The last line of a killed run may be torn.
                with contextlib.suppress(ValueError, KeyError, TypeError):
                    entry = json.loads(line)
                    self._remember(entry["output"], entry["job"], entry["file"])

    def knows(self, output: Path) -> bool:
        """Is the file one that an earlier run has made, and as it was then?"""
        return bool(self._jobs(output))

    def is_made_by(self, output: Path, job: str) -> bool:
        return job in self._jobs(output)

    def note(self, output: Path, job: str, file: os.stat_result) -> None:
        entry: dict[str, Any] = {"output": output.name, "job": job, "file": _traits(file)}
        with open(self.path, "a", encoding="utf-8") as journal:
            # After the torn line of a killed run, a line of its own.
            journal.write(f"\n{json.dumps(entry)}\n")
            journal.flush()
            os.fsync(journal.fileno())
        self._remember(output.name, job, entry["file"])

    def _jobs(self, output: Path) -> list[str]:
        found = _traits(output.stat())
        return [job for job, file in self._noted.get(output.name, []) if file == found]

    def _remember(self, output: str, job: str, file: list[int]) -> None:
        self._noted.setdefault(output, []).append((job, file))


def _traits(found: os.stat_result) -> list[int]:
    return [found.st_size, found.st_mtime_ns]


def job_of(model: str, inputs: Sequence[Path], options: Any) -> str:
    """A digest of what an output is made of: the model, the inputs (name, size, time of change) and the options."""
    files = [
        [str(path.absolute()), *(_traits(path.stat()) if path.exists() else [])] for path in inputs
    ]
    said = json.dumps([model, files, repr(options)], sort_keys=True)
    return hashlib.sha256(said.encode()).hexdigest()
