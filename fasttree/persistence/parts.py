# SPDX-License-Identifier: BSD-3-Clause
"""What a fit leaves in an estimator, and its parts as header fields and arrays, and back: prunings and choices."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from fasttree.base.errors import ModelFileError, require
from fasttree.mml.message import TestOptions
from fasttree.persistence.header import HeaderReader
from fasttree.pruning import Choice, Path, Trace
from fasttree.pruning.trace import CHILD_RAISED, LEAF_MADE
from fasttree.trees.structure import LEAF, TreeStructure

if TYPE_CHECKING:
    from fasttree.rules import RuleList

ACTIONS = (LEAF_MADE, CHILD_RAISED)

# The arrays of each part: element type and shape. A letter is a length that the arrays of the part have in common.
CHOICES = dict.fromkeys(("eligible", "n_cuts", "place"), ("i8", ("node",)))
TRACE = {
    "node": ("i8", ("s",)),
    "attribute": ("i4", ("s",)),
    "action": ("u1", ("s",)),
    "leaves_removed": ("i8", ("s",)),
    "before": ("f8", ("s",)),
    "after": ("f8", ("s",)),
}
PATH = {
    "alphas": ("f8", ("k",)),
    "leaves": ("i8", ("k",)),
    "risk": ("f8", ("k",)),
    "dies_at": ("f8", ("grown",)),
    "link": ("i8", ("l",)),
    "link_leaves": ("i8", ("l",)),
    "link_risk": ("f8", ("l", 2)),
}
CHOICE = {"alphas": ("f8", ("k",)), "leaves": ("i8", ("k",)), "errors": ("f8", ("k",))}

CHOICE_COSTS = {"squares": ("f8", ("k",))}  # only where some mistakes count more than others

Layout = Mapping[str, tuple[str, tuple[str | int, ...]]]


@dataclass(frozen=True, slots=True, eq=False)
class FittedModel:
    """What a fit leaves in an estimator: a tree, how it became as small as it is, and what else answers depend on.
    Files know a fitted estimator by this record and its parameters."""

    tree: Any  # Tree or RegressionTree
    trace: Trace | None = None
    path: Path | None = None
    choice: Choice | None = None
    choices: TestOptions | None = None  # what growth by length could choose between at each node
    missing: str | None = None  # the policy of the fit; None: rules have their own
    rules: RuleList | None = None  # which answer instead of the tree


@dataclass
class ArrayStore:
    """The arrays of a model file by name, as they are put in, or taken out and ticked off."""

    arrays: dict[str, np.ndarray] = field(default_factory=dict)

    def put(self, group: str, layout: Layout, source: Any) -> None:
        """The arrays of an object, or of a mapping."""
        for name, (dtype, _) in layout.items():
            array = source[name] if isinstance(source, Mapping) else getattr(source, name)
            self.arrays[f"{group}/{name}"] = np.asarray(array).astype(
                dtype, casting="same_kind", copy=False
            )

    def take(self, group: str, layout: Layout, **sizes: int) -> dict[str, np.ndarray]:
        """The arrays of a group, with the types and shapes that they should have."""
        found = {}
        known: dict[str, int] = dict(sizes)
        for name, (dtype, shape) in layout.items():
            array = self.pop(f"{group}/{name}")
            fits = array.dtype == np.dtype(dtype) and array.ndim == len(shape)
            if fits:
                for length, of in zip(array.shape, shape, strict=True):
                    wanted = of if isinstance(of, int) else known.setdefault(of, length)
                    fits = fits and length == wanted
            require(fits, f"the array '{group}/{name}' has the wrong type or shape")
            found[name] = array
        return found

    def pop(self, name: str) -> np.ndarray:
        require(name in self.arrays, f"it has no array {name!r}")
        return self.arrays.pop(name)

    def check_all_taken(self) -> None:
        for name in self.arrays:
            raise ModelFileError(
                f"it has an array {name!r}, which a model of its kind must not have"
            )


# -- the choices of growth by length -------------------------------------------------------------------------------


def _put_choices(choices: TestOptions, tree: TreeStructure, store: ArrayStore) -> dict[str, Any]:
    store.put("choices", CHOICES, choices)
    return {}


def _take_choices(header: HeaderReader, tree: TreeStructure, store: ArrayStore) -> TestOptions:
    choices = TestOptions(**store.take("choices", CHOICES, node=tree.node_count))
    check_choices(choices, tree)
    return choices


def check_choices(choices: Any, tree: TreeStructure) -> None:
    require(
        isinstance(choices, TestOptions)
        and all(
            isinstance(array, np.ndarray)
            and array.dtype.kind == "i"
            and array.shape == (tree.node_count,)
            and bool((array >= 0).all())
            for array in (choices.eligible, choices.n_cuts, choices.place)
        )
        and bool((choices.place <= choices.n_cuts).all()),
        "the possible splits at its nodes are not one count per node",
    )


# -- what pruning did ----------------------------------------------------------------------------------------------


def _put_trace(trace: Trace, tree: TreeStructure, store: ArrayStore) -> dict[str, Any]:
    number = {name: place for place, name in enumerate(tree.schema.names)} | {"": LEAF}
    columns = {name: getattr(trace, name) for name in ("node", "leaves_removed", "before", "after")}
    columns["attribute"] = np.array([number[name] for name in trace.attribute], dtype=np.int32)
    columns["action"] = np.array([ACTIONS.index(action) for action in trace.action], dtype=np.uint8)
    store.put("trace", TRACE, columns)
    return {"method": trace.method, "estimate": trace.estimate}


def _take_trace(header: HeaderReader, tree: TreeStructure, store: ArrayStore) -> Trace:
    columns = store.take("trace", TRACE)
    names = (*tree.schema.names, "")  # the last is that of -1
    attribute, action = columns["attribute"], columns["action"]
    require(
        bool(((attribute >= LEAF) & (attribute < len(names) - 1)).all())
        and bool((action < len(ACTIONS)).all())
        and bool((columns["node"] >= 0).all()),
        "a step of its pruning has a node, an attribute or an action that does not exist",
    )
    return Trace(
        header.text("method"),
        header.text("estimate"),
        columns["node"],
        tuple(names[place] for place in attribute.tolist()),
        columns["leaves_removed"],
        columns["before"],
        columns["after"],
        tuple(ACTIONS[place] for place in action.tolist()),
    )


def _put_path(path: Path, tree: TreeStructure, store: ArrayStore) -> dict[str, Any]:
    store.put("path", PATH, path)
    return {"impurity": path.impurity}


def _take_path(header: HeaderReader, tree: TreeStructure, store: ArrayStore) -> Path:
    columns = store.take("path", PATH)
    link = columns["link"]
    require(
        bool(((link >= 0) & (link < len(columns["dies_at"]))).all()),
        "a step of its pruning path has a node that does not exist",
    )
    return Path(header.text("impurity"), **columns)


def _put_choice(choice: Choice, tree: TreeStructure, store: ArrayStore) -> dict[str, Any]:
    store.put("choice", CHOICE, choice)
    header = {"weight": float(choice.weight), "se": float(choice.se), "place": int(choice.place)}
    if choice.n_rows != choice.weight or not np.array_equal(choice.squares, choice.errors):
        store.put("choice_costs", CHOICE_COSTS, choice)
        header["n_rows"] = float(choice.n_rows)
    return header


def _take_choice(header: HeaderReader, tree: TreeStructure, store: ArrayStore) -> Choice:
    columns = store.take("choice", CHOICE)
    place = header.integer("place")
    require(
        0 <= place < len(columns["alphas"]), "the tree that its pruning selected is not on the path"
    )
    weight = header.number("weight")
    squares, n_rows = columns["errors"], weight
    if header.has("n_rows"):
        n_rows = header.number("n_rows")
        squares = store.take("choice_costs", CHOICE_COSTS, k=len(squares))["squares"]
    return Choice(
        **columns,
        weight=weight,
        squares=squares,
        n_rows=n_rows,
        se=header.number("se"),
        place=place,
    )


# By their names in a header and in a `FittedModel`: what puts a part into a file, and what takes it out.
PARTS: dict[str, tuple[Callable[..., dict[str, Any]], Callable[..., Any]]] = {
    "choices": (_put_choices, _take_choices),
    "trace": (_put_trace, _take_trace),
    "path": (_put_path, _take_path),
    "choice": (_put_choice, _take_choice),
}


def put_parts(fitted: FittedModel, store: ArrayStore) -> dict[str, Any]:
    """The parts that a model has, as fields of a header."""
    parts = {key: (put, getattr(fitted, key)) for key, (put, _) in PARTS.items()}
    return {
        k: put(part, fitted.tree, store) for k, (put, part) in parts.items() if part is not None
    }


def take_parts(header: HeaderReader, tree: TreeStructure, store: ArrayStore) -> dict[str, Any]:
    """The parts that a header has, as fields of a `FittedModel`."""
    parts = {}
    for key, (_, take) in PARTS.items():
        if header.has(key):
            fields = header.fields(key)
            parts[key] = take(fields, tree, store)
            fields.check_all_taken()
    return parts
