# SPDX-License-Identifier: BSD-3-Clause
"""Names and labels in texts that have a grammar."""

from __future__ import annotations

import json
import re
from typing import Any

# What the text of a tree, or of a rule, is made of; a label with any of it could be taken for something else.
_TREE = re.compile(
    r'["{}]|, |: |:$|^\||^\(| \((or missing|or unseen|surrogates)\)| (=|<=|>|or|is) '
)
_RULE = re.compile(
    r'[{}]|(^|[ (])"|, |: |:$|^\(| \((no|\d|training|if missing|or )|^and \d+ more$|(^| )not$|'
    r"(^| )(IF|AND|THEN|OTHERWISE|or|is|=|!=|<|<=|>)( |$)"
)


def readable(value: Any) -> str:
    """A name or label of a tree as it is, or in quotes if it could be mistaken: if it has signs of the grammar or is
    empty."""
    return _readable(str(value), _TREE)


def readable_in_rule(value: Any) -> str:
    """A name or label in the text of a rule, in quotes if it could be mistaken for a part of the rule."""
    return _readable(str(value), _RULE)


def _readable(text: str, grammar: re.Pattern[str]) -> str:
    is_plain = text and text == text.strip() and text.isprintable() and not grammar.search(text)
    return text if is_plain else quoted(text)


def quoted(text: str) -> str:
    """In double quotes on one line, with JSON's escapes."""
    return json.dumps(text, ensure_ascii=not text.isprintable())
