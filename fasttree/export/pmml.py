# SPDX-License-Identifier: BSD-3-Clause
"""A tree as PMML 4.4: a TreeModel with the class shares of its leaves."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fasttree.base.values import short_repr
from fasttree.export.category_keys import check_one_kind, level_keys, new_name
from fasttree.export.pmml_predicates import Predicates, open_tag, tag
from fasttree.trees.view import Exportable

# What XML 1.0 cannot say, not even as a number.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def export(model: Exportable, *, complete: bool = False) -> str:
    """PMML. `complete`: the file rejects the rows that the tree distributes fractionally over branches, which are those
    with a missing value (or a category not seen in training, if that counts as missing)."""
    if model.shares_rows:
        if not complete:
            raise ValueError(
                "this tree distributes rows with a missing value fractionally over branches, and PMML "
                'determines their class differently: use format="onnx", "c" or "python", or pass complete=True for '
                "a file that rejects such rows"
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
        kinds, texts = zip(*map(self._levels, range(len(self.names))), strict=True)
        values = [[text for of_code in codes for text in of_code] for codes in texts]
        self.values = values  # of the fields
        unknown_comes = model.unknown == "majority" or (
            model.unknown == "missing" and not model.allow_missing
        )
        self.predicates = Predicates(model, self.names, kinds, texts, unknown_comes)
        for text in [*self.names, *self.classes, *(t for listed in values for t in listed)]:
            if _FORBIDDEN.search(text):
                raise ValueError(
                    f"the name or label {short_repr(text)} has a character that XML cannot represent: "
                    'rename it, or use format="python" or "json"'
                )

    def _levels(self, place: int) -> tuple[str, list[list[str]]]:
        """The type of a field, and for each code its levels as text."""
        levels = [level for level, _ in self.model.codes(place)]
        if not self.model.attributes[place].is_categorical:
            return "double", []
        keys = level_keys(self.model, place)
        check_one_kind(self.model.names[place], keys, "PMML")
        if keys.words or not levels:
            return "string", self._by_code(place, keys.words.items())
        if all(isinstance(level, bool) for level in levels):
            return "boolean", [[_value(level)] for level in levels]
        numbers = ((repr(number), code) for number, code in keys.numbers.items())
        return "double", self._by_code(place, numbers)

    def _by_code(self, place: int, texts: Iterable[tuple[str, int]]) -> list[list[str]]:
        by_code: list[list[str]] = [[] for _ in self.model.levels(place)]
        for text, code in texts:
            by_code[code - 1].append(text)
        return by_code

    # -- the file --------------------------------------------------------------------------------------------------

    def lines(self) -> Iterator[str]:
        yield '<?xml version="1.0" encoding="UTF-8"?>'
        yield '<PMML xmlns="http://www.dmg.org/PMML-4_4" version="4.4">'
        yield "<Header>"
        yield tag("Application", name="fasttree")
        yield "</Header>"
        yield from self._dictionary()
        is_binary = np.isin(self.model.tree.n_children, (0, 2)).all()
        yield open_tag(
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
        yield open_tag("DataDictionary", numberOfFields=str(len(self.names) + 1))
        for place, name in enumerate(self.names):
            if self.model.attributes[place].is_categorical:
                yield open_tag(
                    "DataField",
                    name=name,
                    optype="categorical",
                    dataType=self.predicates.kinds[place],
                )
                yield from (tag("Value", value=text) for text in self.values[place])
                yield "</DataField>"
            else:
                unit = self.model.units.get(self.model.names[place])
                label = {} if unit is None else {"displayName": f"{name}, {unit}"}
                yield tag("DataField", name=name, **label, optype="continuous", dataType="double")
        kind = _kind_of_classes(self.model.classes)
        yield open_tag("DataField", name=self.target, optype="categorical", dataType=kind)
        yield from (tag("Value", value=text) for text in self.classes)
        yield "</DataField>"
        yield "</DataDictionary>"

    def _schema(self) -> Iterator[str]:
        yield "<MiningSchema>"
        missing = {} if self.model.allow_missing else {"missingValueTreatment": "returnInvalid"}
        unknown = "asIs" if self.predicates.unknown_comes else "asMissing"
        if self.model.unknown == "error":
            unknown = "returnInvalid"
        for place, name in enumerate(self.names):
            treatment = "asIs" if self.model.unseen(place) else unknown
            is_categorical = self.model.attributes[place].is_categorical
            invalid = {"invalidValueTreatment": treatment} if is_categorical else {}
            yield tag("MiningField", name=name, usageType="active", **missing, **invalid)
        yield tag("MiningField", name=self.target, usageType="target")
        yield "</MiningSchema>"
        yield "<Output>"
        for name, value in zip(self.outputs, self.classes, strict=True):
            yield tag(
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
            line = open_tag("Node", id=str(node), **known) + predicate
            yield line + (self._shares(node) if ends[node] else "")
            stack.append((-1, ""))
            if test is not None:
                predicates = self.predicates.of_branches(test)
                stack.extend(reversed(list(zip(test.children, predicates, strict=True))))

    def _shares(self, node: int) -> str:
        counts, shares = self.model.tree.counts[node].tolist(), self.model.tree.proba[node].tolist()
        return "".join(
            tag("ScoreDistribution", value=value, recordCount=repr(count), probability=repr(share))
            for value, count, share in zip(self.classes, counts, shares, strict=True)
        )


def _value(label: Any) -> str:
    return str(label).lower() if isinstance(label, bool) else str(label)


def _kind_of_classes(classes: Sequence[Any]) -> str:
    kinds = set(map(type, classes))
    if kinds == {bool}:
        return "boolean"
    if kinds == {int} and all(abs(label) < 2**31 for label in classes):  # what evaluators hold
        return "integer"
    is_number = kinds <= {int, float} and all(float(label) == label for label in classes)
    return "double" if is_number else "string"
