# SPDX-License-Identifier: BSD-3-Clause
"""What is on record of a matrix of models holds: fingerprints, texts, rules, exports (see recorded_models.py)."""

from __future__ import annotations

import pytest
import recorded_models
from recorded_models import Cell

CELLS = list(recorded_models.cells())
RECORD = recorded_models.on_record()


def test_the_record_is_of_these_models() -> None:
    assert [cell[0] for cell in CELLS] == list(RECORD)
    assert len(CELLS) >= 300


@pytest.mark.numeric
@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: cell[0])
def test_as_recorded(cell: Cell) -> None:
    hashes, _ = recorded_models.said_of(cell[0], recorded_models.fitted(cell))
    assert hashes == RECORD[cell[0]]


def test_the_texts_on_record() -> None:
    readable = [cell for cell in CELLS if cell[0].startswith(recorded_models.READABLE)]
    texts = {c[0]: recorded_models.said_of(c[0], recorded_models.fitted(c))[1] for c in readable}
    page = recorded_models.as_page({name: of for name, of in texts.items() if of})
    assert page == (recorded_models.RECORD / "texts.txt").read_text("utf-8")
