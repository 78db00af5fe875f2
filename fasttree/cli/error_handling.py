# SPDX-License-Identifier: BSD-3-Clause
"""How every command ends: with an exit code, and if it failed with one message on stderr instead of a traceback."""

from __future__ import annotations

import errno
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import typer
from typer.core import TyperGroup

from fasttree.cli import exit_codes
from fasttree.cli.errors import CommandError, OutputError
from fasttree.cli.terminal import print_marked, stderr
from fasttree.draw.terminal_text import clean
from fasttree.files.errors import FileKindError, TableError

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # only who writes gets these
# Typer's package of the parser has moved; its errors have always been what these derive from.
PARSER_ERROR: Any = typer.BadParameter.__mro__[2]


class Group(TyperGroup):
    """All the commands. ``--debug`` may stand anywhere."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        given = list(sys.argv[1:] if args is None else args)
        options = given[: given.index("--")] if "--" in given else given
        debug = "--debug" in options
        given = [word for word in options if word != "--debug"] + given[len(options) :]
        parsed_main = super().main

        def run() -> Any:
            try:
                return parsed_main(
                    given, prog_name, complete_var, False, windows_expand_args, **extra
                )
            except SystemExit as end:  # how the parser itself ends if the reader of stdout has gone
                if isinstance(end.__context__, BrokenPipeError):
                    raise end.__context__ from None
                raise

        code = exit_code(run, debug)
        if standalone_mode:
            sys.exit(code)
        return code


def exit_code(run: Callable[[], Any], debug: bool) -> int:
    """Run a command; say what went wrong."""
    with warnings.catch_warnings():
        warnings.filterwarnings("always", category=UserWarning)
        warnings.showwarning = _show_warning
        try:
            code = run()
            _flush()
            if code == exit_codes.INTERRUPTED:  # typer has caught Ctrl-C
                raise KeyboardInterrupt
            return code if isinstance(code, int) else exit_codes.OK
        except (KeyboardInterrupt, typer.Abort):
            stderr().print("Interrupted.", style="yellow")
            return exit_codes.INTERRUPTED
        except BrokenPipeError:  # `fasttree show model | head`: the reader has seen enough
            _drop(sys.stdout)
            return exit_codes.READER_GONE
        except Exception as error:
            if debug:
                traceback.print_exc()
            message, code = _explained(error)
            try:
                sys.stdout.flush()
            except OSError:
                _drop(sys.stdout)
            try:
                _print_error(message)
            except OSError:  # nobody can be told, but the exit code can tell
                _drop(sys.stderr)
            return code


def _flush() -> None:
    """What cannot be written is found out now, not when the interpreter closes."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(f"the output cannot be written: {error.strerror or error}") from error


def _drop(stream: Any) -> None:
    """What a stream still holds cannot be written, and would be tried again when the interpreter closes."""
    with suppress(OSError):  # in memory, where nothing fails
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _explained(error: Exception) -> tuple[str, int]:
    from fasttree import ModelFileError

    if isinstance(error, CommandError):
        return str(error), error.code
    for kind, code in (
        (FileKindError, exit_codes.USAGE),
        (TableError, exit_codes.BAD_DATA),
        (ModelFileError, exit_codes.BAD_MODEL),
        (ImportError, exit_codes.FAILED),  # the library says which extra brings what is missing
    ):
        if isinstance(error, kind):
            return str(error), code
    if isinstance(error, PARSER_ERROR):
        context = getattr(error, "ctx", None)
        hint = f"\nTry '{context.command_path} --help'." if context else ""
        return error.format_message().rstrip() + hint, exit_codes.USAGE
    if isinstance(error, OSError) and error.errno in NO_ROOM:
        return (
            f"{error.filename or 'the output'} cannot be written: {error.strerror}",
            exit_codes.BAD_OUTPUT,
        )
    if isinstance(error, MemoryError):
        reason = f" ({error})" if str(error) else ""
        message = "out of memory: drop columns or rows, or use a machine with more memory"
        return f"{message}{reason}", exit_codes.FAILED
    return (
        f"unexpected {type(error).__name__}: {error}\n"
        "This is a bug. Run the command again with --debug to see the traceback, and report it.",
        exit_codes.FAILED,
    )


def _print_error(message: str) -> None:
    print_marked("Error", "red", "\n".join(clean(line) for line in message.splitlines()))


def _show_warning(message: Any, *_: Any, **__: Any) -> None:
    print_marked("Warning", "yellow", clean(str(message)))
