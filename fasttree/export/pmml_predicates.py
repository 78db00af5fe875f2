# SPDX-License-Identifier: BSD-3-Clause
"""The tests of a tree as PMML's predicates: true, false, or unknown where a value is missing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fasttree.export.category_keys import codes_by_branch
from fasttree.trees.view import Exportable, Surrogate, Test

LARGEST = float(np.finfo(np.float64).max)
# Words that every reader of an <Array> reads alike, once they are in quotes.
PLAIN = re.compile(r"[^\s\"\\](?:[^\t\n\r\v\f\x85\u2028\u2029\"\\]*[^\s\"\\])?")
ESCAPES = str.maketrans(
    {
        "&": "&amp;",
        "<": "&lt;",
        ">": "&gt;",
        '"': "&quot;",
        "\n": "&#10;",
        "\r": "&#13;",
        "\t": "&#9;",
    }
)


@dataclass(frozen=True, slots=True)
class Predicates:
    model: Exportable
    names: Sequence[str]  # of the fields
    kinds: Sequence[str]  # their types
    texts: Sequence[Sequence[Sequence[str]]]  # their levels, those of each code
    # Do levels come that the schema does not know, and that have no code? Else they are refused, or missing.
    unknown_comes: bool

    def of_branches(self, test: Test) -> list[str]:
        """Of the branches of a node."""
        own = self._own(test)
        if not test.surrogates:
            return own
        others = [self._of_surrogate(surrogate) for surrogate in test.surrogates]
        if all(map(self._always_answers, test.surrogates)):
            # One that is unknown leaves it to the next; if all are, it is the default child.
            return [
                _compound("surrogate", [own[b], *(other[b] for other in others)]) for b in (0, 1)
            ]
        answers = ["<True/>" if b == test.missing_branch else "<False/>" for b in (0, 1)]
        for surrogate, other in zip(reversed(test.surrogates), reversed(others), strict=True):
            answers = self._else(
                other, surrogate.attribute, self._has_no_answer(surrogate), answers
            )
        lacks = self._simple(test.attribute, "isMissing")
        return self._else(own, test.attribute, lacks, answers)

    def _else(self, own: list[str], attribute: int, silent: str, others: list[str]) -> list[str]:
        """What a test says, or, if it is silent, what the others say; never unknown."""
        has = self._simple(attribute, "isNotMissing")
        return [
            _compound("or", [_compound("and", [has, said]), _compound("and", [silent, other])])
            for said, other in zip(own, others, strict=True)
        ]

    def _own(self, test: Test) -> list[str]:
        if not test.is_table:
            return self._threshold(test.attribute, test.threshold)
        if not self._unknown_comes(test.attribute):
            listed = codes_by_branch(test.branch_of, test.n_branches)
            rest = test.default_branch
        else:
            listed = test.levels(len(self.texts[test.attribute]))
            rest = -1 if self.model.stops_at_unknown else test.missing_branch
        return [
            self._in(test.attribute, codes)
            if branch != rest
            else self._in(test.attribute, [c for b, cs in enumerate(listed) if b != rest for c in cs], False)
            for branch, codes in enumerate(listed)
        ]  # fmt: skip

    def _unknown_comes(self, attribute: int) -> bool:
        return self.unknown_comes and not self.model.unseen(attribute)

    def _of_surrogate(self, surrogate: Surrogate) -> list[str]:
        if not surrogate.branch_of:
            predicates = self._threshold(surrogate.attribute, surrogate.threshold)
            return predicates[:: -1 if surrogate.low else 1]
        return [self._in(surrogate.attribute, c) for c in codes_by_branch(surrogate.branch_of)]

    def _always_answers(self, surrogate: Surrogate) -> bool:
        """Does it say where to go whenever there is a value?"""
        n_levels = len(self.texts[surrogate.attribute])
        return not surrogate.branch_of or (
            len(surrogate.branch_of) == n_levels and not self._unknown_comes(surrogate.attribute)
        )

    def _has_no_answer(self, surrogate: Surrogate) -> str:
        lacks = self._simple(surrogate.attribute, "isMissing")
        if not surrogate.branch_of:
            return lacks
        return _compound(
            "or", [lacks, self._in(surrogate.attribute, list(surrogate.branch_of), False)]
        )

    def _threshold(self, attribute: int, threshold: float) -> list[str]:
        if threshold == np.inf:  # nothing but missing values beyond
            return [self._simple(attribute, "isNotMissing"), self._simple(attribute, "isMissing")]
        signs, value = ("lessOrEqual", "greaterThan"), threshold
        if threshold == -np.inf:  # has no spelling that all readers know
            signs, value = ("lessThan", "greaterOrEqual"), -LARGEST
        return [self._simple(attribute, sign, repr(value)) for sign in signs]

    def _in(self, attribute: int, codes: Sequence[int], is_in: bool = True) -> str:
        """Is the level one of these, or none of these?"""
        of_code, unseen = self.texts[attribute], self.model.unseen(attribute)
        if unseen and unseen in codes:
            # What training did not see cannot be listed, the other codes can.
            codes = [code for code in range(1, len(of_code) + 1) if code not in codes]
            is_in = not is_in
        texts = [text for code in codes for text in of_code[code - 1]]
        if not texts and is_in:
            return "<False/>"
        if not texts:  # all that is known
            level = next(text for texts in of_code for text in texts)
            signs = ("equal", "notEqual")
            return _compound("or", [self._simple(attribute, sign, level) for sign in signs])
        sign, both = ("equal", "or") if is_in else ("notEqual", "and")
        plain = [text for text in texts if len(texts) > 1 and PLAIN.fullmatch(text)]
        others = [text for text in texts if len(texts) == 1 or not PLAIN.fullmatch(text)]
        parts = [self._simple(attribute, sign, text) for text in others]
        if plain:
            kind = "real" if self.kinds[attribute] == "double" else "string"
            quoted = plain if kind == "real" else [f'"{text}"' for text in plain]
            operator = "isIn" if is_in else "isNotIn"
            parts.append(
                open_tag(
                    "SimpleSetPredicate", field=self.names[attribute], booleanOperator=operator
                )
                + open_tag("Array", type=kind, n=str(len(plain)))
                + " ".join(quoted).translate(ESCAPES)
                + "</Array></SimpleSetPredicate>"
            )
        return _compound(both, parts)

    def _simple(self, attribute: int, sign: str, value: str | None = None) -> str:
        name = self.names[attribute]
        if value is None:
            return tag("SimplePredicate", field=name, operator=sign)
        return tag("SimplePredicate", field=name, operator=sign, value=value)


def _compound(operator: str, parts: Sequence[str]) -> str:
    if len(parts) == 1:
        return parts[0]
    return (
        open_tag("CompoundPredicate", booleanOperator=operator)
        + "".join(parts)
        + "</CompoundPredicate>"
    )


def open_tag(element: str, /, **attributes: str) -> str:
    return f"<{element}{_attributes(attributes)}>"


def tag(element: str, /, **attributes: str) -> str:
    return f"<{element}{_attributes(attributes)}/>"


def _attributes(attributes: dict[str, str]) -> str:
    return "".join(f' {name}="{value.translate(ESCAPES)}"' for name, value in attributes.items())
