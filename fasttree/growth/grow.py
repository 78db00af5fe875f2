# SPDX-License-Identifier: BSD-3-Clause
"""The level loop: evaluate, accept, describe, append, partition.

Python's work is O(depth): every step below handles all the nodes of a level at once.
"""

from __future__ import annotations

import numpy as np

from fasttree import _core
from fasttree.base import progress
from fasttree.base.memory import release_freed
from fasttree.base.threads import ThreadTeam
from fasttree.encoding.encode import is_worth_threads
from fasttree.encoding.encoded_table import EncodedTable
from fasttree.encoding.weights import IntegerWeights
from fasttree.growth.assemble import TreeAssembler
from fasttree.growth.builder import Builder
from fasttree.growth.candidates import Chooser, passes_gain_limits
from fasttree.growth.choosers.c45 import C45Chooser
from fasttree.growth.choosers.chance import ChanceAdjustedChooser
from fasttree.growth.choosers.costs import AttributeCosts, CostChooser
from fasttree.growth.choosers.lookahead import Lookahead
from fasttree.growth.context import GrowthContext
from fasttree.growth.params import GrowthParams
from fasttree.growth.search import BestSplits, NodeBatch, SplitSearch
from fasttree.growth.split import Splitter
from fasttree.mml.message import TestOptions
from fasttree.trees.tree import Tree


def grow(
    table: EncodedTable,
    params: GrowthParams,
    team: ThreadTeam,
    weights: IntegerWeights | None = None,
    use_up: bool = False,
    costs: AttributeCosts | None = None,
    candidate_scores: list[tuple[np.ndarray, np.ndarray, np.ndarray]] | None = None,
) -> tuple[Tree, TestOptions | None]:
    """Grow the tree of an encoded table; with it comes what there was to choose between at its nodes, if grown by
    length. `use_up`: the table's sorted lists may be destroyed, which saves a copy. `candidate_scores`: a list that
    gets nodes of the tree as it was grown, and what each attribute's best split gains and is worth there, [node,
    attribute]. Significance and `max_leaves` are limits of the whole tree, which `fasttree.pruning.after_growth` keeps
    to."""
    sorted_entries = _own_sorted_entries(table, weights, use_up, team)
    context = GrowthContext(table, sorted_entries, params, weights, team, costs)
    builder = Builder(table, params, context, weights)
    splitter = Splitter(context)
    choosers = _choosers(context)
    search = SplitSearch(context, choosers, keeps_all=candidate_scores is not None)
    if params.lookahead:
        trial_context = GrowthContext(table, sorted_entries[:, :0], params, weights, team)
        trial = SplitSearch(trial_context, _choosers(trial_context))
        choosers.append(Lookahead(search, trial, builder.lay_out_children))
    pending = [builder.root()]
    report = progress.current()
    while pending:  # one level after the other, unless their rows multiply
        level = pending.pop()
        if report is not None and len(level.frontier):
            rows = int(level.n_rows[level.frontier].sum())
            report.step(
                f"depth {level.depth}, open nodes: {len(level.frontier):,}, rows in them: {rows:,}, "
                f"nodes so far: {builder.log.n_nodes:,}"
            )
        search.resume(level)
        best_splits = search.search_level(level)
        builder.log_eligible(level, best_splits)
        builder.log_heuristic(level, best_splits)
        builder.log_candidates(level, best_splits)
        accepted = _accept(best_splits, params)
        if accepted.any():
            nodes, attribute = level.frontier[accepted], best_splits.attribute[accepted]
            children = splitter.split(level, nodes, attribute, best_splits.split[accepted])
            parts = search.parts(builder.append(level, nodes, attribute, children))
            builder.log.in_parts |= len(parts) > 1
            pending += reversed(parts)
    del sorted_entries
    context.release()
    if use_up:
        table.release_sorted_entries()
    release_freed(4 * table.n_rows * table.n_attributes)
    tree, choices = TreeAssembler(builder.log, table, context, weights).assemble()
    if candidate_scores is not None:
        candidate_scores += builder.log.candidate_scores
    return tree, choices


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
    context = GrowthContext(table, sorted_entries, params, weights, team)
    level = Builder(table, params, context, weights).root()
    if not len(level.frontier):
        return np.full(table.n_attributes, -np.inf)
    candidates = SplitSearch(context, []).candidates(level, NodeBatch(0, 1, 0, 1))
    for chooser in _choosers(context):
        chooser.adjust(level, level.frontier, candidates)
    score = candidates.score
    if costs is not None:
        score = costs.adjusted_score(score, np.zeros(score.shape, dtype=bool))
    return np.asarray(score[:, 0])


def _choosers(context: GrowthContext) -> list[Chooser]:
    """Those who judge the candidates of a fit, in order."""
    choosers: list[Chooser] = []
    if context.length_chooser is not None:
        choosers.append(context.length_chooser)
    if context.params.c45:
        choosers.append(C45Chooser(context))
    if context.params.by_chance:
        choosers.append(ChanceAdjustedChooser(context))
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
