# SPDX-License-Identifier: BSD-3-Clause
"""Fits whose rows lie in blocks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from fasttree import TreeClassifier
from fasttree.encoding.encoded_table import EncodedTable
from fasttree.encoding.weights import IntegerWeights
from fasttree.estimators import training
from fasttree.growth.block_rows import RowBlock
from fasttree.growth.grow import grow_blocks
from fasttree.growth.params import GrowthParams


def cut(n_rows: int, n_blocks: int, rng: np.random.Generator) -> list[np.ndarray]:
    """The rows in any order, in blocks of any size; some of many blocks are empty."""
    ends = np.sort(rng.integers(0, n_rows + 1, n_blocks - 1))
    if n_blocks > 4:
        ends[1] = ends[0]
    return np.split(rng.permutation(n_rows), ends)


def fit_in_blocks(
    monkeypatch: pytest.MonkeyPatch, model: Any, n_blocks: int, *data: Any, **options: Any
) -> Any:
    """`model.fit`, with rows in blocks."""
    rng = np.random.default_rng(n_blocks)
    n_calls = 0

    def grow(
        table: EncodedTable,
        params: GrowthParams,
        team: Any,
        weights: IntegerWeights | None,
        use_up: bool,
        costs: Any,
        candidate_scores: Any,
    ) -> Any:
        nonlocal n_calls
        n_calls += 1
        blocks = [
            RowBlock(
                np.ascontiguousarray(table.codes[:, rows]),
                table.y[rows],
                None if weights is None else weights.quantised[rows],
            )
            for rows in cut(table.n_rows, n_blocks, rng)
        ]
        assert not all(len(block.y) for block in blocks) or n_blocks <= 4
        # No row is left in the table, which only says what its columns are.
        nothing = np.empty((len(table.list_row), 0), dtype=np.uint8)
        description = replace(table, codes=nothing, y=table.y[:0])
        return grow_blocks(description, params, blocks, weights, costs)

    with monkeypatch.context() as patch:
        patch.setattr(training, "grow", grow)
        model.fit(*data, **options)
    assert n_calls > 0
    return model


class _Enough(Exception):
    """The rest of a fit is not wanted."""


def encoded_table(
    X: Any, weight: np.ndarray | None, **parameters: Any
) -> tuple[EncodedTable, GrowthParams, IntegerWeights | None, Any]:
    """What growth is given: the encoded table, checked parameters, integer weights and a team of threads."""
    given: list[Any] = []

    def grow(table: EncodedTable, params: GrowthParams, team: Any, weights: Any, *_: Any) -> None:
        given.extend((table, params, weights, team))
        raise _Enough

    n_rows = len(next(iter(X.values())) if isinstance(X, dict) else X)
    model = TreeClassifier(**parameters)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training, "grow", grow)
        with pytest.raises(_Enough):
            model.fit(X, np.arange(n_rows) % 2, weight)
    return tuple(given)
