# SPDX-License-Identifier: BSD-3-Clause
"""A tree in other forms, one file each."""

from collections.abc import Callable

from fasttree.export.text import to_text
from fasttree.tree import Tree

EXPORTERS: dict[str, Callable[[Tree], str]] = {"text": to_text}
