# SPDX-License-Identifier: BSD-3-Clause
"""Names and labels in texts that have a grammar."""

from __future__ import annotations

import json
import re
from typing import Any

# What the text of a tree is made of; a label with any of it could be taken for something else.
_GRAMMAR = re.compile(r'["{}]|, |: |:$|^\||^\(| (=|<=|>|or|is) ')


def readable(value: Any) -> str:
    """A name or label as it is, or in quotes if it could be mistaken: it has signs of the grammar, is empty ..."""
    text = str(value)
    if text and text == text.strip() and text.isprintable() and not _GRAMMAR.search(text):
        return text
    return quoted(text)


def quoted(text: str) -> str:
    """In double quotes on one line, with JSON's escapes."""
    return json.dumps(text, ensure_ascii=not text.isprintable())
