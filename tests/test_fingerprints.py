# SPDX-License-Identifier: BSD-3-Clause
"""Every estimator on tables of more than 1,000 rows gives the same model on every processor.

`as_other_processors.py` runs this where FASTTREE_FINGERPRINTS names a file with what an ordinary process found.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import fingerprints
import numpy as np
import pytest
from as_other_processors import EXPECTED

pytestmark = pytest.mark.numeric

# Written down once; trees that grow by integers are the same on every machine.
GROWTH = {
    "numbers": {"none": "f1e4896ff923f4f2", "whole": "aa6e95c2b4ab39ac", "fractional": "354dbbc066b6f24a"},
    "categories": {"none": "614de7560b5824a5", "whole": "05b1bedf9bf7adcd", "fractional": "0418da562a490340"},
    "holes": {"none": "cba89508a0dd5fba", "whole": "80ece884060a01e4", "fractional": "0a7287789ebe1f06"},
}  # fmt: skip


@pytest.mark.parametrize("weight", fingerprints.WEIGHTS)
@pytest.mark.parametrize("name", fingerprints.TABLES)
def test_trees_grow_as_they_were_written_down(name: str, weight: str) -> None:
    assert fingerprints.growth(name, weight) == GROWTH[name][weight]


@pytest.mark.parametrize("model", fingerprints.MODELS)
def test_models_are_those_of_an_ordinary_process(model: str) -> None:
    cases = [case for case in fingerprints.cases() if case[0] == model]
    found = {" / ".join(case): fingerprints.fingerprint(*case) for case in cases}
    if EXPECTED in os.environ:
        ordinary = json.loads(Path(os.environ[EXPECTED]).read_text("utf-8"))
        assert found == {case: ordinary[case] for case in found}
    assert len(found) >= 2 * len(fingerprints.TABLES)
    assert len(set(found.values())) > len(fingerprints.TABLES)


def test_the_tables_have_what_they_are_named_after() -> None:
    for name in fingerprints.TABLES:
        X, y = fingerprints.table(name)
        assert len(y) == fingerprints.N_ROWS >= 1000
        assert np.bincount(y).min() > 50
        texts = [values for values in X.values() if values.dtype.kind in "UO"]
        assert len(texts) == (0 if name == "numbers" else 3)
        empty = [value is None or value != value for values in X.values() for value in values]
        assert any(empty) == (name == "holes")
