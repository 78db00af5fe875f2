# SPDX-License-Identifier: BSD-3-Clause
"""The level loop: evaluate, accept, describe, append, partition.

Python's work is O(depth): every step below handles all the nodes of a level at once.
"""

from __future__ import annotations

import numpy as np

from fasttree import _core
from fasttree.base import progress
from fasttree.base.memory import give_back
from fasttree.base.threads import Team
from fasttree.encoding.encode import EncodedTable, is_worth_threads
from fasttree.encoding.weights import GridWeights
from fasttree.growth.assemble import Finisher
from fasttree.growth.builder import Builder
from fasttree.growth.choosers.chance import ChanceRule
from fasttree.growth.choosers.costs import AttributeCosts
from fasttree.growth.choosers.lookahead import Lookahead
from fasttree.growth.context import Ground
from fasttree.growth.params import GrowthParams
from fasttree.growth.search import Batch, Evaluator, Winners, is_enough
from fasttree.growth.split import Splitter
from fasttree.mml.message import Choices
from fasttree.trees.tree import Tree


def grow(
    table: EncodedTable,
    params: GrowthParams,
    team: Team,
    weights: GridWeights | None = None,
    use_up: bool = False,
    costs: AttributeCosts | None = None,
    worth: list[tuple[np.ndarray, np.ndarray, np.ndarray]] | None = None,
) -> tuple[Tree, Choices | None]:
    """Grow the tree of an encoded table; with it comes what there was to choose between at its nodes, if grown by
    length. `use_up`: the table's sorted lists may be destroyed, which saves a copy. `worth`: a list that gets
    nodes of the tree as it was grown, and what each attribute's best split gains and is worth there, [node, attribute].
    Significance and `max_leaves` are limits of the whole tree, which `fasttree.pruning.after_growth` keeps to."""
    lists = _own_lists(table, weights, use_up, team)
    ground = Ground(table, lists, params, weights, team, costs)
    evaluator = Evaluator(ground)
    builder = Builder(table, params, ground, weights)
    splitter = Splitter(ground)
    if params.lookahead:
        trial = Evaluator(Ground(table, lists[:, :0], params, weights, team))
        evaluator.judge = Lookahead(evaluator, trial, builder.lay_out_children).worth
    if params.by_chance:
        evaluator.judge = ChanceRule(ground, params.criterion).worth
    evaluator.keeps_all = worth is not None
    pending = [builder.root()]
    report = progress.current()
    while pending:  # one level after the other, unless their rows multiply
        level = pending.pop()
        if report is not None and len(level.frontier):
            rows = int(level.n_rows[level.frontier].sum())
            report.step(
                f"level {level.depth}, open nodes {len(level.frontier):,}, their rows {rows:,}, "
                f"nodes so far {builder.written.n_nodes:,}"
            )
        evaluator.resume(level)
        winners = evaluator.evaluate(level)
        builder.note_eligible(level, winners)
        builder.note_heuristic(level, winners)
        builder.note_worth(level, winners)
        accepted = _accept(winners, params)
        if accepted.any():
            nodes, attribute = level.frontier[accepted], winners.attribute[accepted]
            children = splitter.split(level, nodes, attribute, winners.cut[accepted])
            parts = evaluator.parts(builder.append(level, nodes, attribute, children))
            builder.written.in_parts |= len(parts) > 1
            pending += reversed(parts)
    del lists
    ground.drop()
    if use_up:
        table.drop_lists()
    give_back(4 * table.n_rows * table.n_attributes)
    tree, choices = Finisher(builder.written, table, ground, weights).finish()
    if worth is not None:
        worth += builder.written.worth
    return tree, choices


def score_root(
    table: EncodedTable,
    params: GrowthParams,
    team: Team,
    weights: GridWeights | None = None,
    use_up: bool = False,
    costs: AttributeCosts | None = None,
) -> np.ndarray:
    """The score (with costs, the worth) of each attribute's best split of all the rows, -inf where it has none."""
    lists = _own_lists(table, weights, use_up, team)
    ground = Ground(table, lists, params, weights, team)
    level = Builder(table, params, ground, weights).root()
    if not len(level.frontier):
        return np.full(table.n_attributes, -np.inf)
    scores, _, _ = Evaluator(ground).scores(level, Batch(0, 1, 0, 1))
    if costs is not None:
        scores = costs.worth(scores, np.zeros(scores.shape, dtype=bool))
    return np.asarray(scores[:, 0])


def _own_lists(
    table: EncodedTable, weights: GridWeights | None, use_up: bool, team: Team
) -> np.ndarray:
    """Sorted lists that growth may rearrange, without the rows of weight 0."""
    if weights is None or bool((weights.steps > 0).all()):
        if use_up:
            return table.lists
        lists = np.empty_like(table.lists)
        for row in table.storage[table.storage >= 0]:
            lists[row] = table.lists[row]
        return lists
    present = weights.steps > 0
    lists = np.empty((table.n_attributes, int(present.sum())), dtype=np.uint64)
    swept = table.storage[table.storage >= 0]

    def keep(worker: int, i: int) -> None:
        _core.keep_entries(table.lists[swept[i]], present.view(np.uint8), lists[swept[i]])

    team.run(keep, len(swept), is_worth_threads(table.n_rows, len(swept)))
    return lists


def _accept(winners: Winners, params: GrowthParams) -> np.ndarray:
    """Which of the frontier's best splits are made."""
    if params.by_length:  # whether a split pays is for pruning to say
        return np.asarray(winners.attribute >= 0)
    return np.asarray((winners.attribute >= 0) & is_enough(winners.score, params))
