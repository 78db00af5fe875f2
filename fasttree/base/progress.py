# SPDX-License-Identifier: BSD-3-Clause
"""What a long call is doing, on stderr, for those who ask for it with ``verbose``: folds, levels, rows, time.

A call that is to speak has a `Report` while it lasts, in the thread that made the call; what happens within it says
where it is with `step` and `within`, which do nothing if nobody asked.
"""

from __future__ import annotations

import numbers
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, TypeVar

from fasttree.base.values import short_repr

PATIENCE = 2.0  # seconds without a word; of long calls a quarter of the time so far
EVERY_STEP = 2  # as verbose

clock = time.monotonic

Function = TypeVar("Function", bound=Callable[..., Any])
Item = TypeVar("Item")


class Report:
    """Says where a call is, if some time has passed since it began or last spoke."""

    def __init__(self, title: str, verbose: int) -> None:
        self.says_all = verbose >= EVERY_STEP
        self.has_spoken = False
        self.path = [title]
        self.begin = clock()
        self.next = self.begin + PATIENCE

    def step(self, text: str) -> None:
        now = clock()
        if now < self.next and not self.says_all:
            return
        elapsed = now - self.begin
        self.next = now + max(PATIENCE, elapsed / 4)
        self.has_spoken = True
        line = f"{': '.join([*self.path, text])} ({elapsed:.1f} s)\n"
        if sys.stderr is not None:  # programs without a console have none
            sys.stderr.write(line)  # in one piece, also among those of other threads
            sys.stderr.flush()

    def end(self) -> None:
        if self.has_spoken:
            self.says_all = True
            self.step("done")


_report: ContextVar[Report | None] = ContextVar("report", default=None)


def current() -> Report | None:
    """Who is to be told; None: nobody asked."""
    return _report.get()


def step(text: str) -> None:
    """What begins now."""
    report = _report.get()
    if report is not None:
        report.step(text)


@contextmanager
def within(text: str) -> Iterator[None]:
    """What happens here is a part of this."""
    report = _report.get()
    if report is None:
        yield
        return
    report.path.append(text)
    try:
        yield
    finally:
        report.path.pop()


def each(items: Iterable[Item], text: Callable[[Item], str]) -> Iterator[Item]:
    """The items; what happens to each is `within` its text."""
    for item in items:
        with within(text(item)):
            yield item


@contextmanager
def reporting(verbose: Any, title: str) -> Iterator[None]:
    """A call with this parameter. Within another one that speaks it is a part of that."""
    level = check_verbose(verbose)
    if _report.get() is not None:
        with within(title):
            yield
        return
    if not level:
        yield
        return
    report = Report(title, level)
    token = _report.set(report)
    try:
        yield
        report.end()
    finally:
        _report.reset(token)


def reported(function: Function) -> Function:
    """A function with a keyword ``verbose``, or a method of an object that has it: a call is `reporting`."""

    @wraps(function)
    def call(*positional: Any, **named: Any) -> Any:
        of_method = positional and hasattr(positional[0], "verbose")
        verbose = positional[0].verbose if of_method else named.get("verbose", 0)
        title = type(positional[0]).__name__ if of_method else function.__name__
        with reporting(verbose, title):
            return function(*positional, **named)

    return call  # type: ignore[return-value]


def check_verbose(value: Any) -> int:
    if not isinstance(value, numbers.Integral) or value < 0:
        raise ValueError(
            "verbose must be 0 (silent), 1 (progress of calls longer than two seconds) or 2 (every step), "
            f"got {short_repr(value)}"
        )
    return int(value)
