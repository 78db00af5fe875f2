# SPDX-License-Identifier: BSD-3-Clause
"""How many bits a message takes that tells the classes of the training rows by means of a tree.

The public place of what `fasttree.mml.message` holds; nothing in the package imports it.
"""

from __future__ import annotations

from fasttree.mml.message import (
    Choices,
    LengthPruning,
    MessageLength,
    bits_of_classes,
    bits_of_structure,
    bits_of_tests,
    message_length,
    prune_by_length,
)

__all__ = [
    "Choices",
    "LengthPruning",
    "MessageLength",
    "bits_of_classes",
    "bits_of_structure",
    "bits_of_tests",
    "message_length",
    "prune_by_length",
]


def __dir__() -> list[str]:
    return __all__
