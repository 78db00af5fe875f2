# SPDX-License-Identifier: BSD-3-Clause
"""A small and slow evaluator of PMML's TreeModel, written from the text of the standard (4.4, "Tree Models").

It knows what a classification tree may have: simple, set and compound predicates in three-valued logic, default
children and last predictions. Anything else is an error.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

SPACE = "{http://www.dmg.org/PMML-4_4}"


class InvalidRow(Exception):
    """The result of a row is invalid, by the treatment of a missing or invalid value."""


def _parse(kind: str, text: str) -> Any:
    if kind == "double":
        return float(text)
    if kind == "integer":
        return int(text)
    if kind == "boolean":
        return {"true": True, "false": False}[text]
    assert kind == "string"
    return text


class Evaluator:
    def __init__(self, text: str) -> None:
        root = ElementTree.fromstring(text.encode())
        assert root.tag == f"{SPACE}PMML"
        assert root.get("version") == "4.4"
        dictionary = self._only(root, "DataDictionary")
        self.kinds = {f.attrib["name"]: f.attrib["dataType"] for f in dictionary}
        assert len(self.kinds) == len(dictionary) == int(dictionary.attrib["numberOfFields"])
        self.valid = {
            f.attrib["name"]: [_parse(f.attrib["dataType"], v.attrib["value"]) for v in f]
            for f in dictionary
        }
        self.tree = self._only(root, "TreeModel")
        assert self.tree.attrib["functionName"] == "classification"
        assert self.tree.attrib["missingValueStrategy"] == "defaultChild"
        self.fields = list(self._only(self.tree, "MiningSchema"))
        self.target = next(
            f.attrib["name"] for f in self.fields if f.attrib["usageType"] == "target"
        )
        self.outputs = {
            o.attrib["value"]: o.attrib["name"] for o in self._only(self.tree, "Output")
        }
        assert all(o.attrib["feature"] == "probability" for o in self._only(self.tree, "Output"))
        nodes = list(self.tree.iter(f"{SPACE}Node"))
        self.node = {n.attrib["id"]: n for n in nodes}
        assert len(self.node) == len(nodes)
        self.children = {n.attrib["id"]: n.findall(f"{SPACE}Node") for n in nodes}

    def _only(self, parent: Any, tag: str) -> Any:
        (found,) = parent.findall(SPACE + tag)
        return found

    # -- a row -----------------------------------------------------------------------------------------------------

    def evaluate(self, row: dict[str, Any]) -> tuple[Any, dict[str, float]]:
        """The class, and the probability of each class by the text of its label. None is missing."""
        values = {f.attrib["name"]: self._treated(f, row) for f in self.fields}
        node = self._only(self.tree, "Node")
        last = None
        while True:
            if "score" in node.attrib:
                last = node
            children = self.children[node.attrib["id"]]
            if not children:
                return self._score(node)
            following = self._child(node, children, values)
            if following is None:
                if (
                    self.tree.attrib["noTrueChildStrategy"] == "returnLastPrediction"
                    and last is not None
                ):
                    return self._score(last)
                return None, {}
            node = following

    def _child(self, node: Any, children: list[Any], values: dict[str, Any]) -> Any:
        for child in children:
            truth = self._predicate(child[0], values)
            if truth is None:
                default = self.node[node.attrib["defaultChild"]]
                assert default in children
                return default
            if truth:
                return child
        return None

    def _score(self, node: Any) -> tuple[Any, dict[str, float]]:
        shares = node.findall(f"{SPACE}ScoreDistribution")
        assert all(float(s.attrib["recordCount"]) >= 0 for s in shares)
        by_label = {s.attrib["value"]: float(s.attrib["probability"]) for s in shares}
        assert by_label.keys() == self.outputs.keys()
        return _parse(self.kinds[self.target], node.attrib["score"]), by_label

    def _treated(self, field: Any, row: dict[str, Any]) -> Any:
        name = field.attrib["name"]
        if name == self.target:
            return None
        value = row[name]
        if value is not None and self.valid[name] and value not in self.valid[name]:
            how = field.get("invalidValueTreatment", "returnInvalid")
            if how == "returnInvalid":
                raise InvalidRow(name)
            if how == "asIs":
                return value
            assert how == "asMissing"
            value = None
        if value is None:
            how = field.get("missingValueTreatment", "asIs")
            if how == "returnInvalid":
                raise InvalidRow(name)
            assert how == "asIs"
        return value

    # -- predicates: True, False or None for unknown ------------------------------------------------------------------

    def _predicate(self, predicate: Any, values: dict[str, Any]) -> bool | None:
        kind = predicate.tag.removeprefix(SPACE)
        return {
            "True": lambda p, v: True,
            "False": lambda p, v: False,
            "SimplePredicate": self._simple,
            "SimpleSetPredicate": self._set,
            "CompoundPredicate": self._compound,
        }[kind](predicate, values)

    def _simple(self, predicate: Any, values: dict[str, Any]) -> bool | None:
        name, operator = predicate.attrib["field"], predicate.attrib["operator"]
        value = values[name]
        if operator in ("isMissing", "isNotMissing"):
            return (value is None) == (operator == "isMissing")
        if value is None:
            return None
        other = _parse(self.kinds[name], predicate.attrib["value"])
        compare: dict[str, Callable[[], bool]] = {
            "equal": lambda: value == other,
            "notEqual": lambda: value != other,
            "lessThan": lambda: value < other,
            "lessOrEqual": lambda: value <= other,
            "greaterThan": lambda: value > other,
            "greaterOrEqual": lambda: value >= other,
        }
        return compare[operator]()

    def _set(self, predicate: Any, values: dict[str, Any]) -> bool | None:
        name = predicate.attrib["field"]
        if values[name] is None:
            return None
        (array,) = predicate
        texts = re.findall(r'"((?:[^"\\]|\\")*)"|(\S+)', array.text)
        assert len(texts) == int(array.attrib["n"])
        found = [_parse(self.kinds[name], quoted or bare) for quoted, bare in texts]
        assert array.attrib["type"] == ("real" if self.kinds[name] == "double" else "string")
        return (values[name] in found) == (predicate.attrib["booleanOperator"] == "isIn")

    def _compound(self, predicate: Any, values: dict[str, Any]) -> bool | None:
        assert len(predicate) > 1
        truths = [self._predicate(part, values) for part in predicate]
        operator = predicate.attrib["booleanOperator"]
        if operator == "surrogate":
            return next((truth for truth in truths if truth is not None), None)
        decisive = {"and": False, "or": True}[operator]
        if decisive in truths:
            return decisive
        return None if None in truths else not decisive
