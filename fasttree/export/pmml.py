# SPDX-License-Identifier: BSD-3-Clause
"""A tree as PMML 4.4: a TreeModel with the class shares of its leaves."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fasttree.export.model import Exportable, Surrogate, Test
from fasttree.export.steps import level_keys, new_name
from fasttree.labels import shown

LARGEST = float(np.finfo(np.float64).max)
# What XML 1.0 cannot say, not even as a number.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
# Words that every reader of an <Array> reads alike, once they are in quotes.
_PLAIN = re.compile(r"[^\s\"\\](?:[^\t\n\r\v\f\x85\u2028\u2029\"\\]*[^\s\"\\])?")
_ESCAPES = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}
)


def export(model: Exportable, *, complete: bool = False) -> str:
    """PMML. `complete`: the file refuses rows that the tree shares out over several branches, because they lack a value
    (or have a level not seen in training, if that counts as missing)."""
    if model.shares_rows:
        if not complete:
            raise ValueError(
                "this tree sends rows without a value down several branches, and PMML decides the class of "
                'such a row otherwise: use format="onnx", "c" or "python"; or pass complete=True for a file that '
                "refuses such rows"
            )
        unknown = "error" if model.unknown == "missing" else model.unknown
        model = replace(model, allow_missing=False, unknown=unknown)
    return "\n".join(_Writer(model).lines()) + "\n"


class _Writer:
    def __init__(self, model: Exportable) -> None:
        self.model = model
        taken: set[str] = {*model.names}
        self.names = [name or new_name(f"column_{i}", taken) for i, name in enumerate(model.names)]
        self.target = new_name("class", taken)
        self.classes = [_value(label) for label in model.classes]
        self.outputs = [new_name(f"probability({label})", taken) for label in self.classes]
        self.kinds, self.texts = zip(*map(self._levels, range(len(self.names))), strict=True)
        # The branch of levels that no predicate lists; -1: that of the absent ones, as none else come here.
        self.unknown_comes = model.unknown == "majority" or (
            model.unknown == "missing" and not model.allow_missing
        )
        for text in [*self.names, *self.classes, *(t for texts in self.texts for t in texts)]:
            if _FORBIDDEN.search(text):
                raise ValueError(
                    f"the name or label {shown(text)} has a character that XML has no way to write: "
                    'rename it, or use format="python" or "json"'
                )

    def _levels(self, place: int) -> tuple[str, list[str]]:
        """The type of a field, and its levels as text."""
        levels = self.model.levels(place)
        if not self.model.attributes[place].is_categorical:
            return "double", []
        keys = level_keys(self.model, place)
        if keys.words and keys.numbers:
            raise ValueError(
                f"column {self.model.names[place]!r} has levels that are words and levels that are numbers, which no "
                'field of PMML can have: use format="python"'
            )
        if keys.words or not levels:
            return "string", list(keys.words)
        if all(isinstance(level, bool) for level in levels):
            return "boolean", [_value(level) for level in levels]
        return "double", [repr(number) for number in keys.numbers]

    # -- the file --------------------------------------------------------------------------------------------------

    def lines(self) -> Iterator[str]:
        yield '<?xml version="1.0" encoding="UTF-8"?>'
        yield '<PMML xmlns="http://www.dmg.org/PMML-4_4" version="4.4">'
        yield "<Header>"
        yield _tag("Application", name="fasttree")
        yield "</Header>"
        yield from self._dictionary()
        is_binary = np.isin(self.model.tree.n_children, (0, 2)).all()
        yield _open(
            "TreeModel",
            modelName=self.model.name,
            functionName="classification",
            missingValueStrategy="defaultChild",
            noTrueChildStrategy="returnLastPrediction"
            if self.model.stops_at_unknown
            else "returnNullPrediction",
            splitCharacteristic="binarySplit" if is_binary else "multiSplit",
        )
        yield from self._schema()
        yield from self._nodes()
        yield "</TreeModel>"
        yield "</PMML>"

    def _dictionary(self) -> Iterator[str]:
        yield _open("DataDictionary", numberOfFields=str(len(self.names) + 1))
        for place, name in enumerate(self.names):
            if self.model.attributes[place].is_categorical:
                yield _open(
                    "DataField", name=name, optype="categorical", dataType=self.kinds[place]
                )
                yield from (_tag("Value", value=text) for text in self.texts[place])
                yield "</DataField>"
            else:
                yield _tag("DataField", name=name, optype="continuous", dataType="double")
        kind = _kind_of_classes(self.model.classes)
        yield _open("DataField", name=self.target, optype="categorical", dataType=kind)
        yield from (_tag("Value", value=text) for text in self.classes)
        yield "</DataField>"
        yield "</DataDictionary>"

    def _schema(self) -> Iterator[str]:
        yield "<MiningSchema>"
        missing = {} if self.model.allow_missing else {"missingValueTreatment": "returnInvalid"}
        unknown = "asIs" if self.unknown_comes else "asMissing"
        if self.model.unknown == "error":
            unknown = "returnInvalid"
        for attribute, name in zip(self.model.attributes, self.names, strict=True):
            invalid = {"invalidValueTreatment": unknown} if attribute.is_categorical else {}
            yield _tag("MiningField", name=name, usageType="active", **missing, **invalid)
        yield _tag("MiningField", name=self.target, usageType="target")
        yield "</MiningSchema>"
        yield "<Output>"
        for name, value in zip(self.outputs, self.classes, strict=True):
            yield _tag(
                "OutputField", name=name, optype="continuous", dataType="double", feature="probability", value=value
            )  # fmt: skip
        yield "</Output>"

    def _nodes(self) -> Iterator[str]:
        """The nodes in each other, one a line; without indents, since a tree may be thousands of levels deep."""
        model, ends = self.model, self.model.ends
        stack: list[tuple[int, str]] = [(0, "<True/>")]
        while stack:
            node, predicate = stack.pop()
            if node < 0:
                yield "</Node>"
                continue
            test = None if model.is_leaf(node) else model.test(node)
            known: dict[str, str] = (
                {"score": self.classes[model.decision[node]]} if ends[node] else {}
            )
            if test is not None and test.missing_branch >= 0:
                known["defaultChild"] = str(test.first_child + test.missing_branch)
            line = _open("Node", id=str(node), **known) + predicate
            yield line + (self._shares(node) if ends[node] else "")
            stack.append((-1, ""))
            if test is not None:
                predicates = self._predicates(test)
                stack.extend(reversed(list(zip(test.children, predicates, strict=True))))

    def _shares(self, node: int) -> str:
        counts, shares = self.model.tree.counts[node].tolist(), self.model.tree.proba[node].tolist()
        return "".join(
            _tag("ScoreDistribution", value=value, recordCount=repr(count), probability=repr(share))
            for value, count, share in zip(self.classes, counts, shares, strict=True)
        )

    # -- predicates ------------------------------------------------------------------------------------------------

    def _predicates(self, test: Test) -> list[str]:
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
        has = self._has_value(attribute)
        return [
            _compound("or", [_compound("and", [has, one]), _compound("and", [silent, other])])
            for one, other in zip(own, others, strict=True)
        ]

    def _own(self, test: Test) -> list[str]:
        if not test.is_table:
            return self._threshold(test.attribute, test.threshold)
        texts = self.texts[test.attribute]
        if not self.unknown_comes:
            listed = self._listed(test.branch_of, test.n_branches)
            rest = test.default_branch
        else:
            listed = test.levels(len(texts))
            rest = -1 if self.model.stops_at_unknown else test.missing_branch
        return [
            self._in(test.attribute, codes)
            if branch != rest
            else self._in(test.attribute, [c for b, cs in enumerate(listed) if b != rest for c in cs], False)
            for branch, codes in enumerate(listed)
        ]  # fmt: skip

    def _listed(self, branch_of: dict[int, int], n_branches: int) -> list[list[int]]:
        codes: list[list[int]] = [[] for _ in range(n_branches)]
        for code, branch in branch_of.items():
            codes[branch].append(code)
        return codes

    def _of_surrogate(self, surrogate: Surrogate) -> list[str]:
        if not surrogate.branch_of:
            predicates = self._threshold(surrogate.attribute, surrogate.threshold)
            return predicates[:: -1 if surrogate.low else 1]
        return [
            self._in(surrogate.attribute, codes) for codes in self._listed(surrogate.branch_of, 2)
        ]

    def _always_answers(self, surrogate: Surrogate) -> bool:
        """Does it say where to go whenever there is a value?"""
        n_levels = len(self.texts[surrogate.attribute])
        return not surrogate.branch_of or (
            len(surrogate.branch_of) == n_levels and not self.unknown_comes
        )

    def _has_no_answer(self, surrogate: Surrogate) -> str:
        lacks = self._simple(surrogate.attribute, "isMissing")
        if not surrogate.branch_of:
            return lacks
        return _compound(
            "or", [lacks, self._in(surrogate.attribute, list(surrogate.branch_of), False)]
        )

    def _has_value(self, attribute: int) -> str:
        return self._simple(attribute, "isNotMissing")

    def _threshold(self, attribute: int, threshold: float) -> list[str]:
        if threshold == np.inf:  # nothing but missing values beyond
            return [self._simple(attribute, "isNotMissing"), self._simple(attribute, "isMissing")]
        signs, value = ("lessOrEqual", "greaterThan"), threshold
        if threshold == -np.inf:  # has no spelling that all readers know
            signs, value = ("lessThan", "greaterOrEqual"), -LARGEST
        return [self._simple(attribute, sign, repr(value)) for sign in signs]

    def _in(self, attribute: int, codes: Sequence[int], is_in: bool = True) -> str:
        """Is the level one of these, or none of these?"""
        texts = [self.texts[attribute][code - 1] for code in codes]
        if not texts and is_in:
            return "<False/>"
        if not texts:  # all that is known
            some = self.texts[attribute][0]
            signs = ("equal", "notEqual")
            return _compound("or", [self._simple(attribute, sign, some) for sign in signs])
        sign, both = ("equal", "or") if is_in else ("notEqual", "and")
        plain = [text for text in texts if len(texts) > 1 and _PLAIN.fullmatch(text)]
        others = [text for text in texts if len(texts) == 1 or not _PLAIN.fullmatch(text)]
        parts = [self._simple(attribute, sign, text) for text in others]
        if plain:
            kind = "real" if self.kinds[attribute] == "double" else "string"
            quoted = plain if kind == "real" else [f'"{text}"' for text in plain]
            parts.append(
                _open("SimpleSetPredicate", field=self.names[attribute], booleanOperator="isIn" if is_in else "isNotIn")
                + _open("Array", type=kind, n=str(len(plain)))
                + " ".join(quoted).translate(_ESCAPES)
                + "</Array></SimpleSetPredicate>"
            )  # fmt: skip
        return _compound(both, parts)

    def _simple(self, attribute: int, sign: str, value: str | None = None) -> str:
        name = self.names[attribute]
        if value is None:
            return _tag("SimplePredicate", field=name, operator=sign)
        return _tag("SimplePredicate", field=name, operator=sign, value=value)


def _compound(operator: str, parts: Sequence[str]) -> str:
    if len(parts) == 1:
        return parts[0]
    return (
        _open("CompoundPredicate", booleanOperator=operator)
        + "".join(parts)
        + "</CompoundPredicate>"
    )


# -- values and XML --------------------------------------------------------------------------------


def _value(label: Any) -> str:
    return str(label).lower() if isinstance(label, bool) else str(label)


def _kind_of_classes(classes: Sequence[Any]) -> str:
    kinds = set(map(type, classes))
    if kinds == {bool}:
        return "boolean"
    if kinds == {int} and all(abs(label) < 2**31 for label in classes):
        return "integer"
    return "double" if kinds == {float} else "string"


def _open(tag: str, /, **attributes: str) -> str:
    return f"<{tag}{_attributes(attributes)}>"


def _tag(tag: str, /, **attributes: str) -> str:
    return f"<{tag}{_attributes(attributes)}/>"


def _attributes(attributes: dict[str, str]) -> str:
    return "".join(f' {name}="{value.translate(_ESCAPES)}"' for name, value in attributes.items())
