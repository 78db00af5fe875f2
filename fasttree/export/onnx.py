# SPDX-License-Identifier: BSD-3-Clause
"""A tree as an ONNX model that gives the same answers in double precision.

A tree of thresholds alone becomes a TreeEnsembleRegressor; any other a loop over its steps, in standard operators.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from fasttree.base.values import short_repr
from fasttree.export.category_keys import check_one_kind, level_keys, new_name
from fasttree.export.flat_steps import distinct_rows, steps_of
from fasttree.export.onnx_graph import Graph
from fasttree.export.onnx_routing import (
    MOST_LEAVES,
    STOPS,
    Ends,
    Walk,
    ends_by_ensemble,
    ends_by_steps,
    shared_ends,
)
from fasttree.trees.class_shares import SHARE_STEPS
from fasttree.trees.decide import CLASS_TIE
from fasttree.trees.view import Exportable

OUTPUTS = ("label", "probabilities")
MATRIX = "X"
REFUSED = -2.0  # in place of a value for which the model refuses a row
DEEPEST_ENSEMBLE = 500  # runtimes go down an ensemble by recursion
REFUSAL = "rows with missing values or levels not seen in training are refused"


def export(model: Exportable, *, missing_text: str = "", matrix: bool | None = None) -> bytes:
    """An ONNX file with the outputs "label" and "probabilities".

    `missing_text` stands for a missing value in inputs of text. `matrix`: True, one input of doubles; False, an input
    for each column; None, one for all if all columns are numeric.
    """
    return _Export(model, missing_text, matrix).file()


class _Export:
    def __init__(self, model: Exportable, missing_text: Any, matrix: Any) -> None:
        self.model = model
        self.is_categorical = [attribute.is_categorical for attribute in model.attributes]
        self.keys = [level_keys(model, attribute) for attribute in range(len(model.names))]
        self.missing_text = missing_text
        self._check_texts()
        self.matrix = self._read_matrix(matrix)
        refuses = not model.allow_missing or (model.unknown == "error" and any(self.is_categorical))
        # Of the columns only those are read that are asked for, unless a row may be refused for any.
        all_columns = range(len(model.names))
        self.read = list(all_columns if refuses or self.matrix else model.used or [0])
        self.column = np.zeros(len(model.names), dtype=np.int64)  # of the table, for each attribute
        self.column[self.read] = np.arange(len(self.read))
        self.names = [MATRIX] if self.matrix else _input_names(model.names)
        self.graph = Graph(taken=[*self.names, *OUTPUTS])
        self.types = self.graph.onnx.TensorProto
        self.refusals: list[str] = []  # masks over rows

    def _check_texts(self) -> None:
        if not isinstance(self.missing_text, str):
            raise TypeError(f"missing_text must be a string, got {short_repr(self.missing_text)}")
        for name, keys in zip(self.model.names, self.keys, strict=True):
            check_one_kind(name, keys, "ONNX")
            if self.missing_text in keys.words:
                raise ValueError(
                    f"missing_text stands for a missing value, but {short_repr(self.missing_text)} is a category of "
                    f"the column {name!r}: pass another missing_text"
                )

    def _read_matrix(self, matrix: Any) -> bool:
        if matrix is not None and not isinstance(matrix, (bool, np.bool_)):
            raise ValueError(f"matrix must be True, False or None, got {short_repr(matrix)}")
        if matrix and any(self.is_categorical):
            name = self.model.names[self.is_categorical.index(True)]
            raise ValueError(f"matrix must be False, since the column {name!r} is categorical")
        return not any(self.is_categorical) if matrix is None else bool(matrix)

    def file(self) -> bytes:
        graph, model = self.graph, self.model
        if self.matrix:
            table = MATRIX
            if not model.allow_missing:
                self.refusals.append(graph.op("IsNaN", table))
        else:
            table = graph.op("Concat", *map(self._column, self.read), axis=1)
        label, proba = self._answers(table)
        classes, kind = _classes(model, self.types)
        make_info = graph.onnx.helper.make_tensor_value_info
        shape = ["rows", len(model.names)] if self.matrix else ["rows"]
        return graph.model(
            [make_info(name, self._kind(place), shape) for place, name in enumerate(self.names)],
            [
                (graph.pick(classes, label), make_info(OUTPUTS[0], kind, ["rows"])),
                (proba, make_info(OUTPUTS[1], self.types.DOUBLE, ["rows", model.n_classes])),
            ],
            columns=json.dumps(list(model.names)),
            classes=json.dumps([str(label) for label in model.classes]),
            missing_text=json.dumps(self.missing_text),
            **({"units": json.dumps(model.units)} if model.units else {}),
        )

    # -- what comes in ---------------------------------------------------------------------------------------------

    def _kind(self, place: int) -> Any:
        """The type of an input."""
        is_text = self.is_categorical[place] and not self.keys[place].numbers and not self.matrix
        return self.types.STRING if is_text else self.types.DOUBLE

    def _column(self, place: int) -> str:
        """Numbers or codes, as doubles [row, 1]."""
        graph, model, keys = self.graph, self.model, self.keys[place]
        values = self.names[place]
        missing = np.nan if model.allow_missing else REFUSED
        if self.is_categorical[place]:
            unknown = {"missing": np.nan, "majority": STOPS, "error": REFUSED}[model.unknown]
            if model.unseen(place):
                unknown = float(model.unseen(place))
            if keys.numbers:
                lacks = graph.op("IsNaN", values)
                codes = np.array(list(keys.numbers.values()), dtype=np.float64)
                found = graph.look_up(values, np.array(list(keys.numbers)), codes, unknown)
                values = graph.op("Where", lacks, np.float64(missing), found)
            else:
                self._check_words(place)
                words = np.array([*keys.words, self.missing_text], dtype=object)
                codes = np.array([*keys.words.values(), missing], dtype=np.float64)
                values = graph.look_up(values, words, codes, unknown)
            if REFUSED in (missing, unknown):
                self.refusals.append(graph.op("Equal", values, np.float64(REFUSED)))
        elif not model.allow_missing:
            self.refusals.append(graph.op("IsNaN", values))
        return graph.op("Unsqueeze", values, np.array([1]))

    def _check_words(self, place: int) -> None:
        for word in self.keys[place].words:
            if "\0" in word:  # runtimes lose it on the way in, and then take one level for another
                raise ValueError(
                    f"column {self.model.names[place]!r} has the category {short_repr(word)}, but ONNX runtimes "
                    'cut text off at a null character: rename it, or use format="python" or "c"'
                )

    def _accepted(self) -> str:
        """The number 0, or an error when the model runs: it looks at a place that is not there."""
        graph, zero = self.graph, self.graph.constant(np.int64(0))
        if not self.refusals:
            return zero
        counts = [graph.count(mask) for mask in self.refusals]
        refused = graph.op("Greater", graph.op("Sum", *map(self._double, counts)), np.float64(0))
        return graph.op("Gather", graph.constant(np.array([0])), graph.whole(refused), name=REFUSAL)

    def _double(self, value: str) -> str:
        return self.graph.op("Cast", value, to=self.types.DOUBLE)

    # -- what comes out --------------------------------------------------------------------------------------------

    def _answers(self, table: str) -> tuple[str, str]:
        """The class number and the probabilities of each row."""
        graph, model = self.graph, self.model
        tree = model.tree
        rows, row_of = distinct_rows(tree.proba, model.ends)
        steps = steps_of(tree)
        walk = Walk(
            steps, self.column, table, 1 + max(map(len, self._levels())), model.stops_at_unknown
        )
        is_plain = not len(steps.table_codes) and len(steps) == tree.node_count
        n_rows = graph.size(table)
        if model.shares_rows:
            start = graph.op("Expand", self._accepted(), n_rows)
            return self._shared(shared_ends(graph, model, walk, start), n_rows, rows, row_of)
        if is_plain and 0 < tree.max_depth <= DEEPEST_ENSEMBLE and tree.n_leaves <= MOST_LEAVES:
            end = graph.op(
                "Add", ends_by_ensemble(graph, model, self.column, table), self._accepted()
            )
        else:
            end = ends_by_steps(graph, walk, graph.op("Expand", self._accepted(), n_rows))
        return graph.pick(model.decision.astype(np.int64), end), graph.pick(
            rows, graph.pick(row_of, end)
        )

    def _levels(self) -> list[tuple[Any, ...]]:
        return [self.model.levels(place) for place in range(len(self.model.names))]

    def _shared(
        self, ends: Ends, n_rows: str, rows: np.ndarray, row_of: np.ndarray
    ) -> tuple[str, str]:
        graph, model = self.graph, self.model
        one = graph.constant(np.array([1]))
        shares = graph.op(
            "Mul",
            graph.op("Unsqueeze", ends.part, one),
            graph.pick(rows, graph.pick(row_of, ends.at)),
        )
        shape = graph.op("Concat", n_rows, np.array([model.n_classes]), axis=0)
        place = graph.op("Expand", graph.op("Unsqueeze", ends.row, one), graph.op("Shape", shares))
        proba = graph.op(
            "ScatterElements", graph.full(shape, 0.0), place, shares, axis=0, reduction="add"
        )
        proba = graph.op(
            "Where", graph.op("Unsqueeze", ends.is_shared, one), self._evened(proba), proba
        )
        decision = graph.pick(model.decision.astype(np.int64), ends.at)
        at_end = graph.op("ScatterElements", graph.full(n_rows, 0), ends.row, decision)
        return graph.op("Where", ends.is_shared, self._class_of(proba), at_end), proba

    def _evened(self, proba: str) -> str:
        """As `fasttree.trees.class_shares.settled` and `fasttree.trees.decide.raised` have it."""
        graph = self.graph
        steps = graph.constant(np.float64(SHARE_STEPS))
        proba = graph.op("Div", graph.op("Round", graph.op("Mul", proba, steps)), steps)
        largest = graph.op("ReduceMax", proba, np.array([1]), keepdims=1)
        limit = graph.op("Sub", largest, np.float64(CLASS_TIE))
        return graph.op("Where", graph.op("GreaterOrEqual", proba, limit), largest, proba)

    def _class_of(self, proba: str) -> str:
        """As `fasttree.trees.decide.classes_of_shares` has it."""
        graph, cost = self.graph, self.model.cost
        order = np.array(self.model.tie_order, dtype=np.int64)
        axis = graph.constant(np.array([1]))
        if cost is None:
            value, limit = proba, graph.op("ReduceMax", proba, axis, keepdims=1)
            compare = "GreaterOrEqual"
        else:
            value = graph.constant(np.float64(0))
            for true, prices in enumerate(cost):  # one after another: the order of a sum matters
                share = graph.op("Gather", proba, np.array([true]), axis=1)
                value = graph.op("Add", value, graph.op("Mul", share, prices))
            limit = graph.op("ReduceMin", value, axis, keepdims=1)
            limit = graph.op("Mul", limit, np.float64(1 + CLASS_TIE))
            compare = "LessOrEqual"
        ordered = graph.op("Gather", value, order, axis=1)
        first = graph.op(
            "ArgMax", graph.whole(graph.op(compare, ordered, limit)), axis=1, keepdims=0
        )
        return graph.pick(order, first)


def _classes(model: Exportable, types: Any) -> tuple[np.ndarray, Any]:
    """The labels as a tensor can hold them."""
    labels = model.classes
    kinds = set(map(type, labels))
    if kinds == {str} and not any("\0" in label for label in labels):  # runtimes stop there
        return np.array(labels, dtype=object), types.STRING
    if kinds == {bool}:
        return np.array(labels, dtype=bool), types.BOOL
    if kinds == {int} and all(-(2**63) <= label < 2**63 for label in labels):
        return np.array(labels, dtype=np.int64), types.INT64
    if kinds == {float}:
        return np.array(labels, dtype=np.float64), types.DOUBLE
    raise ValueError(
        f"ONNX tensors cannot hold classes such as {short_repr(labels[-1])}: convert them to text without null "
        "characters, or "
        'use format="python"'
    )


def _input_names(names: tuple[str, ...]) -> list[str]:
    """The names of the columns; those that ONNX uses otherwise become column_0, column_1, ... by their places."""
    taken = {*names, *OUTPUTS}
    return [
        new_name(f"column_{place}", taken) if not name or name in OUTPUTS else name
        for place, name in enumerate(names)
    ]
