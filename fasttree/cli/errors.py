# SPDX-License-Identifier: BSD-3-Clause
"""What a command raises when it cannot go on: one message with its remedy, and the exit code."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from fasttree.cli import exit_codes


class CommandError(Exception):
    """Ends the command: the message goes to stderr behind "Error: ", `code` to the shell."""

    code = exit_codes.FAILED

    def __init__(self, message: str, code: int | None = None) -> None:
        super().__init__(message)
        if code is not None:
            self.code = code


class UsageError(CommandError):
    code = exit_codes.USAGE


class DataError(CommandError):
    code = exit_codes.BAD_DATA


class OutputError(CommandError):
    code = exit_codes.BAD_OUTPUT


@contextmanager
def blame(error: Callable[[str], CommandError], prefix: str = "") -> Iterator[None]:
    """The library's own words for bad values, with what they are about in front."""
    try:
        yield
    except CommandError:
        raise
    except (ValueError, TypeError) as wrong:
        raise error(f"{prefix}{wrong}") from wrong
