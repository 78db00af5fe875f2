# SPDX-License-Identifier: BSD-3-Clause
"""Where commands print: results to stdout, messages and progress to stderr. No colour but on a terminal."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console

from fasttree.draw.terminal_text import clean

if TYPE_CHECKING:
    from rich.table import Table


def stdout(plain: bool = False) -> Console:
    """Made anew each time, since tests and pipes change what stdout is."""
    return Console(highlight=False, emoji=False, no_color=True if plain else None)


def stderr() -> Console:
    return Console(stderr=True, highlight=False, emoji=False)


def speaks_unicode(console: Console) -> bool:
    return console.encoding.lower().startswith("utf") and not console.legacy_windows


def print_marked(word: str, style: str, text: str) -> None:
    """A text on stderr behind a word that stands out."""
    console = stderr()
    console.print(f"{word}:", style=f"bold {style}", end=" ")
    console.print(text, markup=False, soft_wrap=True)


def print_text(text: str) -> None:
    """A text for other programs as it is; a terminal is spared what would steer it."""
    if sys.stdout.isatty():
        text = "\n".join(clean(line.replace("\t", "    ")) for line in text.split("\n"))
    sys.stdout.write(text if text.endswith("\n") else text + "\n")


def grid(header: Sequence[str], n_left: int = 1, gap: int = 2) -> Table:
    """A table without lines, to be filled: columns of words on the left, then numbers."""
    from rich.table import Table

    table = Table(box=None, padding=(0, gap, 0, 0), header_style="bold", pad_edge=False)
    for column, name in enumerate(header):
        table.add_column(name, justify="left" if column < n_left else "right", no_wrap=True)
    return table


def print_json(value: Any) -> None:
    sys.stdout.write(json.dumps(_plain(value), indent=2, ensure_ascii=False) + "\n")


def _plain(value: Any) -> Any:
    """JSON has no NaN, and knows nothing of numpy."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, (str, int, bool)) else str(value)


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """A sign of life on a terminal while something of unknown length goes on."""
    with counting(what):
        yield


@contextmanager
def counting(what: str) -> Iterator[Callable[[int, int], None]]:
    """A progress bar on a terminal; gives the function that is told (done, all)."""
    console = stderr()
    if not console.is_terminal:
        yield lambda done, total: None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(what, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


def seconds(value: float) -> str:
    if value < 0.9995:
        return f"{value * 1000:.3g} ms" if value < 0.0995 else f"{value * 1000:.0f} ms"
    return f"{value:.2f} s"
