# SPDX-License-Identifier: BSD-3-Clause
"""Very many texts in little more memory than their letters take: as objects they have several times as much."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np

MANY = 8192  # from which on it pays


class PackedTexts(Sequence[str]):
    """Reads like a tuple of texts, which `unpacked` makes of it."""

    __slots__ = ("_n", "_packed", "_unpacked")

    def __init__(self, texts: Sequence[str]) -> None:
        self._n = len(texts)
        ends = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts)).cumsum()
        # One of both. Other threads may be reading while the tuple takes over, so it is there before these go.
        self._packed: tuple[str, np.ndarray] | None = "".join(texts), ends
        self._unpacked: tuple[str, ...] = ()

    def __len__(self) -> int:
        return self._n

    @overload
    def __getitem__(self, place: int) -> str: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[str, ...]: ...

    def __getitem__(self, place: int | slice) -> str | tuple[str, ...]:
        packed = self._packed
        if packed is None:
            return self._unpacked[place]
        if isinstance(place, slice):
            return tuple(self)[place]
        letters, ends = packed
        place = range(self._n)[place]
        return letters[ends[place - 1] if place else 0 : ends[place]]

    def __iter__(self) -> Iterator[str]:
        packed = self._packed
        if packed is None:
            yield from self._unpacked
            return
        letters, ends = packed
        start = 0
        for first in range(0, self._n, MANY):  # their ends as objects take memory, too
            for end in ends[first : first + MANY].tolist():
                yield letters[start:end]
                start = end

    def unpacked(self) -> tuple[str, ...]:
        """The same tuple each time."""
        if self._packed is not None:
            self._unpacked = tuple(self)
            self._packed = None
        return self._unpacked


def packed(labels: Sequence[Any]) -> Sequence[Any]:
    """Labels to be kept for some time; texts packed, if they are very many."""
    if len(labels) < MANY or set(map(type, labels)) != {str}:
        return tuple(labels)
    return PackedTexts(labels)


def unpacked(labels: Sequence[Any]) -> tuple[Any, ...]:
    return labels.unpacked() if isinstance(labels, PackedTexts) else tuple(labels)
