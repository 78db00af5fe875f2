# SPDX-License-Identifier: BSD-3-Clause
"""The command ``fasttree``: a thin layer over the library, one file a command."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec

from fasttree.cli.exit_codes import INTERRUPTED

NEEDED = ("typer", "rich", "pyarrow")  # what the extra `cli` brings


def main() -> None:
    """Run the command with the arguments of this process, and leave with its exit code."""
    absent = [name for name in NEEDED if find_spec(name) is None]
    if absent:
        print(
            f"Error: the command line needs {' and '.join(absent)}: pip install 'fasttree[cli]'",
            file=sys.stderr,
        )
        raise SystemExit(1)
    for name in ("stdout", "stderr"):  # one that was closed: `fasttree show model >&-`
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        # A name that the terminal's encoding lacks must not stop anything.
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
    try:
        from fasttree.cli.app import app
    except KeyboardInterrupt:  # later ones are for the app
        raise SystemExit(INTERRUPTED) from None
    try:
        app(prog_name="fasttree")
    except SystemExit as end:
        if end.code == INTERRUPTED:
            # Threads of Arrow may still be reading ahead: they would call into an interpreter that is closing.
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(INTERRUPTED)
        raise
