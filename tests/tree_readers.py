# SPDX-License-Identifier: BSD-3-Clause
"""Programs that know nothing of fasttree and score rows from what it exports: from its text, drawing and JSON."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, field
from typing import Any


def evened(proba: list[float]) -> list[float]:
    """Sums to the nearest step; those that rounding alone keeps below the largest equal it."""
    proba = [round(share * 188194406400) / 188194406400 for share in proba]
    return [max(proba) if share >= max(proba) - 1e-10 else share for share in proba]


# -- JSON ------------------------------------------------------------------------------------------


class JsonTree:
    """Reads the JSON export as docs/exports.md describes it."""

    def __init__(self, text: str) -> None:
        self.tree = json.loads(text)
        self.labels = [self._label(label) for label in self.tree["classes"]]
        self.levels = [
            {self._label(v): i for i, v in enumerate(self._own(a))} if "levels" in a else None
            for a in self.tree["attributes"]
        ]
        self.others = []  # the place of levels of few rows, if the column has such
        for a, levels in zip(self.tree["attributes"], self.levels, strict=True):
            self.others.append(len(levels) if "others" in a else None)
            levels_of_few = [self._label(v) for v in a.get("others", [])]
            if levels_of_few:
                levels |= dict.fromkeys(levels_of_few, len(levels))

    @staticmethod
    def _own(attribute: Any) -> list[Any]:
        return attribute["levels"][:-1] if "others" in attribute else attribute["levels"]

    @staticmethod
    def _label(label: Any) -> Any:
        return float(label["number"]) if isinstance(label, dict) else label

    def predict(self, row: list[Any]) -> tuple[Any, list[float], int]:
        """Class, probabilities and leaf; None if the row is refused."""
        read = zip(row, self.levels, self.others, strict=True)
        values = [self._value(v, levels, other) for v, levels, other in read]
        if "refused" in values:
            return None
        ends, shared, ways = [], False, [(0, 1.0)]
        while ways:
            number, share = ways.pop()
            node = self.tree["nodes"][number]
            branch = self._branch(node, values) if "children" in node else "stop"
            if branch == "stop":
                ends.append((node, share))
            elif branch is not None:
                ways.append((node["children"][branch], share))
            else:
                shared = True
                weights = [self.tree["nodes"][child]["weight"] for child in node["children"]]
                pairs = zip(node["children"], weights, strict=True)
                ways += [(c, share * (w / sum(weights))) for c, w in pairs if w > 0][::-1]
        if not shared:
            return self.labels[node["class"]], node["proba"], node["id"]
        proba = [0.0] * len(self.labels)
        for node, share in ends:
            proba = [p + share * q for p, q in zip(proba, node["proba"], strict=True)]
        proba = evened(proba)
        most = max(share for _, share in ends) - 1e-10
        leaf = min((node for node, share in ends if share >= most), key=lambda node: node["id"])
        return self.labels[self._decide(proba)], proba, leaf["id"]

    def _decide(self, proba: list[float]) -> int:
        order, cost = self.tree["tie_order"], self.tree["cost"]
        if cost is None:
            return next(c for c in order if proba[c] == max(proba))
        expected = [
            sum(p * row[c] for p, row in zip(proba, cost, strict=True)) for c in range(len(proba))
        ]
        return next(c for c in order if expected[c] <= min(expected) * (1 + 1e-10))

    def _value(self, value: Any, levels: Any, other: int | None) -> Any:
        if value is None or value != value:
            return None if self.tree["allow_missing"] else "refused"
        if levels is None or value in levels:
            return value if levels is None else levels[value]
        if other is not None and self.tree["unknown"] == "missing":
            return other
        return {"missing": None, "majority": "unknown", "error": "refused"}[self.tree["unknown"]]

    def _branch(self, node: dict[str, Any], values: list[Any]) -> Any:
        value = values[node["attribute"]]
        if value is None:
            for test in node.get("surrogates", []):
                instead = values[test["attribute"]]
                if instead is None:
                    continue
                if "threshold" in test:
                    below = instead <= float(test["threshold"])
                    return test["low"] if below else 1 - test["low"]
                if instead in test["levels"]:
                    return test["branches"][test["levels"].index(instead)]
            return node["missing"]
        if "threshold" in node:
            return 0 if value <= float(node["threshold"]) else 1
        if value == "unknown":
            return "stop"
        found = dict(zip(node["levels"], node["branches"], strict=True))
        return found.get(value, node["default"])


# -- what text and drawing have in common -----------------------------------------------------------


@dataclass
class Branch:
    """One way on from a node, as it is written."""

    tests: list[
        tuple[str, Any]
    ]  # ("<=", 3.0), ("in", [...]), ("missing", None), ("other", None), ...
    stand_ins: dict[int, Any] = field(default_factory=dict)  # place: (name, test) or "all others"
    to: Any = None


class Unsaid(Exception):
    """What is written does not say where the row goes."""


def choose(branches: list[Branch], value: Any, row: dict[str, Any], known: set[str]) -> Branch:
    """`value` of the attribute of the node, as a number or as it would be written; None: missing."""
    if value is not None:
        for branch in branches:
            if any(meets(test, value) for test in branch.tests):
                return branch
        named = {v for b in branches for kind, vs in b.tests if kind == "in" for v in vs}
        for branch in branches:
            if value not in named and value in known and ("other", None) in branch.tests:
                return branch
        raise Unsaid(value)
    for place in sorted({place for branch in branches for place in branch.stand_ins}):
        for branch in branches:
            said = branch.stand_ins.get(place)
            if said == "all others":
                return branch
            if said is not None and row[said[0]] is not None and meets(said[1], row[said[0]]):
                return branch
    taken = [branch for branch in branches if ("missing", None) in branch.tests]
    if taken:
        return taken[0]
    raise Unsaid("missing")


def meets(test: tuple[str, Any], value: Any) -> bool:
    kind, what = test
    if kind == "known":
        return True
    if kind == "<=":
        return bool(value <= what)
    if kind == ">":
        return bool(value > what)
    if kind == "not in":
        return value not in what
    return kind == "in" and value in what


def split_list(text: str) -> list[str]:
    """The labels of a list, in quotes or without."""
    return [
        json.loads(t) if t[0] == '"' else t
        for t in re.findall(r'"(?:[^"\\]|\\.)*"|[^,\s"][^,]*(?:,(?! )[^,]*)*', text)
    ]


def take_label(text: str) -> tuple[str, str]:
    """A label at the beginning of a text up to the next sign of the grammar, and the rest."""
    if text.startswith('"'):
        found = re.match(r'"(?:[^"\\]|\\.)*"', text)
        assert found
        return json.loads(found[0]), text[found.end() :]
    found = re.match(r".*?(?= (?:=|<=|>|or|is) | too$|: |\{|, | \(|$)", text)
    assert found
    return found[0], text[found.end() :]


# -- the text --------------------------------------------------------------------------------------


class TextTree:
    """Reads the text of a tree. `names` of ordered attributes come with their levels: the text says <= of them too."""

    def __init__(self, text: str, ordered: dict[str, list[str]]) -> None:
        self.ordered = ordered
        self.notes = text.split("\n\n", 1)[1]
        self.others = dict(filter(None, map(self._other, self.notes.split("\n"))))
        lines = text.split("\n\n", 1)[0].split("\n")
        self.root: dict[str, Any] = {"branches": []}
        open_nodes = [self.root]
        last: Branch | None = None
        for line in lines:
            depth = 0
            while line.startswith("|   "):
                line, depth = line[4:], depth + 1
            if line.startswith("(if ") and not line.startswith("(if ("):
                self._aside(line, open_nodes[depth] if depth < len(open_nodes) else None, last)
                continue
            if line.startswith("all rows: "):
                self.root = {"label": take_label(line[len("all rows: ") :])[0]}
                break
            open_nodes = open_nodes[: depth + 1]
            name, last, label = self._branch(line)
            open_nodes[depth]["name"] = name
            open_nodes[depth]["branches"].append(last)
            last.to = {"label": label} if label is not None else {"branches": []}
            open_nodes.append(last.to)

    @staticmethod
    def _other(note: str) -> Any:
        """Of what attribute it says what levels of few rows are, by what name, and which they are or are not."""
        name, rest = take_label(note)
        if not rest.startswith(" = "):
            return None
        other, rest = take_label(rest[3:])
        listed = re.search(r"(any category except |training rows, )\{(.*)\}[. ]", rest)
        assert listed or rest.startswith(": any category (")
        levels = split_list(listed[2]) if listed else []
        return name, (other, levels, rest.startswith(": any category"))

    def merged(self, row: dict[str, Any]) -> dict[str, Any]:
        """The row with the common name of levels of few rows."""
        changed = dict(row)
        for name, (other, levels, are_others) in self.others.items():
            if row[name] not in (None, "?") and (row[name] in levels) != are_others:
                changed[name] = other
        return changed

    def _aside(self, line: str, node: Any, last: Branch | None) -> None:
        rest = take_label(line[4:])[1]
        if rest.startswith(" is unknown: "):
            node["unknown"] = take_label(rest[len(" is unknown: ") : -1])[0]
            return
        assert last is not None
        said = rest.split(": ", 1)[1][:-1]
        place = len(last.stand_ins)
        if said == "here":
            last.stand_ins[99] = "all others"
            return
        said = said.rsplit(", agreement ", 1)[0]
        other, rest = take_label(said)
        last.stand_ins[place] = (other, self._tests(other, rest)[0][0])

    def _branch(self, line: str) -> tuple[str, Branch, str | None]:
        name, rest = take_label(line)
        tests, rest = self._tests(name, rest)
        label = take_label(rest[2:])[0] if rest.startswith(": ") else None
        assert label is not None or rest == "", line
        return name, Branch(tests), label

    def _tests(self, name: str, rest: str) -> tuple[list[tuple[str, Any]], str]:
        tests: list[tuple[str, Any]] = []
        if rest.startswith(" is known"):
            tests, rest = [("known", None)], rest[len(" is known") :]
        elif rest.startswith(" is missing"):
            tests, rest = [("missing", None)], rest[len(" is missing") :]
        elif rest.startswith(" = {"):
            end = re.match(r'(?:"(?:[^"\\]|\\.)*"|[^"}])*\}', rest[4:])
            assert end
            tests, rest = [("in", split_list(end[0][:-1]))], rest[4 + end.end() :]
        elif found := re.match(r" = \(\d+ other categories\)", rest):
            tests, rest = [("other", None)], rest[found.end() :]
        else:
            sign, rest = rest[1:].split(" ", 1)
            label, rest = take_label(rest)
            if sign == "=":
                tests = [("in", [label])]
            elif name in self.ordered:
                levels = self.ordered[name]
                cut = levels.index(label) + 1
                tests = [("in", levels[:cut] if sign == "<=" else levels[cut:])]
            else:
                tests = [(sign, float(label))]
        for words, test in (
            (" or another category", "other"),
            (" or missing", "missing"),
            (" (or missing)", "missing"),
            (" (or unseen)", "missing"),  # which is refused
        ):
            if rest.startswith(words):
                tests, rest = [*tests, (test, None)], rest[len(words) :]
        return tests, rest

    def predict(self, row: dict[str, Any], known: dict[str, set[str]]) -> str:
        """`row`: numbers, or labels as they are written; None: missing, "?": unknown and not missing."""
        node, row = self.root, self.merged(row)
        while "label" not in node:
            value = row[node["name"]]
            if value == "?":
                return str(node["unknown"])
            node = choose(node["branches"], value, row, known.get(node["name"], set())).to
        return str(node["label"])


# -- the drawing -----------------------------------------------------------------------------------


class DotTree:
    """Reads the drawing of a tree: what is written on the boxes and the edges."""

    def __init__(self, text: str) -> None:
        self.nodes: dict[int, dict[str, Any]] = {}
        for line in text.split("\n"):
            found = re.fullmatch(r'  (\d+)(?: -> (\d+))? \[label="((?:[^"\\]|\\.)*)"(.*)\]', line)
            if not found:
                continue
            lines = self._lines(found[3])
            if found[2] is None:
                tip = re.search(r'tooltip="((?:[^"\\]|\\.)*)"', found[4])
                assert tip
                shares = [float(t.rsplit(": ", 1)[1]) for t in self._lines(tip[1])[1:]]
                node = {"lines": lines, "branches": [], "parts": [], "proba": shares}
                self.nodes[int(found[1])] = node
            else:
                node = self.nodes[int(found[1])]
                tip = re.search(r'tooltip="(\S+) of the rows with', found[4])
                share = float(tip[1]) if tip else 0.0
                if share > 0:
                    node["parts"].append((int(found[2]), share))
                    assert lines.pop() == f"missing: {share:.1%}"
                node["branches"].append(self._branch(lines, int(found[2])))

    @staticmethod
    def _lines(written: str) -> list[str]:
        marked = re.sub(r"\\(.)", lambda m: "\0" if m[1] in "ln" else m[1], written)
        return [
            line for line in re.sub("\0 ", " ", marked.replace("&amp;", "&")).split("\0") if line
        ]

    def _branch(self, lines: list[str], to: int) -> Branch:
        branch = Branch([], to=to)
        for line in lines:
            if line in ("missing", "missing (none in training)"):
                branch.tests.append(("missing", None))
            elif line == "any other category":
                branch.tests.append(("other", None))
            elif found := re.match(r"missing (\d+)\. ", line):
                said = line[found.end() :]
                if said == "all others":
                    branch.stand_ins[int(found[1])] = said
                else:
                    name, rest = take_label(said)
                    branch.stand_ins[int(found[1])] = (name, self._test(rest.strip()))
            else:
                branch.tests.append(self._test(line))
        return branch

    @staticmethod
    def _test(text: str) -> tuple[str, Any]:
        if text.startswith("is not in "):
            return "not in", split_list(text[len("is not in {") : -1])
        sign, what = text.split(" ", 1)
        return ("in", split_list(what[1:-1])) if sign == "=" else (sign, float(what))

    def predict(
        self, row: dict[str, Any], known: dict[str, set[str]]
    ) -> tuple[str, list[tuple[int, float]]]:
        """The class that is written where the row ends, and its ends with the share of each."""
        ends: list[tuple[int, float]] = []
        label, ways = "", [(0, 1.0)]
        while ways:
            number, share = ways.pop()
            node = self.nodes[number]
            name = take_label(node["lines"][0])[0]
            if not node["branches"]:
                label = name
                ends.append((number, share))
                continue
            value = row[name]
            if value == "?":
                label = take_label(node["lines"][1][len("unknown: ") :])[0]
                ends.append((number, share))
            elif value is None and node["parts"]:
                ways += [(child, share * part) for child, part in node["parts"]][::-1]
            else:
                ways.append(
                    (choose(node["branches"], value, row, known.get(name, set())).to, share)
                )
        return label, ends


def as_written(rows: list[dict[str, Any]], schema: Any, unknown: str) -> list[dict[str, Any]]:
    """Rows with their labels as text; None: missing, or a level that counts as such; "?": an unknown level."""
    changed = []
    for row in rows:
        new: dict[str, Any] = {}
        for attribute in schema.attributes:
            value = row[attribute.name]
            if value is None or (isinstance(value, float) and math.isnan(value)):
                new[attribute.name] = None
            elif attribute.categories is None:
                new[attribute.name] = value
            elif value in attribute.seen_levels:
                level = attribute.seen_levels[attribute.seen_levels.index(value)]
                new[attribute.name] = str(level)
            elif attribute.others is not None and unknown != "majority":
                new[attribute.name] = str(value)
            else:
                new[attribute.name] = "?" if unknown == "majority" else None
        changed.append(new)
    return changed
