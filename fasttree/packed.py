# SPDX-License-Identifier: BSD-3-Clause
"""Very many texts in little more memory than their letters take: as objects they have several times as much."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np

MANY = 8192  # from which on it pays


class PackedTexts(Sequence[str]):
    """Reads like a tuple of texts, which `unpacked` makes of it."""

    __slots__ = ("_end", "_letters", "_unpacked")

    def __init__(self, texts: Sequence[str]) -> None:
        self._letters = "".join(texts)
        self._end = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts)).cumsum()
        self._unpacked: tuple[str, ...] | None = None

    def __len__(self) -> int:
        return len(self._end)

    @overload
    def __getitem__(self, place: int) -> str: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[str, ...]: ...

    def __getitem__(self, place: int | slice) -> str | tuple[str, ...]:
        if isinstance(place, slice):
            return tuple(self)[place]
        place = range(len(self))[place]
        return self._letters[self._end[place - 1] if place else 0 : self._end[place]]

    def __iter__(self) -> Iterator[str]:
        start = 0
        for first in range(0, len(self), MANY):  # their ends as objects take memory, too
            for end in self._end[first : first + MANY].tolist():
                yield self._letters[start:end]
                start = end

    def unpacked(self) -> tuple[str, ...]:
        """The same tuple each time."""
        if self._unpacked is None:
            self._unpacked = tuple(self)
        return self._unpacked


def packed(labels: Sequence[Any]) -> Sequence[Any]:
    """Labels to be kept for some time; texts packed, if they are very many."""
    if len(labels) < MANY or set(map(type, labels)) != {str}:
        return tuple(labels)
    return PackedTexts(labels)


def unpacked(labels: Sequence[Any]) -> tuple[Any, ...]:
    return labels.unpacked() if isinstance(labels, PackedTexts) else tuple(labels)
