# SPDX-License-Identifier: BSD-3-Clause
"""What a command raises when it cannot go on: one message with its remedy, and the exit code."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches

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


def near(name: str, known: Iterable[str]) -> str:
    """``did you mean ...?`` for a name that is almost right, and what there is otherwise."""
    from fasttree.base.quoting import readable  # also an empty name can be seen

    names = list(known)
    lower = {other.lower(): other for other in reversed(names)}
    found = [lower[match] for match in get_close_matches(name.lower(), list(lower), n=3)]
    if found:
        return f"did you mean {' or '.join(map(repr, found))}?"
    if len(names) == 1:
        return f"there is only {names[0]!r}"
    shown = ", ".join(map(readable, names[:30])) + (
        f" and {len(names) - 30} more" if len(names) > 30 else ""
    )
    return f"there are {shown}"


def first_line(error: Exception) -> str:
    text = str(error).strip().splitlines()
    return text[0] if text else type(error).__name__
