# SPDX-License-Identifier: BSD-3-Clause
"""What is printed is so: every rule, reason and branch is read again as a predicate, and tried on rows that mean harm.

A predicate must be true of exactly the rows that take that way: of a fractional tree of those with a share above 0, of
rules of those that the rule covers.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from exporting import FEW, FEW_ROWS, METHODS, Rows, answers, hostile_rows, methods_of, model
from exporting import _complete as complete
from exporting_tables import TABLES as ALL_TABLES
from hypothesis import example, given
from hypothesis import strategies as st
from tree_readers import Branch, TextTree, Unsaid, as_written, choose

import fasttree
from fasttree import CARTClassifier, RuleClassifier, TreeClassifier
from fasttree.base.quoting import readable
from fasttree.draw.branches import (
    BY_SURROGATES,
    OR_MISSING,
    OR_MISSING_LATER,
    OR_UNSEEN_LATER,
    branch_texts,
)
from fasttree.draw.layout import layout
from fasttree.draw.remarks import others_note
from fasttree.draw.terminal import draw
from fasttree.draw.terminal_bars import Look
from fasttree.draw.terminal_branches import Branch as ShownBranch
from fasttree.draw.terminal_branches import branches_of
from fasttree.draw.terminal_text import clean
from fasttree.rules import Condition, RuleList
from fasttree.rules.text import condition_text, premise_text
from fasttree.tables.fitted import read_table_for_schema

NAN = math.nan
UNSEEN = object()  # a level that training did not see
Row = dict[str, Any]
Predicate = Callable[[Row], bool]

TABLES = ("holes", "ordered", "many levels", "stagec")
TREES = [f"{table}: {method}" for table in TABLES for method in methods_of(table)]
BASES = ("gini", "cart unpruned", "c45", "grouped", "refusing missing values", "multiway, majority")
RULES = [
    f"{table}: {base}" for table in TABLES for base in (*BASES, *(FEW if table in FEW_ROWS else ()))
]


# -- the ways of rows, by the book ---------------------------------------------------------------------------------


class Way:
    """Where a row goes: its ends, and what decided wherever it lacked a value."""

    def __init__(self, fitted: Any, row: Row) -> None:
        self.tree, self.unknown = fitted.tree_, fitted.unknown
        self.row = row
        self.ends: set[int] = set()
        self.deciders: dict[
            int, set[str]
        ] = {}  # by end: names of surrogates, "" for the heavier branch
        self.lacks: dict[int, set[str]] = {}  # by end: the attributes that were asked for in vain
        self.stops: dict[
            int, set[str]
        ] = {}  # by end: the attribute whose unknown level ends the way
        todo: list[tuple[int, set[str], set[str]]] = [(0, set(), set())]
        while todo:
            node, deciders, lacks = todo.pop()
            if self.tree.attribute[node] < 0:
                self._end(node, deciders, lacks)
                continue
            name = self.tree.schema.names[self.tree.attribute[node]]
            code = code_of(self.tree, int(self.tree.attribute[node]), row, self.unknown)
            if code == "unseen" and self.unknown == "majority":
                self._end(node, deciders, lacks)
                self.stops[node] = {name}
                continue
            first = int(self.tree.first_child[node])
            if code in (None, "unseen"):
                lacks = lacks | {name}
                branch, decider = self._without(node)
                if branch < 0:
                    children = range(first, first + int(self.tree.n_children[node]))
                    todo += [(c, deciders, lacks) for c in children if self.tree.weight[c] > 0]
                    continue
                deciders = deciders | {decider}
            else:
                branch = self._branch(node, code)
            todo.append((first + branch, deciders, lacks))

    def _end(self, node: int, deciders: set[str], lacks: set[str]) -> None:
        self.ends.add(node)
        self.deciders[node], self.lacks[node] = deciders, lacks

    def stopped(self, end: int) -> set[str]:
        return self.stops.get(end, set())

    def shares(self, end: int, name: str) -> float:
        """How much of the row goes the way to an end, of the shares that the want of an attribute makes."""
        tree, share, child = self.tree, 1.0, end
        while child:
            node = int(tree.parent[child])
            if tree.schema.names[tree.attribute[node]] == name:
                first = int(tree.first_child[node])
                family = tree.weight[first : first + int(tree.n_children[node])]
                share *= float(tree.weight[child] / family.sum())
            child = node
        return share

    def _branch(self, node: int, code: float) -> int:
        tree = self.tree
        table = slice(int(tree.table_start[node]), int(tree.table_start[node + 1]))
        if table.start == table.stop:
            return 0 if code <= tree.threshold[node] else 1
        found = dict(
            zip(tree.table_codes[table].tolist(), tree.table_branch[table].tolist(), strict=True)
        )
        return int(found.get(code, tree.default_branch[node]))

    def _without(self, node: int) -> tuple[int, str]:
        tree = self.tree
        for place in range(int(tree.surrogate_start[node]), int(tree.surrogate_start[node + 1])):
            attribute = int(tree.surrogate_attribute[place])
            code = code_of(tree, attribute, self.row, self.unknown)
            if code in (None, "unseen"):
                continue
            table = slice(
                int(tree.surrogate_table_start[place]), int(tree.surrogate_table_start[place + 1])
            )
            low = int(tree.surrogate_low[place])
            if table.start == table.stop:
                return (
                    low if code <= tree.surrogate_threshold[place] else 1 - low
                ), tree.schema.names[attribute]
            codes = tree.surrogate_table_codes[table].tolist()
            if code in codes:
                return int(
                    tree.surrogate_table_branch[table][codes.index(code)]
                ), tree.schema.names[attribute]
        return int(tree.missing_branch[node]), ""


def code_of(tree: Any, attribute: int, row: Row, unknown: str) -> Any:
    """The number, or 1 + the place of the level, where levels of few rows have the last; None: missing; "unseen"."""
    asked = tree.schema.attributes[attribute]
    value = row[asked.name]
    if value is None or value != value:
        return None
    if asked.categories is None:
        return float(value)
    if asked.others is None:
        return 1 + asked.categories.index(value) if value in asked.categories else "unseen"
    own = asked.categories[:-1]
    if value in own:
        return 1 + own.index(value)
    return len(own) + 1 if value in asked.others or unknown == "missing" else "unseen"


@cache
def tried(identity: str) -> tuple[Any, Rows, list[Row], list[Way]]:
    """A model, the hostile rows that it does not refuse, and their ways."""
    fitted = model(identity)
    rows = hostile_rows(fitted, most_thresholds=25)
    rows = rows.take(answers(fitted, rows).accepted)
    dicts = rows.dicts()
    ways = [Way(fitted, row) for row in dicts]
    return fitted, rows, dicts, ways


@pytest.mark.parametrize("identity", TREES)
def test_the_ways_are_those_of_the_model(identity: str) -> None:
    fitted, rows, _, ways = tried(identity)
    for way, leaf in zip(ways, fitted.apply(rows.table(fitted)).tolist(), strict=True):
        assert leaf in way.ends
        assert len(way.ends) == 1 or fitted.tree_.shares_rows


# -- conditions as predicates --------------------------------------------------------------------------------------


def emitted(condition: Condition) -> Predicate:
    """What the fields of a condition say, in full, by the docstring of the class."""

    def known(c: Condition, value: Any) -> bool:
        if c.levels is not None:
            return value in c.levels
        return (c.low is None or value > c.low) and (c.high is None or value <= c.high)

    def of_row(c: Condition, row: Row) -> Any:
        value, others = row[c.attribute], c.others
        if others is None or value is None or value != value:
            return value
        if value in others.levels or (others.unseen and value not in others.own):
            return others.name
        return value if value in others.own else UNSEEN

    def holds(row: Row) -> bool:
        value = of_row(condition, row)
        lacks = value is None or value != value
        levels = condition.levels
        if levels is not None and not lacks and value not in levels + condition.excluded:
            if condition.unseen != "missing":
                return condition.is_unseen
            lacks = True
        if not lacks:
            return known(condition, value)
        if not condition.substitutes:
            return condition.missing
        for substitute in condition.substitutes:
            said = substitute.otherwise
            for c in substitute.alternatives:
                other = of_row(c, row)
                if other is None or other != other:
                    continue
                if c.levels is not None and other not in c.levels + c.excluded:
                    continue
                said = known(c, other)
                break
            if not said:
                return False
        return True

    return holds


def check_rules(rules: RuleList, dicts: list[Row], covers: np.ndarray) -> None:
    """`covers`: [rule, row], what is so."""
    document = json.loads(rules.to_json())
    reading = PrintedRules(rules)
    for number, rule in enumerate(rules):
        conditions = rule.conditions
        exact = [replace(condition, exact=True) for condition in conditions]
        by_fields = [emitted(condition) for condition in conditions]
        by_text = [read(condition_text(condition), reading) for condition in exact]
        by_json = [of_json(said, document) for said in document["rules"][number]["if"]]
        for row, covered in zip(dicts, covers[number].tolist(), strict=True):
            assert all(holds(row) for holds in by_fields) == covered, (str(rule), row)
            assert rule.holds(row) == covered
            assert all(holds(row) for holds in by_json) == covered
            if all(surrogates_tell(condition, row) for condition in conditions):
                assert all(holds(row) for holds in by_text) == covered, (str(rule), row)
        for condition in conditions:
            check_digits(condition)
    check_source(rules, dicts, covers)
    check_apart(rules, covers)


class PrintedRules:
    """What of a list of rules the readers of texts ask for; `others` as the text has it below the rules."""

    def __init__(self, rules: RuleList) -> None:
        self.schema, self.unknown = rules.schema, rules.unknown
        self.others = others_in(rules.to_text().rpartition("\nOTHERWISE ")[2])


def surrogates_tell(condition: Condition, row: Row) -> bool:
    """The text of a surrogate does not say which levels it has no answer for; JSON does."""
    return not any(
        isinstance(row[one.attribute], str) and one.has_not_seen(row[one.attribute])
        for substitute in condition.substitutes
        for one in substitute.alternatives
    )


def check_source(rules: RuleList, dicts: list[Row], covers: np.ndarray) -> None:
    names: dict[str, Any] = {}
    exec(rules.to_python(), names)
    label = [*(rule.label for rule in rules), rules.default_class]
    for row, covered in zip(dicts, covers.T, strict=True):
        first = np.flatnonzero(covered)
        assert names["classify"](row) == label[first[0] if len(first) else -1]


def check_apart(rules: RuleList, covers: np.ndarray) -> None:
    """Rules that print alike cover the same rows."""
    printed: dict[str, int] = {}
    for number, rule in enumerate(rules):
        other = printed.setdefault(premise_text(rule), number)
        assert np.array_equal(covers[other], covers[number]), premise_text(rule)
        assert premise_text(rule) in str(rule)


def check_digits(condition: Condition) -> None:
    """What is printed are the bounds, up to six digits."""
    bounds = [bound for bound in (condition.low, condition.high) if bound is not None]
    if condition.levels is not None or condition.is_missing or not bounds:
        return
    text = condition_text(condition).split(" (")[0].removesuffix(" or missing")
    _, (low, high) = read_known(text)
    printed = [bound for bound in (low, high) if bound is not None]
    assert printed == pytest.approx(bounds, rel=5.1e-6, abs=0)


# -- what is printed, read again -----------------------------------------------------------------------------------


def others_in(notes: str) -> dict[str, Any]:
    """What is printed of levels of few rows, by attribute: see TextTree."""
    return dict(filter(None, map(TextTree._other, notes.split("\n"))))


def counted(value: Any, name: str, rules: Any) -> Any:
    """What a value counts as, by what the rules print of levels of few rows."""
    if value is None or value != value or name not in rules.others:
        return value
    other, listed, are_not = rules.others[name]
    if (str(value) in listed) != are_not:
        return other
    return UNSEEN if value == other else value


def lacks(row: Row, name: str, rules: Any) -> bool:
    value = counted(row[name], name, rules)
    levels = rules.schema.attributes[rules.schema.names.index(name)].categories
    if value is None or value != value:
        return True
    return levels is not None and value not in levels and rules.unknown == "missing"


def read(text: str, rules: Any) -> Predicate:
    """The text of a condition, with all digits, as a predicate."""
    if found := re.fullmatch(r"(.*) \(if missing: (.*)\)", text):
        known, instead = read(found[1], rules), read_instead(found[2], rules)
        name = name_in(found[1])
        return lambda row: instead(row) if lacks(row, name, rules) else known(row)
    if found := re.fullmatch(r"(.*?) \(?or (missing|unseen)\)?", text):
        known, name = read(found[1], rules), name_in(found[1])
        return lambda row: lacks(row, name, rules) or known(row)
    name, test = read_known(text)
    if test == "is missing":
        return lambda row: lacks(row, name, rules)
    return lambda row: (
        not lacks(row, name, rules)
        and values_do(test, counted(row[name], name, rules), name, rules)
    )


def name_in(text: str) -> str:
    return read_known(text)[0]


def read_known(text: str) -> tuple[str, Any]:
    if found := re.fullmatch(r"(\S+) < (.+) <= (\S+)", text):
        return unquoted(found[2]), (float(found[1]), float(found[3]))
    name, sign, what = re.fullmatch(r"(.+?) (is|<=|>|!=|=|not in|in) (.*)", text).groups()
    name = unquoted(name)
    if sign == "is":
        return name, f"is {what}"
    if sign in ("<=", ">"):
        return name, (None, float(what)) if sign == "<=" else (float(what), None)
    listed = re.findall(r'"(?:[^"\\]|\\.)*"|[^,{}]+(?:,(?! )[^,{}]*)*', what)
    levels = {unquoted(one.strip()) for one in listed}
    return name, ("not" if sign in ("!=", "not in") else "in", levels)


def unquoted(text: str) -> str:
    return json.loads(text) if text.startswith('"') else text


def values_do(test: Any, value: Any, name: str, rules: Any) -> bool:
    levels = rules.schema.attributes[rules.schema.names.index(name)].categories
    if test == "is known":
        return levels is None or value in levels
    kind, what = test
    if kind in ("in", "not"):
        return (str(value) in what) == (kind == "in")
    return (kind is None or value > kind) and (what is None or value <= what)


def read_instead(text: str, rules: Any) -> Predicate:
    groups, depth, start = [], 0, 0
    for at, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if depth == 0 and text.startswith(" and ", at):
            groups.append(text[start:at])
            start = at + len(" and ")
    groups.append(text[start:])
    chains = [re.sub(r"^\((.*)\)$", r"\1", group).split(", else ") for group in groups]

    def holds(links: list[str], row: Row) -> bool:
        for link in links:
            if link == "yes":
                return True
            name, test = read_known(link)
            value = counted(row[name], name, rules)
            levels = rules.schema.attributes[rules.schema.names.index(name)].categories
            if value is None or value != value or (levels is not None and value not in levels):
                continue
            return values_do(test, value, name, rules)
        return False

    return lambda row: all(holds(links, row) for links in chains)


def of_json(said: dict[str, Any], document: dict[str, Any]) -> Predicate:
    def of_row(name: str, row: Row) -> Any:
        value, others = row[name], document.get("others", {}).get(name)
        if others is None or value is None or value != value:
            return value
        own = document["levels"][document["attributes"].index(name)][:-1]
        if value in others["levels"] or (others["unseen"] and value not in own):
            return others["name"]
        return value if value in own else UNSEEN

    def missing(name: str, value: Any) -> bool:
        levels = document["levels"][document["attributes"].index(name)]
        if value is None or value != value:
            return True
        return levels is not None and value not in levels and document["unknown"] == "missing"

    def known(c: dict[str, Any], value: Any) -> bool:
        if "in" in c:
            return value in c["in"]
        levels = document["levels"][document["attributes"].index(c["attribute"])]
        if "is" in c:
            return c["is"] == "known" and (levels is None or value in levels)
        return (
            value > float(c.get("above", "-inf"))
            if "at_most" not in c
            else (value <= float(c["at_most"]) and ("above" not in c or value > float(c["above"])))
        )

    def holds(row: Row) -> bool:
        value = of_row(said["attribute"], row)
        if not missing(said["attribute"], value):
            return said.get("is") != "missing" and known(said, value)
        if said.get("is") == "missing":
            return True
        if isinstance(said["if_missing"], bool):
            return said["if_missing"]
        for group in said["if_missing"]:
            decided = group["otherwise"]
            for test in group["first_that_answers"]:
                other = of_row(test["attribute"], row)
                if other is None or other != other:
                    continue
                if "in" in test and other not in test["in"] + test["not_in"]:
                    continue
                decided = known(test, other)
                break
            if not decided:
                return False
        return True

    return holds


# -- rules ---------------------------------------------------------------------------------------------------------


def printed_leaves(tree: Any) -> list[int]:
    """Those with training rows, in the order in which the tree is printed."""
    leaves, stack = [], [0]
    while stack:
        node = stack.pop()
        if tree.attribute[node] < 0:
            leaves += [node] * bool(tree.counts[node].sum() > 0)
        else:
            first = int(tree.first_child[node])
            stack += reversed(range(first, first + int(tree.n_children[node])))
    return leaves


@pytest.mark.parametrize(
    "identity", [t for t in TREES if not t.endswith(("mml", "bayes")) or "smml" in t]
)
def test_the_rules_of_a_tree_are_true_of_the_rows_of_its_leaves(identity: str) -> None:
    """ "A row with a missing value meets no condition on that attribute", where rows are shared out."""
    fitted, _, dicts, ways = tried(identity)
    leaves = printed_leaves(fitted.tree_)
    shares = fitted.tree_.shares_rows
    covers = np.array(
        [[leaf in w.ends and not (shares and w.lacks[leaf]) for w in ways] for leaf in leaves]
    )
    check_rules(fitted.rules(), dicts, covers)


@cache
def pruned_rules(identity: str) -> RuleClassifier:
    table, method = identity.split(": ")
    X, y, parameters = ALL_TABLES[table]()
    base = (METHODS | FEW)[method]().set_params(**parameters, pruning=None)
    if method in FEW:
        base.set_params(min_category_count=FEW_ROWS[table])
    return RuleClassifier(base=base).fit(*(complete(X, y) if base.missing == "error" else (X, y)))


@pytest.mark.parametrize("identity", RULES)
def test_pruned_rules_are_true_of_the_rows_that_they_cover(identity: str) -> None:
    fitted = pruned_rules(identity)
    rows = hostile_rows(fitted, most_thresholds=25)
    if fitted.base.missing == "error":
        rows = rows.take([i for i, row in enumerate(rows.dicts()) if None not in plain_row(row)])
    rules = fitted.rules_
    if rules.unknown == "error":
        rows = rows.take([i for i, row in enumerate(rows.dicts()) if all_seen(row, rules.schema)])
    table = read_table_for_schema(rows.table(fitted), rules.schema, "test", rules.unknown)
    covers = rules.applies(table, 0, len(rows)).astype(bool)
    dicts = rows.dicts()
    check_rules(rules, dicts, covers)
    for place in range(0, len(rows), 7):
        first = np.flatnonzero(covers[:, place])
        one = rows.take([place])
        why = rules.explain(one.table(fitted))
        assert why.number == (int(first[0]) if len(first) else None)
        lines = str(why).splitlines()[1:]
        for condition, line in zip(why.rule.conditions if why.rule else (), lines, strict=False):
            value = dicts[place][condition.attribute]
            if value is None or value != value:
                assert f"{condition.attribute} is missing" in line
            elif condition.has_not_seen(value):
                assert f"{condition.attribute} is unseen" in line
            else:
                assert " is missing" not in line.split(": ")[-1]


def all_seen(row: Row, schema: Any) -> bool:
    asked = ((a, row[a.name]) for a in schema.attributes if a.is_categorical)
    return all(value is None or value != value or value in a.seen_levels for a, value in asked)


def plain_row(row: Row) -> list[Any]:
    return [None if value is None or value != value else value for value in row.values()]


# -- reasons of rows -----------------------------------------------------------------------------------------------


def explained(fitted: Any, rows: Rows) -> list[tuple[str, Any, int]]:
    """Reason, class and leaf of each row."""
    batches: list[Any] = []
    table = pa.table(
        {
            name: pa.array([None if value is None or value != value else value for value in column])
            for name, column in rows.columns.items()
        }
    )
    fasttree.score_batches(fitted, table, batches.append, explain=True, leaf=True)
    out = pa.Table.from_batches(batches)
    columns = [out[name].to_pylist() for name in ("rule", "prediction", "leaf")]
    return list(zip(*columns, strict=True))


NOT_THERE = re.compile(r"(.+?) is (missing|unseen)(?: \((.*)\))?")


@pytest.mark.parametrize("identity", TREES)
def test_a_reason_says_what_decided_for_its_row(identity: str) -> None:
    """Of a value that is there, what it must be; of one that is not there, that it is missing and what decided."""
    fitted, rows, dicts, ways = tried(identity)
    tree = fitted.tree_
    schema = tree.schema
    reading = RuleReading(schema, fitted.unknown)
    by_row = explained(fitted, rows)
    in_full = not (len(tree.surrogate_attribute) or tree.shares_rows)
    for (reason, label, leaf), row, way in zip(by_row, dicts, ways, strict=True):
        assert leaf in way.ends
        premise, _, said = reason.removeprefix("IF ").rpartition(" THEN ")
        assert said == str(label)
        told, deciders = set(), set()
        for text in [] if premise == "anything" else premise.split(" AND "):
            text = re.sub(r"^\((.* or (?:missing|unseen))\)$", r"\1", text)
            if not (found := NOT_THERE.fullmatch(text)):
                known = re.sub(r" \(?or (missing|unseen)\)?$", "", text)
                name, test = read_known(known)
                value = counted(row[name], name, reading)
                assert lacking(row, name, reading) or roughly(test, value, name, reading), text
                assert in_full or not lacking(row, name, reading)
                assert not lacking(row, name, reading) or known != text
                continue
            name, what, why = found.groups()
            told.add(name)
            value = row[name]
            assert (what == "missing") == (value is None or value != value)
            if why and why.startswith("decided by "):
                tests = re.split(r"(?<!,) and ", why.removeprefix("decided by "))
                deciders |= {"" if t == "the heavier branch" else read_known(t)[0] for t in tests}
            elif why == "heavier branch":
                deciders.add("")
            elif why and "% as " in why:
                share = float(why.split("%")[0]) / 100
                assert share == pytest.approx(way.shares(leaf, name), abs=6e-4)
        if in_full:
            assert told <= way.lacks[leaf] | way.stopped(leaf)
        else:
            assert told == way.lacks[leaf] | way.stopped(leaf)
        if len(tree.surrogate_attribute):
            assert deciders <= way.deciders[leaf]
            assert way.deciders[leaf] - {""} <= deciders


@pytest.mark.parametrize("identity", [t for t in TREES if "majority" not in t])
def test_the_reason_of_whole_rows_is_true_of_those_of_its_leaf_alone(identity: str) -> None:
    fitted, rows, dicts, ways = tried(identity)
    reading = RuleReading(fitted.tree_.schema, fitted.unknown)
    whole = [
        i
        for i, way in enumerate(ways)
        if not any(
            code_of(fitted.tree_, a, way.row, fitted.unknown) in (None, "unseen")
            for a in range(len(way.row))
        )
    ]
    said = explained(fitted, rows.take(whole))
    texts = {leaf: reason.removeprefix("IF ").rpartition(" THEN ")[0] for reason, _, leaf in said}
    for leaf, premise in texts.items():
        conditions = [
            re.sub(r" \(?or (missing|unseen)\)?$", "", re.sub(r"^\((.* or \w+)\)$", r"\1", text))
            for text in premise.split(" AND ")
        ]
        tests = [] if premise == "anything" else [read_known(text) for text in conditions]
        for place, (_, _, end) in zip(whole, said, strict=True):
            row = dicts[place]
            if any(near(test, row[name]) for name, test in tests) or "more}" in premise:
                continue
            values = {name: counted(row[name], name, reading) for name, _ in tests}
            assert all(values_do(test, values[name], name, reading) for name, test in tests) == (
                end == leaf
            )


class RuleReading:
    """What of a list of rules the readers of texts ask for. What is not printed beside reasons is in the text of the
    tree."""

    def __init__(self, schema: Any, unknown: str) -> None:
        self.schema, self.unknown = schema, unknown
        notes = (others_note(a, unknown == "missing") for a in schema.attributes if a.others)
        self.others = others_in("\n".join(notes))


def lacking(row: Row, name: str, reading: Any) -> bool:
    return lacks(row, name, reading)


def near(test: Any, value: Any) -> bool:
    """Do six digits tell on which side a number is?"""
    if not isinstance(test, tuple) or test[0] in ("in", "not") or isinstance(value, str):
        return False
    return any(b is not None and math.isclose(b, value, rel_tol=1e-5) for b in test)


def roughly(test: Any, value: Any, name: str, reading: Any) -> bool:
    """True of a value, as far as the digits and the listed levels go."""
    is_cut = test[0] in ("in", "not") and any(level.endswith(" more") for level in test[1])
    return is_cut or near(test, value) or values_do(test, value, name, reading)


# -- what training had ---------------------------------------------------------------------------------------------


@cache
def in_training(identity: str) -> list[set[str]]:
    """For each node: did training rows come there with a value, and without?"""
    table, method = identity.split(": ", 1)
    X, y, _ = ALL_TABLES[table]()
    if (METHODS | FEW)[method]().missing == "error":
        X, y = complete(X, y)
    fitted = model(identity)
    tree = fitted.tree_
    columns = {name: plain_column(column) for name, column in X.items()}
    found: list[set[str]] = [set() for _ in range(tree.node_count)]
    for values in zip(*columns.values(), strict=True):
        row = dict(zip(columns, values, strict=True))
        for leaf in Way(fitted, row).ends:
            node = int(tree.parent[leaf])
            while node >= 0:
                code = code_of(tree, int(tree.attribute[node]), row, fitted.unknown)
                found[node].add("missing" if code is None else "known")
                node = int(tree.parent[node])
    return found


def plain_column(column: Any) -> list[Any]:
    values = np.asarray(column, dtype=object).tolist()
    return [None if value is None or value != value else value for value in values]


@pytest.mark.parametrize("identity", TREES)
def test_what_is_said_of_missing_values_in_training(identity: str) -> None:
    fitted, had = model(identity), in_training(identity)
    tree = fitted.tree_
    inner = [node for node in range(tree.node_count) if tree.attribute[node] >= 0]
    nodes = json.loads(fitted.export("json"))["nodes"]
    dot, text = fitted.export("dot"), fitted.export("text")
    for node in inner:
        lacked = "missing" in had[node]
        said = nodes[node]["missing_seen"]
        assert said is None or said == lacked
        assert said is not None or not tree.missing_seen.any()
        edges = [line for line in dot.splitlines() if line.startswith(f"  {node} -> ")]
        assert len(edges) == tree.n_children[node]
        assert not (lacked and any("none in training" in edge for edge in edges))
        marks = [
            line
            for _, line in branch_texts(tree, node)
            if line.endswith(("missing", "(surrogates)"))
        ]
        shown = [
            b
            for b in branches_of(tree, node)
            if b.mark in (OR_MISSING, BY_SURROGATES) or b.sign == "is missing"
        ]
        if not tree.shares_rows:
            assert bool(marks) == lacked
            assert bool(shown) == lacked
            assert all(("or missing" in b.text(200)) or b.sign == "is missing" for b in shown)
    if "no values were missing there in training" in text:
        unsaid = [
            n
            for n in inner
            if not tree.missing_seen[n] and tree.surrogate_start[n] == tree.surrogate_start[n + 1]
        ]
        assert unsaid
        assert not any("missing" in had[node] for node in unsaid)


@pytest.mark.parametrize("identity", TREES)
def test_the_tips_of_a_drawing_say_where_rows_go(identity: str) -> None:
    fitted, _, dicts, ways = tried(identity)
    tree = fitted.tree_
    if tree.node_count > 400:
        pytest.skip("too large to be drawn")
    schema = tree.schema
    ordered = {a.name: list(map(str, a.categories)) for a in schema.attributes if a.ordered}
    drawing = layout(tree)
    reader = TextTree("all rows: x (1)\n\n", ordered)
    branches: dict[int, list[Branch]] = {}
    parts: dict[int, float] = {}
    for branch in drawing.branches:
        node, child = drawing.boxes[branch.parent].node, drawing.boxes[branch.child].node
        name = schema.names[tree.attribute[node]]
        tip, *more = branch.full.split("; ")
        said = Branch([], to=child)
        for part in re.split(r" or (?!missing|another)", tip):
            sign = "" if part.startswith(("<=", ">", "is ", "= ")) else "= "
            tests, rest = reader._tests(name, f" {sign}{part}")
            assert rest == "", branch.full
            said.tests += tests
        for line in more:
            if found := re.fullmatch(r"missing: ([\d.]+)%", line):
                parts[child] = float(found[1]) / 100
            else:
                reader._aside(f"({line})", None, said)
        branches.setdefault(node, []).append(said)
    reader.others = RuleReading(schema, fitted.unknown).others
    written = [reader.merged(row) for row in as_written(dicts, schema, fitted.unknown)]
    known = {a.name: set(map(str, a.categories)) for a in schema.attributes if a.is_categorical}
    for row, way in zip(written, ways, strict=True):
        for end in way.ends:
            child, node = end, int(tree.parent[end])
            while node >= 0:
                name = schema.names[tree.attribute[node]]
                if row[name] is None and tree.shares_rows:
                    share = tree.weight[child] / sum(tree.weight[b.to] for b in branches[node])
                    assert parts[child] == pytest.approx(share, abs=6e-4)
                else:
                    assert (
                        choose(branches[node], row[name], row, known.get(name, set())).to == child
                    )
                child, node = node, int(tree.parent[node])


@cache
def drawn_branches(identity: str) -> dict[int, list[ShownBranch]]:
    """What `show` draws at each node."""
    fitted = model(identity)
    exportable = fitted.exportable()
    inner = np.flatnonzero(fitted.tree_.attribute >= 0).tolist()
    return {node: branches_of(exportable, node) for node in inner}


def says(branch: ShownBranch, value: Any, fitted: Any, node: int) -> bool:
    """Is a value that is there one of those that a branch names? Of a printed bound the tree has all digits."""
    tree = fitted.tree_
    attribute = tree.schema.attributes[tree.attribute[node]]
    if branch.sign == "is known":
        return True
    if branch.sign == "is missing":
        return False
    if attribute.categories is None:
        (bound,) = branch.values
        threshold = float(tree.threshold[node])
        assert float(bound) == pytest.approx(threshold, rel=5.1e-6, abs=0)
        return (value <= threshold) == (branch.sign == "<=")
    names = [clean(str(level)) for level in attribute.categories]
    if branch.sign == "=":
        return clean(str(value)) in branch.values
    (highest,) = branch.values
    is_below = names.index(clean(str(value))) <= names.index(highest)
    return is_below == (branch.sign == "<=")


def on_the_way(tree: Any, end: int) -> list[tuple[int, int]]:
    """The nodes that ask on the way to an end, and the child that each sends on to."""
    steps = []
    while end:
        steps.append((int(tree.parent[end]), end))
        end = steps[-1][0]
    return steps


@pytest.mark.parametrize("identity", TREES)
def test_the_branches_that_are_shown_are_those_that_rows_take(identity: str) -> None:
    """Of a value that is there exactly one is true, and of one that is not there the one that is marked. Silence has a
    meaning, too: training had no such level at the node, surrogates decide, or the row is shared out."""
    fitted, _, dicts, ways = tried(identity)
    tree, drawn = fitted.tree_, drawn_branches(identity)
    reading = RuleReading(tree.schema, fitted.unknown)
    for row, way in zip(dicts, ways, strict=True):
        for node, child in {step for end in way.ends for step in on_the_way(tree, end)}:
            attribute, branches = tree.schema.attributes[tree.attribute[node]], drawn[node]
            value = row[attribute.name]
            if lacking(row, attribute.name, reading):
                marked = [
                    b.child
                    for b in branches
                    if b.mark not in ("", BY_SURROGATES) or b.sign == "is missing"
                ]
                if tree.surrogate_start[node] < tree.surrogate_start[node + 1]:
                    assert marked == []
                elif not tree.shares_rows:
                    assert marked == [child]
                continue
            value = counted(value, attribute.name, reading)
            named = [b.child for b in branches if says(b, value, fitted, node)]
            if named:
                assert named == [child]
                continue
            code = 1 + attribute.categories.index(value)
            table = slice(int(tree.table_start[node]), int(tree.table_start[node + 1]))
            assert code not in tree.table_codes[table]
            assert [b.child for b in branches if b.others] in ([], [child])


@pytest.mark.parametrize("identity", TREES)
def test_what_stands_beneath_a_tree_in_a_terminal_is_so(identity: str) -> None:
    fitted, drawn = model(identity), drawn_branches(identity)
    lines = [line.plain for line in draw(fitted.exportable(), Look(400, everything=True))]
    end = lines.index("") if "" in lines else len(lines)
    assert end == 1 + fitted.tree_.node_count
    texts = [branch.text(200) for branches in drawn.values() for branch in branches]
    marks = {"(or missing)", "(or unseen)"} & set(re.findall(r"\(or \w+\)", "\n".join(texts)))
    beneath = lines[end + 1 :]
    assert {mark for mark in marks if any(n.startswith(f'"{mark}": ') for n in beneath)} == marks
    if "no values were missing there in training" in "".join(beneath):
        had = in_training(identity)
        late = [
            node
            for node, branches in drawn.items()
            if any(b.mark in (OR_MISSING_LATER, OR_UNSEEN_LATER) for b in branches)
        ]
        assert not any("missing" in had[node] for node in late)
    for attribute in fitted.tree_.schema.attributes:
        asked = any(b.attribute == attribute.name for branches in drawn.values() for b in branches)
        is_told = any(note.startswith(f"{readable(attribute.name)} = ") for note in beneath)
        assert is_told == (asked and attribute.others is not None)


@pytest.mark.parametrize("identity", TREES)
def test_the_short_text_is_what_prediction_does(identity: str) -> None:
    """Where it is not silent; it is where surrogates decide, where rows are shared out or stop, and of levels that
    training had none of at a node."""
    fitted, _, dicts, ways = tried(identity)
    tree, schema = fitted.tree_, fitted.tree_.schema
    ordered = {a.name: list(map(str, a.categories)) for a in schema.attributes if a.ordered}
    text = fitted.to_text(exact=True).replace(" or missing (surrogates)", "")
    reader = TextTree(f"{text}\n\n" if "\n\n" not in text else text, ordered)
    reading = RuleReading(schema, fitted.unknown)
    reader.others = reading.others  # of which the note names eight
    written = as_written(dicts, schema, fitted.unknown)
    classes = fitted.classes_[tree.pred]
    n_silent = 0
    for row, plain, way in zip(written, dicts, ways, strict=True):
        try:
            said = reader.predict(row, {})
        except (Unsaid, KeyError):
            n_silent += 1
            lacks = set().union(*way.lacks.values(), *(way.stopped(end) for end in way.ends))
            is_absent = any(
                counted(plain[a.name], a.name, reading) not in at_node(tree, node)
                for end in way.ends
                for node, _ in on_the_way(tree, end)
                if (a := schema.attributes[tree.attribute[node]]).categories is not None
            )
            assert is_absent or (
                lacks and (tree.shares_rows or len(tree.surrogate_attribute) or way.stops)
            )
            continue
        (end,) = way.ends
        assert said == str(classes[end])
    assert n_silent < len(dicts)


def at_node(tree: Any, node: int) -> list[Any]:
    """The levels that training had at a node."""
    table = slice(int(tree.table_start[node]), int(tree.table_start[node + 1]))
    levels = tree.schema.attributes[tree.attribute[node]].categories
    return [levels[code - 1] for code in tree.table_codes[table].tolist()]


def fever() -> tuple[dict[str, np.ndarray], np.ndarray]:
    """A narrow band of one value, of which an eighth is missing, and another value that goes with it."""
    rng = np.random.default_rng(0)
    crp = rng.gamma(2, 8, 900)
    temperature = 37 + crp / 20 + rng.normal(0, 0.3, 900)
    ill = (crp > 7.75) & (crp <= 20) ^ (rng.random(900) < 0.05)
    crp[rng.random(900) < 0.12] = NAN
    return {"crp": crp, "fever": temperature}, np.where(ill, "ill", "well")


def test_no_reason_claims_a_value_that_is_empty(tmp_path: Any) -> None:
    X, y = fever()
    fitted = CARTClassifier(max_depth=3).fit(X, y)
    empty = [i for i, value in enumerate(X["crp"].tolist()) if value != value]
    rows = Rows({name: column[empty].tolist() for name, column in X.items()})
    for reason, _, _ in explained(fitted, rows):
        assert reason.startswith("IF crp is missing (decided by ")
        assert " crp <=" not in reason
    assert "none was missing" not in fitted.export("text") + fitted.export("dot")
    nodes = json.loads(fitted.export("json"))["nodes"]
    assert {node["missing_seen"] for node in nodes if "children" in node} == {True}
    pruned = RuleClassifier(base=CARTClassifier(max_depth=3)).fit(X, y).rules_
    for rules in (fitted.rules(), pruned):
        assert all("(if missing: " in premise_text(rule) for rule in rules)
    shown = [branch.text(100) for branch in branches_of(fitted.tree_, 0)]
    assert all(text.endswith(" or missing (surrogates)") for text in shown)


def test_what_old_model_files_do_not_say_is_not_said() -> None:
    X, y = fever()
    fitted = CARTClassifier(max_depth=3).fit(X, y)
    unseen = np.zeros(fitted.tree_.node_count, dtype=bool)
    fitted.tree_ = replace(fitted.tree_, missing_seen=unseen)  # as it was written once
    assert "in training" not in fitted.export("dot")
    assert "none was missing" not in fitted.export("text")
    nodes = json.loads(fitted.export("json"))["nodes"]
    assert {node["missing_seen"] for node in nodes if "children" in node} == {None}
    alone = CARTClassifier(pruning=None, max_depth=1).fit({"crp": X["crp"]}, y)
    alone.tree_ = replace(alone.tree_, missing_seen=np.zeros(alone.tree_.node_count, dtype=bool))
    assert "none was missing" not in alone.export("text") + alone.export("dot")
    assert "in training" not in alone.export("dot")


def test_raised_tests_have_seen_the_rows_that_came_to_them() -> None:
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 4, (60, 3)).astype(float)
        X[rng.random(X.shape) < 0.1] = NAN
        y = ((X[:, 0] > 1) ^ (rng.random(60) < 0.3)).astype(int)
        fitted = TreeClassifier(pruning="error_based", min_samples_leaf=2).fit(X, y)
        tree = fitted.tree_
        paths = fitted.decision_path(X).toarray().astype(bool)
        for node in np.flatnonzero(tree.attribute >= 0):
            lacked = np.isnan(X[paths[:, node], tree.attribute[node]]).any()
            assert tree.missing_seen[node] == lacked


# -- rules that look alike -----------------------------------------------------------------------------------------


# Levels or numbers of two columns, of which some are not there.
words = st.lists(st.sampled_from(["p", "q", "r", None]), min_size=6, max_size=6)
figures = st.lists(st.sampled_from([1.0, 1.0000001, 1.0000002, 2.0, NAN]), min_size=6, max_size=6)


@given(words, words, figures, st.lists(st.booleans(), min_size=6, max_size=6), st.booleans())
@example(list("prrprp"), list("qrqqpp"), [2.0] * 6, [False, True, False, True, True, False], False)
def test_rules_that_print_alike_cover_the_same_rows(
    a: list[Any], b: list[Any], x: list[float], y: list[bool], cart: bool
) -> None:
    X = {"a": np.array(a, dtype=object), "b": np.array(b, dtype=object), "x": np.array(x)}
    base = CARTClassifier(pruning=None) if cart else TreeClassifier()
    fitted = RuleClassifier(base=base).fit(X, np.array(y))
    asked = list(product(["p", "q", "r", None], ["p", "q", "r", None], [1.0, 1.0000001, 2.0, NAN]))
    columns = [np.array(column, dtype=object) for column in list(zip(*asked, strict=True))[:2]]
    rows = {"a": columns[0], "b": columns[1], "x": np.array([row[2] for row in asked])}
    for rules in (fitted.rules_, base.fit(X, np.array(y)).rules()):
        table = read_table_for_schema(rows, rules.schema, "test", "missing")
        check_apart(rules, rules.applies(table, 0, len(asked)).astype(bool))


def test_two_rules_that_differ_by_what_a_missing_value_does() -> None:
    X = {"a": list("prrprp"), "b": list("yzyyxx")}
    rules = RuleClassifier(base=TreeClassifier(ties="schema")).fit(X, list("010110")).rules_
    on_b = [rule for rule in rules if rule.conditions[0].attribute == "b"]
    assert [rule.conditions[0].missing for rule in on_b] == [True, False]
    assert [premise_text(rule) for rule in on_b] == ["b = y (or missing)", "b = y"]


def test_long_numbers_are_told_apart() -> None:
    x = np.pi + np.repeat(np.arange(4), 5) * 1e-8  # 3.14159, all of them
    rules = TreeClassifier().fit({"x": x}, np.arange(20) // 5 % 2).rules()
    assert len({premise_text(rule) for rule in rules}) == len(rules) == 4


def test_long_lists_are_told_apart() -> None:
    """Two sets of ten levels of forty, the first nine of which they have in common; eight are printed."""
    levels = [f"{k:02}" for k in range(40)] * 2
    rules = TreeClassifier().fit({"c": levels}, [int(level) % 2 for level in levels]).rules()
    codes = np.array([*range(1, 10), 10, *range(1, 10), 11], dtype=np.uint32)
    table = replace(rules.conditions, start=np.array([0, 10, 20]), codes=codes)
    rules = replace(rules, conditions=table)
    first, second = (premise_text(rule) for rule in rules)
    assert first != second
    assert {rule.conditions[0].holds({"c": "09"}) for rule in rules} == {True, False}
