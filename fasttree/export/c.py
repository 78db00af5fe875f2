# SPDX-License-Identifier: BSD-3-Clause
"""A tree as one file of C99 that needs nothing but the standard headers: constant tables, and a loop over them.

No recursion, no memory from the heap. The arithmetic is that of the core, operation by operation.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from string import Template
from typing import Any

import numpy as np

from fasttree.base.times import UNITS
from fasttree.base.values import short_repr
from fasttree.export.c_answers import ANSWERS
from fasttree.export.c_source import CODE, HEAD
from fasttree.export.category_keys import LevelKeys, level_keys
from fasttree.export.flat_steps import (
    Steps,
    distinct_rows,
    parts_of,
    shares_rows_at,
    steps_of,
)
from fasttree.trees.class_shares import SHARE_STEPS
from fasttree.trees.decide import CLASS_TIE
from fasttree.trees.view import Exportable

LONGEST_LITERAL = 4095  # bytes of a string that C99 promises to take
A_LINE = 12  # numbers


def export(model: Exportable, *, prefix: str = "fasttree") -> str:
    """C source. `prefix`: the prefix of the names of its functions and tables."""
    _check_prefix(prefix)
    keys = [level_keys(model, attribute) for attribute in range(len(model.names))]
    steps = steps_of(model.tree)
    is_categorical = [attribute.is_categorical for attribute in model.attributes]
    holds = {
        "levels": any(is_categorical),
        "times": bool(model.units),
        "words": any(key.words for key in keys),
        "numbers": any(key.numbers for key in keys),
        "tables": len(steps.table_codes) > 0,
        "stops": model.stops_at_unknown,
        "merges": model.merges,
        "merges_unseen": any(map(model.unseen, range(len(model.names)))),
        "classes": not model.predicts_numbers,
        "shares": model.shares_rows,
        "costs": model.cost is not None,
        "refuses_missing": not model.allow_missing,
        "refuses_unknown": model.unknown == "error" and any(is_categorical),
    }
    holds["coded"] = holds["tables"] or holds["refuses_unknown"]  # are codes ever looked at?
    holds["refuses"] = holds["refuses_missing"] or holds["refuses_unknown"]
    refused = [
        text
        for name, text in (
            ("refuses_missing", "a missing value"),
            ("refuses_unknown", "a category not seen in training"),
        )
        if holds[name]
    ]
    parts = [
        _kept(HEAD, holds),
        *_texts(model),
        *_level_tables(model, keys, holds),
        *_routing_tables(steps, holds),
        *_end_tables(model),
        *(_sharing_tables(model) if model.shares_rows else []),
        _kept(CODE + ANSWERS, holds),
    ]
    return Template("\n".join(parts)).substitute(
        p=prefix,
        P=prefix.upper(),
        n_columns=len(model.names),
        n_classes=model.n_classes,
        heaviest="; of several, the one with its largest share" if model.shares_rows else "",
        refused=" or ".join(refused),
        times="\n".join(_times(model)),
        nested=int(model.tree.path_sums(shares_rows_at(model.tree).astype(np.int64)).max()),
        tie=repr(CLASS_TIE),
        steps=repr(SHARE_STEPS),
        cost_tie=repr(1 + CLASS_TIE),
    )


def _check_prefix(prefix: Any) -> None:
    if not isinstance(prefix, str) or not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", prefix):
        raise ValueError(
            "prefix must consist of letters (a-z, A-Z), digits and _, and begin with a letter, for names in the "
            f"C source, got {short_repr(prefix)}"
        )


def _kept(text: str, holds: Mapping[str, bool]) -> str:
    """The lines whose conditions hold."""
    lines, conditions = [], [True]
    for line in text.splitlines():
        if line.startswith("@if "):
            *negated, name = line.split()[1:]
            conditions.append(conditions[-1] and holds[name] != bool(negated))
        elif line == "@end":
            conditions.pop()
        elif conditions[-1]:
            lines.append(line)
    return "\n".join(lines)


# -- the tables ------------------------------------------------------------------------------------


def _times(model: Exportable) -> Iterator[str]:
    """Columns by number: a name could end the comment."""
    for place, attribute in enumerate(model.attributes):
        if attribute.time is not None:
            yield f"     column {place}: {UNITS[attribute.time]}"


def _texts(model: Exportable) -> list[str]:
    names = _array("const char *const", "column_names", map(_text, model.names), "[${P}_COLUMNS]")
    if model.predicts_numbers:
        return [names]
    return [
        names,
        _array(
            "const char *const",
            "class_labels",
            (_text(str(label)) for label in model.classes),
            "[${P}_CLASSES]",
        ),
    ]


def _level_tables(model: Exportable, keys: list[LevelKeys], holds: Mapping[str, bool]) -> list[str]:
    if not holds["levels"]:
        return []
    sizes = [
        len(attribute.categories) if attribute.categories is not None else -1
        for attribute in model.attributes
    ]
    tables = []
    if holds["coded"]:
        tables.append(_numbers("int32_t", "n_levels", sizes))
        if holds["merges_unseen"]:
            unseen = map(model.unseen, range(len(model.names)))
            tables.append(_numbers("uint32_t", "unseen_level", unseen))
    if holds["words"]:
        words = [sorted((word.encode(), code) for word, code in key.words.items()) for key in keys]
        flat = [pair for column in words for pair in column]
        tables += [
            _numbers("int32_t", "word_start", _starts(words)),
            _array("static const char *const", "word", (_bytes(word) for word, _ in flat)),
            _numbers("size_t", "word_length", (len(word) for word, _ in flat)),
            _numbers("int32_t", "word_code", (code for _, code in flat)),
        ]
    if holds["numbers"]:
        numbers = [sorted(key.numbers.items()) for key in keys]
        pairs = [pair for column in numbers for pair in column]
        tables += [
            _numbers("int32_t", "number_start", _starts(numbers)),
            _numbers("double", "number", (number for number, _ in pairs)),
            _numbers("int32_t", "number_code", (code for _, code in pairs)),
        ]
    return tables


def _routing_tables(steps: Steps, holds: Mapping[str, bool]) -> list[str]:
    tables = {"column": steps.attribute, "threshold": steps.threshold}
    tables |= {"low": steps.low, "high": steps.high, "missing": steps.missing}
    if holds["tables"]:
        tables |= {"other": steps.other, "table_start": steps.table_start}
        tables |= {"table_code": steps.table_codes, "table_to": steps.table_to}
        if holds["stops"]:
            tables["unknown"] = steps.unknown
    kinds = {"threshold": "double", "table_code": "uint32_t"}
    return [_numbers(kinds.get(n, "int32_t"), n, t.tolist()) for n, t in tables.items()]


def _end_tables(model: Exportable) -> list[str]:
    if model.predicts_numbers:
        return [_numbers("double", "prediction", model.tree.prediction.tolist())]
    rows, row_of = distinct_rows(model.tree.proba, model.ends)
    return [
        _numbers("int32_t", "class", model.decision.tolist()),
        _numbers("int32_t", "proba_row", row_of.tolist()),
        _matrix("proba", rows),
    ]


def _sharing_tables(model: Exportable) -> list[str]:
    n_children = np.where(shares_rows_at(model.tree), model.tree.n_children, 0)
    tables = [
        _numbers("int32_t", "n_children", n_children.tolist()),
        _numbers("double", "part", parts_of(model).tolist()),
        _numbers("int32_t", "tie_order", model.tie_order),
    ]
    if model.cost is not None:
        tables.append(_matrix("cost", model.cost))
    return tables


# -- C's words -------------------------------------------------------------------------------------


def _starts(columns: list[Any]) -> list[int]:
    return [0, *np.cumsum([len(column) for column in columns]).tolist()]


def _numbers(kind: str, name: str, values: Iterable[float]) -> str:
    return _array(f"static const {kind}", name, map(_number, values))


def _number(value: float) -> str:
    if value == np.inf or value == -np.inf:
        return "INFINITY" if value > 0 else "-INFINITY"
    return repr(value)


def _matrix(name: str, rows: np.ndarray) -> str:
    lines = (f"{{{', '.join(map(repr, row))}}}" for row in rows.tolist())
    return _array("static const double", name, lines, "[][${P}_CLASSES]", 1)


def _array(
    kind: str, name: str, values: Iterable[str], size: str = "[]", a_line: int = A_LINE
) -> str:
    items = list(values)
    lines = [", ".join(items[i : i + a_line]) for i in range(0, len(items), a_line)]
    body = ",\n    ".join(lines)
    return f"{kind} ${{p}}_{name}{size} = {{\n    {body}\n}};"


def _text(text: str) -> str:
    """A name or label, for people."""
    return _bytes(text.encode())


def _bytes(data: bytes) -> str:
    """Bytes as C's constant: letters stay, all that C might read in another way is a number."""
    if len(data) <= LONGEST_LITERAL:
        return '"' + "".join(map(_BYTE.__getitem__, data)) + '"'
    return "(const char[]){" + ", ".join(f"'\\{byte:03o}'" for byte in data) + ", 0}"


_PLAIN = frozenset(range(32, 127)) - frozenset(b'"\\?')  # "??" begins a trigraph
_BYTE = [
    ("$$" if byte == ord("$") else chr(byte)) if byte in _PLAIN else f"\\{byte:03o}"
    for byte in range(256)
]
