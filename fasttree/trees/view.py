# SPDX-License-Identifier: BSD-3-Clause
"""What an exporter is given: a tree, and how its rows are read. Everything that decides the outcome of a row is here.

The way of a row (THE routing rule of routing.pxd, in the words of this file): at a node that is no leaf,

1. the value is missing, or is a category that the schema does not know while `unknown` is "missing": the first
   surrogate that has an answer says which branch; without one it is ``missing_branch``, or, if that is ALL_BRANCHES,
   the row goes down every branch b with the share ``parts[b]`` of its own;
2. the category is unknown and `unknown` is "majority": the way ends at this node;
3. a number takes branch 0 if it is <= threshold, else branch 1;
4. a category takes the branch that ``branch_of`` has for its code, else ``default_branch``.

A surrogate that is asked about a number that the row lacks, or a category that is not in its table, has no answer.

Where the way ends, the class is ``decision[node]`` and the probabilities are ``tree.proba[node]``; a tree of numbers
predicts ``tree.prediction[node]``, and sends every row one way. If it went down
several branches, the probabilities are the sums of share times probability over its ends (depth first, the branches in
their order), the class is that of `classes_of_shares` for these sums, and the leaf is the end with the largest share,
the smallest number of equals.

A category of few rows has the code of the last of the `levels`, which is their name (`codes`); so has one that the
schema does not know, if `unknown` is "missing" (`unseen`): it is not missing then.

Rows with a missing value in any column are refused if not `allow_missing`, and those with an unknown category in any
column if `unknown` is "error".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from fasttree.base.cached import cached_property
from fasttree.base.times import UNITS
from fasttree.base.values import to_python
from fasttree.tables.schema import AttributeSchema
from fasttree.trees.structure import LEAF, TreeStructure
from fasttree.trees.traversal import paths_upwards

ALL_BRANCHES = -1  # as missing_branch


@dataclass(frozen=True, slots=True)
class Surrogate:
    """A surrogate: a test that decides where the value of a node's own is missing."""

    attribute: int
    threshold: float  # NaN where categories decide
    low: int  # the branch of values up to the threshold; the other one is 1 - low
    branch_of: dict[int, int]  # of codes; none: a threshold decides


@dataclass(frozen=True, slots=True)
class Test:
    """The test of a node that is no leaf. Branch b leads to the node ``first_child + b``."""

    __test__ = False  # for pytest

    attribute: int
    threshold: float  # NaN where categories decide
    branch_of: dict[int, int]  # of the codes at the node, ascending; none: a threshold decides
    default_branch: int  # of the other codes; -1 with a threshold
    missing_branch: int
    missing_seen: bool | None  # were there any in training? None: it is not known
    first_child: int
    n_branches: int
    surrogates: tuple[Surrogate, ...]

    @property
    def is_table(self) -> bool:
        return bool(self.branch_of)

    @property
    def children(self) -> range:
        return range(self.first_child, self.first_child + self.n_branches)

    def levels(self, n_levels: int) -> list[list[int]]:
        """The codes (1, 2, ...) of all categories, those absent from the node too, by branch."""
        codes: list[list[int]] = [[] for _ in range(self.n_branches)]
        for code in range(1, n_levels + 1):
            codes[self.branch_of.get(code, self.default_branch)].append(code)
        return codes


@dataclass(frozen=True, eq=False)
class Exportable:
    """A fitted tree, as an exporter needs to know it."""

    tree: Any  # Tree or RegressionTree
    unknown: str = "missing"  # "missing", "majority" or "error"
    allow_missing: bool = True
    tells_missing: bool = True  # is `missing_seen` of the tree to be believed where it is false?
    name: str = "tree"  # of the estimator
    averaged: bool = False  # the probabilities are an average over many trees

    # -- the table -------------------------------------------------------------------------------------------------

    @property
    def attributes(self) -> tuple[AttributeSchema, ...]:
        return self.tree.schema.attributes

    @cached_property
    def names(self) -> tuple[str, ...]:
        return self.tree.schema.names

    @cached_property
    def units(self) -> dict[str, str]:
        """What the numbers of attributes that are times count."""
        return {a.name: UNITS[a.time] for a in self.attributes if a.time is not None}

    def levels(self, attribute: int) -> tuple[Any, ...]:
        """The plain categories of an attribute; that of code c is levels[c - 1]. None: it is numeric. The last may
        be the name of the categories of few rows."""
        return tuple(
            to_python(category) for category in self.attributes[attribute].categories or ()
        )

    def codes(self, attribute: int) -> list[tuple[Any, int]]:
        """Every category that training saw, plain, and its code."""
        schema = self.attributes[attribute]
        return list(zip(map(to_python, schema.seen_levels), schema.seen_codes, strict=True))

    def unseen(self, attribute: int) -> int:
        """The code of a category that training did not see; 0: none, it is missing, stops the row or is refused."""
        schema = self.attributes[attribute]
        is_other = schema.others is not None and self.unknown == "missing"
        return len(schema.categories or ()) if is_other else 0

    @property
    def merges(self) -> bool:
        """Do categories of few rows count as one in some column?"""
        return any(attribute.others is not None for attribute in self.attributes)

    @property
    def predicts_numbers(self) -> bool:
        return self.tree.schema.predicts_numbers

    @cached_property
    def classes(self) -> tuple[Any, ...]:
        return tuple(to_python(label) for label in self.tree.schema.classes.tolist())

    @property
    def n_classes(self) -> int:
        return len(self.classes)

    @cached_property
    def used(self) -> tuple[int, ...]:
        """The attributes that tests or surrogates ask for, ascending."""
        tested = self.tree.attribute[self.tree.attribute != LEAF]
        return tuple(np.union1d(tested, self.tree.surrogate_attribute).tolist())

    # -- the tests -------------------------------------------------------------------------------------------------

    @property
    def node_count(self) -> int:
        return self.tree.node_count

    @property
    def shares_rows(self) -> bool:
        """May a row go down several branches?"""
        return self.tree.shares_rows

    @property
    def has_surrogates(self) -> bool:
        return len(self.tree.surrogate_attribute) > 0

    @property
    def stops_at_unknown(self) -> bool:
        return self.unknown == "majority"

    def is_leaf(self, node: int) -> bool:
        return bool(self.tree.attribute[node] == LEAF)

    def test(self, node: int) -> Test:
        """The test of a node that is no leaf."""
        tree = self.tree
        return Test(
            attribute=int(tree.attribute[node]),
            threshold=float(tree.threshold[node]),
            branch_of=_table(tree.table_start, tree.table_codes, tree.table_branch, node),
            default_branch=int(tree.default_branch[node]),
            missing_branch=int(tree.missing_branch[node]),
            missing_seen=bool(tree.missing_seen[node]) if self.tells_missing else None,
            first_child=int(tree.first_child[node]),
            n_branches=int(tree.n_children[node]),
            surrogates=tuple(self._surrogates(node)),
        )

    def _surrogates(self, node: int) -> Iterator[Surrogate]:
        tree = self.tree
        for i in range(int(tree.surrogate_start[node]), int(tree.surrogate_start[node + 1])):
            yield Surrogate(
                attribute=int(tree.surrogate_attribute[i]),
                threshold=float(tree.surrogate_threshold[i]),
                low=int(tree.surrogate_low[i]),
                branch_of=_table(
                    tree.surrogate_table_start,
                    tree.surrogate_table_codes,
                    tree.surrogate_table_branch,
                    i,
                ),
            )

    def parts(self, node: int) -> list[float]:
        """The share that each branch gets of a row without a value; 0 for a branch that does not get the row."""
        first = int(self.tree.first_child[node])
        weight = self.tree.weight[first : first + int(self.tree.n_children[node])].tolist()
        total = 0.0
        for part in weight:  # in the order of the core: sums of floats have one
            total += part
        return [part / total if part > 0 else 0.0 for part in weight]

    @cached_property
    def may_lack(self) -> np.ndarray:
        """As a mask over nodes: may a row come that lacks what the node asks for? None does if a test above asked for
        the same, and sent such rows another way."""
        tree = self.tree
        may = np.ones(tree.node_count, dtype=bool)
        above, branch = tree.parent, tree.branch
        missing = np.where(np.diff(tree.surrogate_start) > 0, ALL_BRANCHES, tree.missing_branch)[
            above
        ]
        # The attribute whose missing values the test above sends to another branch; LEAF: none.
        without = np.where((missing < 0) | (missing == branch), LEAF, tree.attribute[above])
        without[0] = LEAF
        inner = np.flatnonzero(np.isin(tree.attribute, without[without != LEAF]))
        for path, node in paths_upwards(tree, inner):
            may[inner[path[without[node] == tree.attribute[inner[path]]]]] = False
        return may

    # -- the ends --------------------------------------------------------------------------------------------------

    @cached_property
    def ends(self) -> np.ndarray:
        """As a mask over nodes: may the way of a row end here?"""
        is_end = self.tree.is_leaf()
        return is_end | self.tree.is_table() if self.stops_at_unknown else is_end

    @property
    def decision(self) -> np.ndarray:
        """The class number of a row whose way ends at a node."""
        return self.tree.pred

    @property
    def tie_order(self) -> tuple[int, ...]:
        """Class numbers, the first wins a tie."""
        return tuple(self.tree.schema.tie_order) or tuple(range(self.n_classes))

    @property
    def cost(self) -> np.ndarray | None:
        """What a mistake costs, [true, predicted], where shares are made a class; None: the largest share wins."""
        return self.tree.schema.priors.cost_matrix


def as_exportable(model: Exportable | TreeStructure) -> Exportable:
    """A tree alone does not say whether its model refuses rows, nor all that training was like: only what is so in any
    case is said of it."""
    if isinstance(model, Exportable):
        return model
    return Exportable(model, unknown="error", tells_missing=bool(model.missing_seen.any()))


def tells_missing(tree: TreeStructure, policy: str) -> bool:
    """Is `missing_seen` false only where no training row lacked the value?

    Where rows are shared out nobody notes it. The first model files did not say it of trees with surrogates: there it
    is false everywhere.
    """
    if policy == "surrogate":
        return bool(tree.missing_seen.any())
    return policy != "fractional"


def _table(start: np.ndarray, codes: np.ndarray, branch: np.ndarray, i: int) -> dict[int, int]:
    rows = slice(int(start[i]), int(start[i + 1]))
    return dict(zip(codes[rows].tolist(), branch[rows].tolist(), strict=True))
