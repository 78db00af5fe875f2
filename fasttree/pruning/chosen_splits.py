# SPDX-License-Identifier: BSD-3-Clause
"""Is a split better than the best that chance would have found? Tests that know what there was to choose between.

The chosen split of a node is the best of many cuts or sets of one attribute, which was the best of several. Its p-value
is P(the best of this attribute's splits is as good, if the attribute has nothing to do with the class), times the
number of attributes that could be split there (Bonferroni's bound).

- Cuts of numbers and of ordered categories: see `fasttree.stats.selected`. With more than two classes each is told from
  the others, and the smallest p-value is taken times their number: no approximation for several classes is needed.
- Categories: the test of the table of all of them by class. No set or group of them has a larger chi-square. Where the
  test is not exact, those of very few rows count together (`fasttree.stats.significance.sparse_p_values`).
- With missing="branch" and "category" the rows without a value are one more category, or stand before all numbers or
  behind them: both orders count. Otherwise the rows with a value are tested.
- Whole weights are copies of rows. Fractional ones, and shares of rows, make the statistic; for its distribution they
  are rounded to whole rows before each cut, which is an approximation.

`min_samples_leaf` rules out cuts near the ends. Other limits on sizes are not looked at: the test then allows for more
cuts than there were.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fasttree.base.ragged import flat_indices
from fasttree.base.sums import sums, total
from fasttree.base.threads import ThreadTeam
from fasttree.encoding.encoded_table import EncodedTable
from fasttree.stats.selected import Cuts, cut_statistic, cuts_p_values
from fasttree.stats.significance import sparse_p_values
from fasttree.tables.factors import MISSING_CODE
from fasttree.tables.training import Table
from fasttree.trees.paths import leaf_shares_of
from fasttree.trees.predict import ReadPolicy
from fasttree.trees.traversal import sums_before
from fasttree.trees.tree import Tree

if TYPE_CHECKING:
    from fasttree.growth.params import GrowthParams

MISSING_IS_A_PLACE = ("branch", "category")


class ChosenSplits:
    """The splits of a tree with the rows that it was grown from."""

    def __init__(
        self,
        tree: Tree,
        encoded: EncodedTable,
        table: Table,
        weight: np.ndarray,
        params: GrowthParams,
        team: ThreadTeam,
    ) -> None:
        """`table`: the rows as routing reads them; `weight`: of each row, 0 if the tree was grown without it."""
        self.tree, self.encoded, self.table = tree, encoded, table
        self.least = params.min_samples_leaf if params.min_samples_leaf > 1 else 0.0
        self.missing_is_a_place = params.missing in MISSING_IS_A_PLACE
        leaf_shares = leaf_shares_of(tree, table, ReadPolicy(), team)
        share = leaf_shares.weights(weight)
        # The leaves from left to right: below each node they stand side by side, and so do their rows.
        is_leaf = tree.is_leaf().astype(np.int64)
        n_leaves, self.first_leaf = tree.subtree_sums(is_leaf), sums_before(tree, is_leaf)
        leaf = self.first_leaf[leaf_shares.node]
        order = np.argsort(leaf, kind="stable")
        order = order[share[order] > 0]
        self.leaf, self.row, self.share = leaf[order], leaf_shares.row[order], share[order]
        self.start = np.searchsorted(self.leaf, self.first_leaf)
        self.n_rows = np.searchsorted(self.leaf, self.first_leaf + n_leaves) - self.start

    def p_values(self, nodes: np.ndarray) -> np.ndarray:
        """The p-values of the splits of nodes."""
        p = np.ones(len(nodes))
        depths = self.tree.depth[nodes]
        for depth in np.unique(depths).tolist():
            at_depth = np.flatnonzero((depths == depth) & (self.n_rows[nodes] > 0))
            if len(at_depth):
                p[at_depth] = self._of_level(nodes[at_depth])
        return p

    def _of_level(self, nodes: np.ndarray) -> np.ndarray:
        """The p-values of nodes that have no rows in common."""
        n_rows = self.n_rows[nodes]
        entry = flat_indices(self.start[nodes], n_rows)
        of = np.repeat(np.arange(len(nodes)), n_rows)
        eligible = self._n_varying(entry, np.cumsum(n_rows) - n_rows)
        p = np.ones(len(nodes))
        tested = self.tree.attribute[nodes]
        for attribute in np.unique(tested).tolist():
            is_tested = tested == attribute
            index, is_entry = np.flatnonzero(is_tested), np.repeat(is_tested, n_rows)
            of_node = np.searchsorted(index, of[is_entry])
            p[index] = self._of_attribute(attribute, nodes[index], entry[is_entry], of_node)
        return np.asarray(np.minimum(p * np.maximum(eligible, 1), 1.0))

    def _n_varying(self, entry: np.ndarray, start: np.ndarray) -> np.ndarray:
        """How many attributes have two values among the rows of each node."""
        n = np.zeros(len(start), dtype=np.int64)
        for attribute in range(self.encoded.n_attributes):
            value = self._values(attribute, self.row[entry])
            least, most = np.fmin.reduceat(value, start), np.fmax.reduceat(value, start)
            varies = least < most
            if self.missing_is_a_place:
                varies |= np.logical_or.reduceat(np.isnan(value), start) & ~np.isnan(least)
            n += varies
        return n

    def _values(self, attribute: int, rows: np.ndarray) -> np.ndarray:
        """Numbers, codes or bins, in the order of the values; NaN for missing."""
        if self.encoded.list_row[attribute] < 0:
            codes = self.encoded.codes_of(attribute)[rows]
        elif self.table.matrix is not None:
            return self.table.matrix[rows, attribute].astype(np.float64)
        else:
            assert self.table.columns is not None
            column = self.table.columns[attribute]
            if column.codes is None:
                assert column.values is not None
                return column.values[rows].astype(np.float64)
            codes = column.codes[rows]
        values = codes.astype(np.float64)
        values[codes == MISSING_CODE] = np.nan
        return values

    def _of_attribute(
        self, attribute: int, nodes: np.ndarray, entry: np.ndarray, of: np.ndarray
    ) -> np.ndarray:
        """The p-values of nodes that test one attribute; `of`: the index in `nodes` of each entry."""
        value, share = self._values(attribute, self.row[entry]), self.share[entry]
        code = self.encoded.y[self.row[entry]].astype(np.int64)
        second = self.first_leaf[self.tree.first_child[nodes] + 1]
        is_first = self.leaf[entry] < second[of]  # in the first branch
        is_lost = np.isnan(value)
        if not self.missing_is_a_place:
            kept = ~is_lost
            value, share, code, of = value[kept], share[kept], code[kept], of[kept]
            is_first, is_lost = is_first[kept], is_lost[kept]
        order = np.lexsort((value, of))
        value, share, code, of = value[order], share[order], code[order], of[order]
        is_first, is_lost = is_first[order], is_lost[order]
        begins = np.append(True, (np.diff(of) > 0) | (value[1:] > value[:-1]) | np.diff(is_lost))
        line = np.cumsum(begins[: len(of)]) - 1
        k = self.encoded.n_classes
        n_lines = int(line[-1]) + 1 if len(line) else 0
        cells = np.bincount(line * k + code, share, n_lines * k).reshape(n_lines, k)
        first = np.bincount(of * k + code, share * is_first, len(nodes) * k).reshape(-1, k)
        begin = np.searchsorted(of[begins[: len(of)]], np.arange(len(nodes) + 1))
        lost = is_lost[begins[: len(of)]]
        spec = self.tree.schema.attributes[attribute]
        tables = [cells[begin[i] : begin[i + 1]] for i in range(len(nodes))]
        if spec.is_categorical and not spec.ordered:
            return _of_tables(tables)
        has_lost = [bool(lost[begin[i] : begin[i + 1]].any()) for i in range(len(nodes))]
        # Branches have the rows without a value as well, which these cuts do not count.
        bare = ~self.missing_is_a_place & (
            self.n_rows[nodes] > np.bincount(of, minlength=len(nodes))
        )
        least = np.where(bare, 0.0, self.least)
        return _of_cuts(tables, first, has_lost, least)


def _of_tables(tables: list[np.ndarray]) -> np.ndarray:
    """The tests of values by classes, those of the same height together."""
    p = np.ones(len(tables))
    heights = np.array([len(table) for table in tables])
    for height in np.unique(heights[heights > 1]).tolist():
        of_height = np.flatnonzero(heights == height)
        p[of_height] = sparse_p_values(np.stack([tables[i] for i in of_height]))
    return p


def _of_cuts(
    tables: list[np.ndarray], first: np.ndarray, has_lost: list[bool], least: np.ndarray
) -> np.ndarray:
    """The p-values of tables of values, in order, by classes (of rows without a value the last line); `first`: of the
    cut that was made the rows of the first branch by class; `least`: rows that both sides must have."""
    problems: list[Cuts] = []
    node: list[int] = []
    label: list[int] = []
    for i, table in enumerate(tables):
        by_class = sums(table, 0)
        n, n_first = total(by_class), total(first[i])
        made = round(n_first)
        whole = round(n)
        lines = sums(table)
        n_lost = float(lines[-1]) if has_lost[i] else 0.0
        known = np.cumsum(lines[: len(lines) - has_lost[i]])
        orders = [known[:-1]]
        if has_lost[i]:  # also before all numbers, where the first cut sets them apart
            orders.append(np.append(n_lost, n_lost + known[:-1]))
        present = np.flatnonzero(by_class)
        for c in present.tolist() if len(present) > 2 else present[:1].tolist():
            statistic = cut_statistic(n, float(by_class[c]), n_first, float(first[i, c]))
            for order in orders:
                at = np.rint(order).astype(np.int64)
                at = np.unique(at[(order >= least[i]) & (order <= n - least[i]) | (at == made)])
                at = at[(at > 0) & (at < whole)]
                problems.append(Cuts(whole, round(float(by_class[c])), at, statistic))
                node.append(i)
                label.append(c)
    p = np.ones(len(tables))
    of_class: dict[tuple[int, int], float] = {}
    for i, c, p_of_cuts in zip(node, label, cuts_p_values(problems).tolist(), strict=True):
        of_class[i, c] = of_class.get((i, c), 0.0) + p_of_cuts
    n_tests = np.bincount([i for i, _ in of_class], minlength=len(tables))
    for (i, _), p_of_class in of_class.items():
        p[i] = min(p[i], p_of_class * n_tests[i])
    return p
