# SPDX-License-Identifier: BSD-3-Clause
"""The level loop: evaluate, accept, describe, append, partition.

Python's work is O(depth): every step below handles all the nodes of a level at once.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fasttree import _core
from fasttree.base import progress
from fasttree.base.memory import release_freed
from fasttree.base.threads import ThreadTeam
from fasttree.base.wording import plural
from fasttree.encoding.encode import is_worth_threads
from fasttree.encoding.encoded_table import EncodedTable
from fasttree.encoding.weights import IntegerWeights
from fasttree.growth.assemble import TreeAssembler
from fasttree.growth.block_rows import BlockRows, RowBlock, totals_of_blocks
from fasttree.growth.builder import Builder
from fasttree.growth.candidates import Chooser, passes_gain_limits
from fasttree.growth.choosers.c45 import C45Chooser
from fasttree.growth.choosers.chance import ChanceAdjustedChooser
from fasttree.growth.choosers.costs import AttributeCosts, CostChooser
from fasttree.growth.choosers.lookahead import Lookahead
from fasttree.growth.context import GrowthContext
from fasttree.growth.memory_rows import MemoryRows, totals_of
from fasttree.growth.params import GrowthParams
from fasttree.growth.rows import RowStore
from fasttree.growth.search import BestSplits, SplitSearch
from fasttree.growth.subtrees import SubtreeGrowth
from fasttree.growth.targets import ClassTarget, target_of
from fasttree.mml.message import TestOptions
from fasttree.trees.structure import TreeStructure


def grow(
    table: EncodedTable,
    params: GrowthParams,
    team: ThreadTeam,
    weights: IntegerWeights | None = None,
    use_up: bool = False,
    costs: AttributeCosts | None = None,
    candidate_scores: list[tuple[np.ndarray, np.ndarray, np.ndarray]] | None = None,
) -> tuple[TreeStructure, TestOptions | None]:
    """Grow the tree of an encoded table, that of numbers without its predictions; with it comes what there was to
    choose between at its nodes, if grown by length. `use_up`: the table's sorted lists may be destroyed, which
    saves a copy. `candidate_scores`: a list that gets nodes of the tree as it was grown, and what each attribute's
    best split gains and is worth there, [node, attribute]. Significance and `max_leaves` are limits of the whole
    tree, which `fasttree.pruning.after_growth` keeps to."""
    sorted_entries = _own_sorted_entries(table, weights, use_up, team)
    context = _context_in_memory(table, params, weights, costs)
    rows = MemoryRows(context, table, sorted_entries, weights, team)
    builder = Builder(table, params, context, weights, rows.histogram_pool)
    choosers = choosers_of(context, rows)
    search = SplitSearch(context, rows, choosers, keeps_all=candidate_scores is not None)
    if params.lookahead:
        trial_rows = MemoryRows(context, table, sorted_entries[:, :0], weights, team)
        choosers.append(Lookahead(search, rows, trial_rows, builder.lay_out_children))
    del sorted_entries
    subtrees = None
    if not choosers and candidate_scores is None and SubtreeGrowth.serves(context, table):
        subtrees = SubtreeGrowth(context, rows, table, team)
    grow_levels(rows, search, builder, subtrees)
    if use_up:
        table.release_sorted_entries()
    release_freed(4 * table.n_rows * table.n_attributes)
    tree, choices = TreeAssembler(builder.log, table, context, weights).assemble()
    if candidate_scores is not None:
        candidate_scores += builder.log.candidate_scores
    return tree, choices


def grow_blocks(
    table: EncodedTable,
    params: GrowthParams,
    blocks: Sequence[RowBlock],
    weights: IntegerWeights | None = None,
    costs: AttributeCosts | None = None,
) -> tuple[TreeStructure, TestOptions | None]:
    """Grow a tree as `grow` does, from rows in blocks. Of the `table` only what it says of its columns is read, and of
    `weights` only how they were quantised."""
    totals = totals_of_blocks(blocks, table.n_classes)
    target = ClassTarget(table.n_classes)
    context = GrowthContext(table, params, weights, totals, target, costs)
    rows = BlockRows(context, table, blocks)
    builder = Builder(table, params, context, weights, rows.histogram_pool)
    grow_levels(rows, SplitSearch(context, rows, choosers_of(context, rows)), builder)
    return TreeAssembler(builder.log, table, context, weights).assemble()


def grow_levels(
    rows: RowStore, search: SplitSearch, builder: Builder, subtrees: SubtreeGrowth | None = None
) -> None:
    """Grow a tree from its root; what becomes of the nodes is written into the log of the builder. `subtrees`: grows
    what is below small nodes."""
    pending = [builder.root()]
    report = progress.current()
    while pending:  # one level after the other, unless their rows multiply
        level = pending.pop()
        if report is not None and len(level.frontier):
            n_rows = int(level.n_rows[level.frontier].sum())
            report.step(
                f"depth {level.depth}, open nodes: {len(level.frontier):,}, rows in them: {n_rows:,}, "
                f"nodes so far: {builder.log.n_nodes:,}"
            )
        rows.resume(level)
        small = None if subtrees is None else subtrees.small_nodes(level)
        # The order of equal attributes is that of their gains at the root.
        best_splits = search.search_level(level, small if level.depth > 0 else None)
        builder.log_eligible(level, best_splits)
        builder.log_heuristic(level, best_splits)
        builder.log_candidates(level, best_splits)
        accepted = _accept(best_splits, builder.params)
        if subtrees is not None and small is not None:
            accepted &= ~small
            for grown in subtrees.grow(level, level.frontier[small], search.order):
                builder.append_subtrees(level, grown)
                if report is not None:
                    report.step(
                        f"below {plural(int(small.sum()), 'small node')} of depth {level.depth}, "
                        f"nodes so far: {builder.log.n_nodes:,}"
                    )
        if accepted.any():
            nodes, attribute = level.frontier[accepted], best_splits.attribute[accepted]
            children = rows.apply(level, nodes, attribute, best_splits.split[accepted])
            parts = rows.parts(builder.append(level, nodes, attribute, children))
            builder.log.in_parts |= len(parts) > 1
            pending += reversed(parts)
    rows.release()


def score_root(
    table: EncodedTable,
    params: GrowthParams,
    team: ThreadTeam,
    weights: IntegerWeights | None = None,
    use_up: bool = False,
    costs: AttributeCosts | None = None,
) -> np.ndarray:
    """The score (with costs, the worth) of each attribute's best split of all the rows, -inf where it has none."""
    sorted_entries = _own_sorted_entries(table, weights, use_up, team)
    context = _context_in_memory(table, params, weights)
    rows = MemoryRows(context, table, sorted_entries, weights, team)
    level = Builder(table, params, context, weights, rows.histogram_pool).root()
    if not len(level.frontier):
        return np.full(table.n_attributes, -np.inf)
    _, candidates = next(rows.search(level, None))
    for chooser in choosers_of(context, rows):
        chooser.adjust(level, level.frontier, candidates)
    score = candidates.score
    if costs is not None:
        score = costs.adjusted_score(score, np.zeros(score.shape, dtype=bool))
    return np.asarray(score[:, 0])


def _context_in_memory(
    table: EncodedTable,
    params: GrowthParams,
    weights: IntegerWeights | None,
    costs: AttributeCosts | None = None,
) -> GrowthContext:
    """The context of a tree whose rows lie in memory."""
    target = target_of(table, weights)
    totals = totals_of(table, weights, params, target)
    return GrowthContext(table, params, weights, totals, target, costs)


def choosers_of(context: GrowthContext, rows: RowStore) -> list[Chooser]:
    """Those who judge the candidates of a fit, in order."""
    choosers: list[Chooser] = []
    if context.length_chooser is not None:
        choosers.append(context.length_chooser)
    if context.params.c45:
        choosers.append(C45Chooser(context))
    if context.params.by_chance:
        choosers.append(ChanceAdjustedChooser(context, rows))
    if context.costs is not None:
        choosers.append(CostChooser(context.costs, context.params))
    return choosers


def _own_sorted_entries(
    table: EncodedTable, weights: IntegerWeights | None, use_up: bool, team: ThreadTeam
) -> np.ndarray:
    """Sorted lists that growth may rearrange, without the rows of weight 0."""
    if weights is None or bool((weights.quantised > 0).all()):
        if use_up:
            return table.sorted_entries
        sorted_entries = np.empty_like(table.sorted_entries)
        for row in table.list_row[table.list_row >= 0]:
            sorted_entries[row] = table.sorted_entries[row]
        return sorted_entries
    present = weights.quantised > 0
    sorted_entries = np.empty((table.n_attributes, int(present.sum())), dtype=np.uint64)
    presorted = table.list_row[table.list_row >= 0]

    def keep(worker: int, i: int) -> None:
        _core.keep_entries(
            table.sorted_entries[presorted[i]], present.view(np.uint8), sorted_entries[presorted[i]]
        )

    team.run(keep, len(presorted), is_worth_threads(table.n_rows, len(presorted)))
    return sorted_entries


def _accept(best_splits: BestSplits, params: GrowthParams) -> np.ndarray:
    """Which of the frontier's best splits are made."""
    if params.by_length:  # whether a split pays is for pruning to say
        return np.asarray(best_splits.attribute >= 0)
    return np.asarray((best_splits.attribute >= 0) & passes_gain_limits(best_splits.score, params))
