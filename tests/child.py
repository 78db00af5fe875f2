# SPDX-License-Identifier: BSD-3-Clause
"""Runs Python code in a process of its own with a time limit: for what may hang or be killed."""

from __future__ import annotations

import subprocess
import sys
import textwrap

TIME_LIMIT = 60.0


def run_child(
    code: str, *, environment: dict[str, str] | None = None, time_limit: float = TIME_LIMIT
) -> str:
    """What the code prints. It fails the test if the process fails or outlives its time."""
    try:
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(code)],
            capture_output=True,
            text=True,
            timeout=time_limit,
            env=environment,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        raise AssertionError(f"still running after {time_limit} s: {late.stdout}") from None
    assert done.returncode == 0, done.stderr
    return done.stdout
