# SPDX-License-Identifier: BSD-3-Clause
"""A tree as the source of a Python module that needs nothing but Python.

The tests are a table and the way of a row is a loop, so that no tree is too deep for Python's parser or its stack.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterator

import numpy as np

from fasttree.base.literals import READ_TIME, python_imports, python_literal, python_tuple
from fasttree.draw.text import to_text
from fasttree.trees.class_shares import SHARE_STEPS
from fasttree.trees.decide import CLASS_TIE
from fasttree.trees.view import ALL_BRANCHES, Exportable, Surrogate, Test

OTHER = "OTHER"
DRAWN = 60  # nodes; a tree of so many is drawn above its tables

HEAD = '''\
"""A decision tree learned by fasttree, as plain Python.

{functions}

A row is a dict from attribute to value, or a sequence of the values in the order of ATTRIBUTES. None and NaN are
missing values.{times}{refusals}
"""
'''

OF_CLASSES = """\
    predict(row)        the class of a row
    predict_proba(row)  the share of each class, in the order of CLASSES
    leaf(row)           the number of the node where the row ends"""

OF_NUMBERS = """\
    predict(row)        the number predicted for a row
    leaf(row)           the number of the node where the row ends"""

TIMES = """ Times are given as datetime's own or as
microseconds, those of a date since 1970-01-01 (UTC if they have a zone)."""

_READS_TIME = """\
        if name in KINDS:
            return _microseconds(value, name, KINDS[name])
"""

_READS_DAY = """\
    if isinstance(value, datetime.date):
        for level in levels:
            if _midnight(level) == _midnight(value):
                return levels[level] or level
"""

_READS_OTHER = """\
    if ON_UNKNOWN == "missing" and OTHER in levels.values():
        return OTHER
"""

MIDNIGHT = '''

def _midnight(day):
    """What dates and times are compared as."""
    if isinstance(day, datetime.datetime) or not isinstance(day, datetime.date):
        return day
    return datetime.datetime.combine(day, datetime.time())
'''

CLASSES_OF_ROWS = '''

def predict(row):
    return _outcome(row)[0]


def predict_proba(row):
    return list(_outcome(row)[1])


def leaf(row):
    return _outcome(row)[2]


def _outcome(row):
    """The class, the shares of the classes, and the node where the largest part of the row ends."""
    values = _read(row)
    ends, is_shared = [], False
    open_ways = [(0, 1.0)]
    while open_ways:
        node, share = open_ways.pop()
        while True:
            step = _next(node, values) if node in TESTS else node
            if step == node or step is None:
                break
            node = step
        if step is None:  # down every branch, with a share of the row each
            is_shared = True
            first, parts = TESTS[node][2], PARTS[node]
            for branch in reversed(range(len(parts))):
                if parts[branch] > 0:
                    open_ways.append((first + branch, share * parts[branch]))
        else:
            ends.append((node, share))
    if not is_shared:
        number, shares = ENDS[node]
        return CLASSES[number], shares, node
    shares = [0.0] * len(CLASSES)
    for node, share in ends:
        for number, probability in enumerate(ENDS[node][1]):
            shares[number] += share * probability
    shares = [round(share * STEPS) / STEPS for share in shares]
    most = max(shares)  # shares that rounding alone keeps below it equal it
    shares = [most if share >= most - TIE else share for share in shares]
    largest = max(share for _, share in ends)
    return CLASSES[_decide(shares)], shares, min(node for node, share in ends if share >= largest - TIE)
'''

NUMBERS_OF_ROWS = """

def predict(row):
    return ENDS[leaf(row)]


def leaf(row):
    values, node = _read(row), 0
    while node in TESTS:
        step = _next(node, values)
        if step == node:
            break
        node = step
    return node
"""

NEXT = '''

def _next(node, values):
    """The node after a node; None: all of its children; the node itself: the way ends there."""
    attribute, test, first, default, missing = TESTS[node]
    value = values[attribute]
    if value is MISSING:
        for stand_in, its_test, low in SURROGATES.get(node, ()):
            value = values[stand_in]
            if value is MISSING:
                continue
            if not isinstance(its_test, dict):
                return first + (low if value <= its_test else 1 - low)
            if value is not UNKNOWN and value in its_test:
                return first + its_test[value]
        return None if missing is None else first + missing
    if not isinstance(test, dict):
        return first + (0 if value <= test else 1)
    if value is UNKNOWN:
        return node
    return first + test.get(value, default)
'''

DECIDE = '''

def _decide(shares):
    """The class number for shares of several ends."""
    if COST is None:
        most = max(shares)
        return next(number for number in TIE_ORDER if shares[number] == most)
    costs = [0.0] * len(shares)
    for true, share in enumerate(shares):
        for number in TIE_ORDER:
            costs[number] += share * COST[true][number]
    least = min(costs) * (1 + TIE)
    return next(number for number in TIE_ORDER if costs[number] <= least)
'''

READ = """

def _read(row):
    if isinstance(row, dict):
        for name in ATTRIBUTES:
            if name not in row:
                raise KeyError(f"the row has no value for {name!r}: pass None if it is missing")
        row = [row[name] for name in ATTRIBUTES]
    if len(row) != len(ATTRIBUTES):
        raise ValueError(f"the row has {len(row)} values instead of {len(ATTRIBUTES)}")
    return [_value(value, place) for place, value in enumerate(row)]


def _value(value, place):
    name, levels = ATTRIBUTES[place], LEVELS[place]
    if value is None or value != value:
        if not ALLOW_MISSING:
            raise ValueError(f"{name!r} has a missing value, which the model rejects")
        return MISSING
    if levels is None:
        if isinstance(value, str):
            raise TypeError(f"{name!r} must be a number, got the text {value!r}")
        if name in KINDS:
            return _microseconds(value, name, KINDS[name])
        return float(value)
    if value in levels:
        return levels[value] or value
    if isinstance(value, datetime.date):
        for level in levels:
            if _midnight(level) == _midnight(value):
                return levels[level] or level
    if levels and isinstance(value, str) != isinstance(next(iter(levels)), str):
        raise TypeError(f"{name!r} has categories such as {next(iter(levels))!r}, got {value!r}")
    if ON_UNKNOWN == "error":
        raise ValueError(f"{name!r} has the value {value!r}, which was not seen in training")
    if ON_UNKNOWN == "missing" and OTHER in levels.values():
        return OTHER
    return UNKNOWN if ON_UNKNOWN == "majority" else MISSING
"""


def export(model: Exportable) -> str:
    """The source of a module with predict, predict_proba and leaf."""
    body = "\n".join([*_drawing(model), *_constants(model), *_tables(model)]) + "\n"
    parts: tuple[str, ...] = (CLASSES_OF_ROWS, NEXT, DECIDE, READ)
    if model.predicts_numbers:
        parts = (NUMBERS_OF_ROWS, NEXT, READ)
    code = "".join(parts)
    if not model.units:
        code = code.replace(_READS_TIME, "")
    has_days = any(isinstance(v, datetime.date) for a in model.attributes for v in a.seen_levels)
    if not has_days:
        code = code.replace(_READS_DAY, "")
    if not model.merges:
        code = code.replace(_READS_OTHER, "").replace("levels[level] or level", "level")
        code = code.replace("levels[value] or value", "value")
    body += code + MIDNIGHT if has_days else code
    body += READ_TIME if model.units else ""
    imports = python_imports(body)
    functions = OF_NUMBERS if model.predicts_numbers else OF_CLASSES
    times = TIMES if model.units else ""
    head = HEAD.format(functions=functions, times=times, refusals=_refusals(model))
    return head + (f"\n{imports}" if imports else "") + body


def _refusals(model: Exportable) -> str:
    refused = [] if model.allow_missing else ["missing value"]
    if model.unknown == "error" and any(a.is_categorical for a in model.attributes):
        refused.append("category not seen in training")
    return f" A {' or a '.join(refused)} raises a ValueError." if refused else ""


def _drawing(model: Exportable) -> list[str]:
    if model.node_count > DRAWN:
        return []
    return ["", *(f"# {line}".rstrip() for line in to_text(model).split("\n"))]


def _constants(model: Exportable) -> Iterator[str]:
    cost = model.cost
    yield ""
    yield f"ATTRIBUTES = {python_tuple(map(python_literal, model.names))}"
    if model.units:
        kinds = (f"{python_literal(a.name)}: {a.time!r}" for a in model.attributes if a.time)
        yield f"KINDS = {{{', '.join(kinds)}}}"
    if not model.predicts_numbers:
        yield f"CLASSES = {python_tuple(map(python_literal, model.classes))}"
    yield f"ALLOW_MISSING, ON_UNKNOWN = {model.allow_missing}, {model.unknown!r}"
    yield "MISSING, UNKNOWN = object(), object()"
    if model.merges:
        yield "OTHER = object()  # the rare categories together"
    if model.predicts_numbers:
        return
    yield f"STEPS = {SHARE_STEPS!r}  # of the sums of shares"
    yield f"TIE, TIE_ORDER = {CLASS_TIE!r}, {python_tuple(map(str, model.tie_order))}"
    yield f"COST = {None if cost is None else cost.tolist()}  # [true][predicted]"


def _tables(model: Exportable) -> Iterator[str]:
    literals = [_literals(model, a) for a in range(len(model.names))]
    inner = np.flatnonzero(~model.tree.is_leaf()).tolist()
    tests = {node: model.test(node) for node in inner}
    yield "\n# The categories of each attribute; None: it is a number."
    yield "LEVELS = ("
    for place, attribute in enumerate(model.attributes):
        other = OTHER if attribute.others is not None else None
        pairs = ((python_literal(v), literals[place][c - 1]) for v, c in model.codes(place))
        listed = (f"{v}: {OTHER if name == other else None}" for v, name in pairs)
        levels = f"{{{', '.join(listed)}}}"  # a dict keeps their order
        yield f"    {levels if attribute.is_categorical else None},"
    yield ")"
    yield "\n# node: (attribute, threshold or {level: branch}, first child, branch of others, of missing values)"
    yield "TESTS = {"
    for node, test in tests.items():
        missing = None if test.missing_branch == ALL_BRANCHES else test.missing_branch
        default = None if test.default_branch < 0 else test.default_branch
        asked = _asked(test, literals)
        yield f"    {node}: ({test.attribute}, {asked}, {test.first_child}, {default}, {missing}),"
    yield "}"
    yield "\n# node: surrogates of its test, (attribute, threshold or {level: branch}, branch of low values)"
    yield "SURROGATES = {"
    for node, test in tests.items():
        if test.surrogates:
            stand_ins = (
                f"({s.attribute}, {_asked(s, literals)}, {s.low})" for s in test.surrogates
            )
            yield f"    {node}: {python_tuple(stand_ins)},"
    yield "}"
    if model.predicts_numbers:
        yield "\n# node: the number that is predicted, where rows end"
        yield "ENDS = {"
        for node in np.flatnonzero(model.ends).tolist():
            yield f"    {node}: {float(model.tree.prediction[node])!r},"
        yield "}"
        return
    yield "\n# node: the fraction of a row with a missing value that each branch gets"
    yield "PARTS = {"
    for node, test in tests.items():
        if test.missing_branch == ALL_BRANCHES:
            yield f"    {node}: {python_tuple(map(repr, model.parts(node)))},"
    yield "}"
    yield "\n# node: (class, share of each class), where rows end"
    yield "ENDS = {"
    for node in np.flatnonzero(model.ends).tolist():
        shares = python_tuple(map(repr, model.tree.proba[node].tolist()))
        yield f"    {node}: ({int(model.decision[node])}, {shares}),"
    yield "}"


def _literals(model: Exportable, attribute: int) -> list[str]:
    """What the tests call the levels; not by its name those of few rows, for a new level might have that."""
    literals = [python_literal(level) for level in model.levels(attribute)]
    if model.attributes[attribute].others is not None:
        literals[-1] = OTHER
    return literals


def _asked(test: Test | Surrogate, literals: list[list[str]]) -> str:
    if not test.branch_of:
        value = test.threshold
        return repr(value) if math.isfinite(value) else f"float({str(value)!r})"
    levels = literals[test.attribute]
    pairs = (f"{levels[code - 1]}: {branch}" for code, branch in test.branch_of.items())
    return f"{{{', '.join(pairs)}}}"
