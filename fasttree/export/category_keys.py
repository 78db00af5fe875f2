# SPDX-License-Identifier: BSD-3-Clause
"""Columns and labels for formats that know words and numbers alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from fasttree.base.values import short_repr
from fasttree.trees.view import Exportable


@dataclass(frozen=True, slots=True)
class LevelKeys:
    """How the levels of a column are written in a format that knows words and numbers alone: their codes."""

    words: dict[str, int]
    numbers: dict[float, int]


def level_keys(model: Exportable, attribute: int) -> LevelKeys:
    """Text and dates are words, numbers and bools are numbers."""
    words: dict[str, int] = {}
    numbers: dict[float, int] = {}
    for level, code in model.codes(attribute):
        if isinstance(level, (bool, int, float, Decimal)):
            number = float(level)
            if number != level:
                raise ValueError(
                    f"column {model.names[attribute]!r} has the category {level!r}, which is not exact as a double: "
                    'use format="python"'
                )
            numbers[number] = code
        else:
            words[str(level)] = code
    return LevelKeys(words, numbers)


def check_one_kind(name: str, keys: LevelKeys, format: str) -> None:
    """An input or field is of words or of numbers."""
    if keys.words and keys.numbers:
        raise ValueError(
            f"column {name!r} has text categories, such as {short_repr(next(iter(keys.words)))}, and numeric "
            f"categories, "
            f'such as {next(iter(keys.numbers)):g}, but a column in {format} must be of one type: use format="python"'
        )


def codes_by_branch(branch_of: Mapping[int, int], n_branches: int = 2) -> list[list[int]]:
    """The codes that a test or surrogate sends down each branch."""
    codes: list[list[int]] = [[] for _ in range(n_branches)]
    for code, branch in branch_of.items():
        codes[branch].append(code)
    return codes


def new_name(wanted: str, taken: set[str]) -> str:
    """`wanted`, or something like it that nothing else is called; from now on it is taken."""
    while wanted in taken:
        wanted += "_"
    taken.add(wanted)
    return wanted


def plain_json(value: Any) -> Any:
    """A level or class as JSON has it; dates and the like as text."""
    return value if isinstance(value, (str, bool, int, float)) else str(value)
