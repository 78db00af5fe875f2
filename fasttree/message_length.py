# SPDX-License-Identifier: BSD-3-Clause
"""Message lengths: how many bits encode a tree and, given the tree, the classes of the training rows.

The public names of `fasttree.mml.message`; nothing in the package imports this module.
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
