# SPDX-License-Identifier: BSD-3-Clause
"""TreeStructure: a frozen struct of arrays, breadth-first, the children of a node adjacent.

What is predicted at the nodes, `Tree` (classes) and `RegressionTree` (numbers) add.
"""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from functools import cache
from itertools import pairwise
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from fasttree import _core
from fasttree.base.cached import cached_property
from fasttree.base.errors import reading_pickle
from fasttree.base.ragged import flat_indices, offsets, take_lists
from fasttree.base.sums import segment_sums, total
from fasttree.tables.schema import Schema
from fasttree.tables.schema_checks import check_schema
from fasttree.trees.validate import check_tree
from fasttree.version import __version__

LEAF = -1
NOTHING = np.empty(0)


def _nothing() -> np.ndarray:
    return NOTHING


_NO_SURROGATES = {
    "surrogate_attribute": np.empty(0, dtype=np.int32),
    "surrogate_threshold": np.empty(0),
    "surrogate_low": np.empty(0, dtype=np.int32),
    "surrogate_table_start": np.zeros(1, dtype=np.int64),
    "surrogate_table_codes": np.empty(0, dtype=np.uint32),
    "surrogate_table_branch": np.empty(0, dtype=np.uint32),
    "surrogate_agreement": np.empty(0),
    "surrogate_adjusted": np.empty(0),
}


@dataclass(frozen=True, eq=False, kw_only=True)
class TreeStructure:
    """A grown tree without its predictions. Node 0 is the root; branch b of node i leads to node ``first_child[i] +
    b``.

    A node routes in one of two ways. THRESHOLD: ``x <= threshold`` takes branch 0, else branch 1. TABLE: the code
    of the value (1 + its index among the categories) is looked up in ``table_codes[table_start[i]:table_start[i +
    1]]``, which holds the codes present at the node, ascending; ``table_branch`` has their branches,
    ``default_branch`` is for all others. Code 0, a missing or unknown value, takes ``missing_branch``.
    """

    VALUES: ClassVar[tuple[str, ...]] = ()  # the arrays, one entry a node, of what is predicted

    schema: Schema = field(kw_only=False)
    attribute: np.ndarray  # int32; LEAF (-1) at leaves
    threshold: np.ndarray  # float64; NaN where there is none
    first_child: np.ndarray  # int32; -1 at leaves
    n_children: np.ndarray  # int32
    table_start: np.ndarray  # int64, one more than nodes
    table_codes: np.ndarray  # uint32
    table_branch: np.ndarray  # uint32
    default_branch: np.ndarray  # int32; -1 where there is no table
    missing_branch: np.ndarray  # int32; -1: every branch, with shares by weight; -1 at leaves
    # bool; training rows at the node lacked the value, so that they or their surrogates decided; else that branch is
    # the heaviest. The first model files do not say it of trees with surrogates.
    missing_seen: np.ndarray
    multiplicity: np.ndarray  # int32; how many absent values share a child without rows, else 1
    # bool; there may be a better split than this one, or, at a leaf, one that was not found: not every set of
    # categories of some attribute was looked at
    heuristic: np.ndarray
    gain: np.ndarray  # float64; impurity saved per unit of weight, 0 at leaves
    depth: np.ndarray  # int32
    parent: np.ndarray  # int32; -1 at the root
    # Tests that stand in where a row lacks the value of a node's own, best first (CSR by node); nothing
    # given: there are none. A category that a table lacks is passed on to the next test. Agreement is the share of the
    # rows that go the same way as by the node's own test, adjusted is that of the rows that the heavier branch gets
    # wrong.
    surrogate_start: np.ndarray = field(default_factory=_nothing)  # int64, one more than nodes
    surrogate_attribute: np.ndarray = field(default_factory=_nothing)  # int32
    surrogate_threshold: np.ndarray = field(default_factory=_nothing)  # float64; NaN: a table
    surrogate_low: np.ndarray = field(default_factory=_nothing)  # int32; the branch of <= threshold
    # int64, one more than tests
    surrogate_table_start: np.ndarray = field(default_factory=_nothing)
    surrogate_table_codes: np.ndarray = field(default_factory=_nothing)  # uint32
    surrogate_table_branch: np.ndarray = field(default_factory=_nothing)  # uint32
    surrogate_agreement: np.ndarray = field(default_factory=_nothing)  # float64
    surrogate_adjusted: np.ndarray = field(default_factory=_nothing)  # float64

    def __post_init__(self) -> None:
        if self.surrogate_start is NOTHING:
            start = np.zeros(self.node_count + 1, dtype=np.int64)
            for name, array in ("surrogate_start", start), *_NO_SURROGATES.items():
                object.__setattr__(self, name, array)
        for name in self._array_names():
            self.__dict__[name].flags.writeable = False

    # -- size ------------------------------------------------------------------------------------------------------

    @property
    def node_count(self) -> int:
        return len(self.attribute)

    @property
    def n_leaves(self) -> int:
        """Leaves as people count them: an absent value is a leaf of its own."""
        return int(self.multiplicity[self.attribute == LEAF].sum())

    @property
    def size(self) -> int:
        """Nodes as people count them, inner nodes and leaves."""
        return int(self.multiplicity.sum())

    @property
    def max_depth(self) -> int:
        return int(self.depth[-1])

    @property
    def n_absent_values(self) -> np.ndarray:
        """How many absent values share a child without rows, else 1: `multiplicity`."""
        return self.multiplicity

    @property
    def is_heuristic_subset(self) -> np.ndarray:
        """May there be a better split, since not every set of categories was tried? `heuristic`."""
        return self.heuristic

    def is_leaf(self) -> np.ndarray:
        return np.asarray(self.attribute == LEAF)

    def is_table(self) -> np.ndarray:
        return np.diff(self.table_start) > 0

    @property
    def branch(self) -> np.ndarray:
        """Which branch of its parent each node is; -1 at the root."""
        branch = np.arange(self.node_count) - self.first_child[self.parent]
        branch[0] = -1
        return branch

    @property
    def table_node(self) -> np.ndarray:
        """The node of each entry of the tables."""
        return np.repeat(np.arange(self.node_count), np.diff(self.table_start))

    def missing_chosen(self) -> np.ndarray:
        """As a mask over nodes: did missing values of training rows choose their branch, since it was best for them?
        With surrogates they go where these send them."""
        if len(self.surrogate_attribute):
            return np.zeros(self.node_count, dtype=bool)
        return self.missing_seen

    def nodes_by_depth(self) -> list[slice]:
        """The nodes of each depth: they are numbered level by level."""
        starts = np.flatnonzero(np.diff(self.depth, prepend=-1)).tolist()
        return [slice(start, stop) for start, stop in pairwise([*starts, self.node_count])]

    def subtree_sums(self, values: np.ndarray) -> np.ndarray:
        """For each node the sum over its subtree, the node itself included; `values` is [node] or [node, ...]."""
        sums = values.copy()
        for children in reversed(self.nodes_by_depth()[1:]):
            parent = self.parent[children]
            eldest = np.flatnonzero(np.diff(parent, prepend=-1))  # siblings are adjacent
            sums[parent[eldest]] += segment_sums(sums[children], eldest)
        return sums

    sum_up = subtree_sums  # its first name

    def path_sums(self, values: np.ndarray) -> np.ndarray:
        """For each node the sum over the nodes on the path to it, the node itself included."""
        sums = values.copy()
        for level in self.nodes_by_depth()[1:]:
            sums[level] += sums[self.parent[level]]
        return sums

    def kept_nodes(self, is_split: np.ndarray) -> np.ndarray:
        """A mask of the nodes that `subtree` keeps: those with none but marked nodes above."""
        is_cut = self.path_sums(~is_split)  # at the node or above it
        return np.asarray((self.parent < 0) | ~is_cut[self.parent])

    def subtree(self, is_split: np.ndarray) -> Self:
        """The tree with only those splits whose node is marked; the other nodes become leaves."""
        split = np.asarray(is_split, dtype=bool) & ~self.is_leaf()
        alive = self.kept_nodes(split)
        number = np.cumsum(alive) - 1  # breadth-first order stays what it is
        keeps = split[alive]
        n_table = np.where(keeps, np.diff(self.table_start)[alive], 0)
        in_table = np.repeat(alive & split, np.diff(self.table_start))
        parent = self.parent[alive]
        values: dict[str, Any] = {name: getattr(self, name)[alive] for name in self.VALUES}
        return type(self)(
            schema=self.schema,
            attribute=np.where(keeps, self.attribute[alive], LEAF).astype(np.int32),
            threshold=np.where(keeps, self.threshold[alive], np.nan),
            first_child=np.where(keeps, number[self.first_child[alive]], -1).astype(np.int32),
            n_children=np.where(keeps, self.n_children[alive], 0).astype(np.int32),
            table_start=offsets(n_table),
            table_codes=self.table_codes[in_table],
            table_branch=self.table_branch[in_table],
            default_branch=np.where(keeps, self.default_branch[alive], -1).astype(np.int32),
            missing_branch=np.where(keeps, self.missing_branch[alive], -1).astype(np.int32),
            missing_seen=self.missing_seen[alive] & keeps,
            multiplicity=self.multiplicity[alive],
            heuristic=(self.heuristic & (split | self.is_leaf()))[alive],
            gain=np.where(keeps, self.gain[alive], 0.0),
            depth=self.depth[alive],
            parent=np.where(parent < 0, -1, number[parent]).astype(np.int32),
            **values,
            **self.surrogates_of(np.where(keeps, np.flatnonzero(alive), -1)),
        )

    def surrogates_of(self, nodes: np.ndarray) -> dict[str, np.ndarray]:
        """The arrays of the surrogates of these nodes, in their order; -1: a leaf, without any."""
        n_surrogates = np.where(nodes < 0, 0, np.diff(self.surrogate_start)[nodes])
        kept = flat_indices(self.surrogate_start[nodes], n_surrogates)
        start, codes = take_lists(self.surrogate_table_start, self.surrogate_table_codes, kept)
        _, branch = take_lists(self.surrogate_table_start, self.surrogate_table_branch, kept)
        return {
            "surrogate_start": offsets(n_surrogates),
            "surrogate_attribute": self.surrogate_attribute[kept],
            "surrogate_threshold": self.surrogate_threshold[kept],
            "surrogate_low": self.surrogate_low[kept],
            "surrogate_table_start": start,
            "surrogate_table_codes": codes,
            "surrogate_table_branch": branch,
            "surrogate_agreement": self.surrogate_agreement[kept],
            "surrogate_adjusted": self.surrogate_adjusted[kept],
        }

    # -- routing ---------------------------------------------------------------------------------------------------

    @cached_property
    def router(self) -> _core.Router:
        return _core.Router(
            self.attribute,
            self.threshold,
            self.first_child,
            self.table_start,
            self.table_codes,
            self.table_branch,
            np.ascontiguousarray(self.default_branch),
            self.missing_branch,
            self.n_children,
            np.ascontiguousarray(self.surrogate_start),
            self.surrogate_attribute,
            self.surrogate_threshold,
            self.surrogate_low,
            self.surrogate_table_start,
            self.surrogate_table_codes,
            self.surrogate_table_branch,
        )

    @cached_property
    def shares_rows(self) -> bool:
        """Does a row without a value go down every branch, with a share each?"""
        return bool(np.any((self.missing_branch < 0) & ~self.is_leaf()))

    @property
    def weight(self) -> np.ndarray:
        """The weight of each node: by it a row without a value is distributed fractionally over branches."""
        raise NotImplementedError

    def importances(self) -> np.ndarray:
        """The share of the saved impurity that each attribute brought; zeros for a single leaf."""
        split = ~self.is_leaf()
        saved = np.bincount(
            self.attribute[split],
            weights=(self.gain * self.weight)[split],
            minlength=len(self.schema.attributes),
        )
        whole = total(saved)
        return saved / whole if whole > 0 else saved

    def path_costs(self, cost: np.ndarray) -> np.ndarray:
        """What the tests on the way to each node cost, every attribute once; `cost` has a price for each attribute."""
        costs = np.zeros(self.node_count)
        is_tested = np.zeros((1, len(cost)), dtype=bool)
        for above, level in pairwise(self.nodes_by_depth()):
            parent = self.parent[level]
            tested = self.attribute[parent]
            is_tested = is_tested[parent - above.start]
            rows = np.arange(len(parent))
            costs[level] = costs[parent] + np.where(is_tested[rows, tested], 0.0, cost[tested])
            is_tested[rows, tested] = True
        return costs

    def to_text(self) -> str:
        """The tree as indented text, see `fasttree.draw.text`."""
        return str(of_higher_layer("fasttree.draw.text", "to_text")(self))

    def __str__(self) -> str:
        return self.to_text()

    # -- identity --------------------------------------------------------------------------------------------------

    def _array_names(self) -> tuple[str, ...]:
        kind: Any = type(self)
        return _array_names(kind)

    def _arrays(self) -> dict[str, np.ndarray]:
        return {name: getattr(self, name) for name in self._array_names()}

    def __eq__(self, other: object) -> bool:
        """Equal schema and bytes."""
        if not isinstance(other, TreeStructure):
            return NotImplemented
        return (
            type(self) is type(other)
            and self.schema == other.schema
            and self.fingerprint() == other.fingerprint()
        )

    __hash__ = None  # type: ignore[assignment]

    def fingerprint(self) -> str:
        """A hash of the arrays: equal for equal trees on any machine, whatever the threads or the order of the
        rows."""
        digest = hashlib.sha256()
        for name, array in self._arrays().items():
            little_endian = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
            digest.update(f"{name}:{little_endian.dtype.str}:{array.shape};".encode())
            digest.update(little_endian.data)
        return digest.hexdigest()

    def __getstate__(self) -> dict[str, Any]:
        state = {f.name: getattr(self, f.name) for f in fields(self)}
        return state | {"fasttree_version": __version__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Nothing enters that is not a tree: the router would follow it anywhere."""
        state = dict(state)
        with reading_pickle(type(self).__name__, state.pop("fasttree_version", None), __version__):
            schema = state.pop("schema")
            check_schema(schema)
            check_tree(schema, state)
        object.__setattr__(self, "schema", schema)
        for name, value in state.items():
            object.__setattr__(self, name, value)
        self.__post_init__()

    # -- scikit-learn's names ----------------------------------------------------------------------------------------

    def _binary(self, name: str) -> None:
        if np.any(self.is_table()):
            raise AttributeError(
                f"{name} is defined only for trees of binary threshold splits, but this tree has tests of categories: "
                "use attribute, threshold, first_child and the table arrays instead"
            )

    @property
    def children_left(self) -> np.ndarray:
        self._binary("children_left")
        return np.where(self.is_leaf(), -1, self.first_child).astype(np.int64)

    @property
    def children_right(self) -> np.ndarray:
        self._binary("children_right")
        return np.where(self.is_leaf(), -1, self.first_child + 1).astype(np.int64)

    @property
    def feature(self) -> np.ndarray:
        self._binary("feature")
        return np.where(self.is_leaf(), -2, self.attribute).astype(np.int64)


def of_higher_layer(module: str, function: str) -> Callable[..., Any]:
    """What a tree offers by a function that works on trees: found by name, when it is asked for."""
    found: Callable[..., Any] = getattr(importlib.import_module(module), function)
    return found


@cache
def _array_names(kind: Any) -> tuple[str, ...]:
    """The arrays of a kind of tree, in the order of fingerprints: what is predicted stands in front of the gain."""
    structure = [f.name for f in fields(TreeStructure) if f.name != "schema"]
    place = structure.index("gain")
    return (*structure[:place], *kind.VALUES, *structure[place:])


# A tree of one kind, and what is made of it.
AnyTree = TypeVar("AnyTree", bound=TreeStructure)
