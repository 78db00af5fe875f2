# SPDX-License-Identifier: BSD-3-Clause
"""Cross-validation on fixed folds beside Weka and scikit-learn, whose results are at hand with the real tables.

FASTTREE_SHARED names the directory that holds data/, golden/folds/ and golden/reference_cv.csv; without it these tests
look beside the repository, and are left out if nothing is there.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fasttree import C45Classifier, ID3Classifier, TreeClassifier, compare_methods

BESIDE = Path(__file__).resolve().parents[3] / "shared"
SHARED = Path(os.environ.get("FASTTREE_SHARED", BESIDE))
REFERENCE = SHARED / "golden" / "reference_cv.csv"

pytestmark = pytest.mark.skipif(not REFERENCE.is_file(), reason=f"no results in {REFERENCE}")

TARGETS = {
    "adult": "income",
    "breast_cancer": "class",
    "cohort_22157": "cesarean",
    "contact_lenses": "contact_lenses",
    "credit_g": "class",
    "iris": "class",
    "labor": "class",
    "letter_recognition": "lettr",
    "vote": "class",
}
# The grown and collapsed tree, whatever the preset does by default.
UNPRUNED = {"pruning": None}
LARGE = ("adult", "cohort_22157", "credit_g", "letter_recognition")


def compared(name: str, system: str, model: Any) -> tuple[Any, Any]:
    """Our results and the other system's, fold by fold."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_parquet(SHARED / "data" / f"{name}.parquet")
    folds = pandas.read_parquet(SHARED / "golden" / "folds" / f"{name}.parquet")["fold"].to_numpy()
    X, y = frame.drop(columns=TARGETS[name]), frame[TARGETS[name]]
    found = pandas.read_csv(REFERENCE)
    found = found[(found.dataset == name) & (found.system == system)].sort_values("fold")
    assert len(found) == 10
    return compare_methods(X, y, {"ours": model}, folds=folds, n_jobs=2), found


@pytest.mark.parametrize("name", list(TARGETS))
def test_wekas_unpruned_j48(name: str) -> None:
    """The same tree on every fold: the same accuracy and the same number of leaves."""
    ours, weka = compared(name, "weka_j48_unpruned", C45Classifier(compat="j48", **UNPRUNED))
    np.testing.assert_allclose(ours.values("ours"), weka.accuracy, atol=1e-6)  # printed digits
    assert ours.values("ours", "leaves").tolist() == weka.leaves.tolist()
    if weka.auc.notna().all():
        # Rows that miss a value get shares that are equal or not by rounding, which makes ties or does not.
        np.testing.assert_allclose(ours.values("ours", "auc"), weka.auc, atol=0.005)


def test_wekas_id3() -> None:
    ours, weka = compared("contact_lenses", "weka_id3", ID3Classifier())
    np.testing.assert_allclose(ours.values("ours"), weka.accuracy, atol=1e-6)
    assert ours.values("ours", "leaves").mean() == pytest.approx(8.4)


@pytest.mark.parametrize("name", LARGE)
def test_scikit_learns_full_tree(name: str) -> None:
    """Not the same tree: it draws among equally good splits, and had categories as numbers.

    On letter_recognition (numbers only) its own mean over the folds moves by 0.003 with the seed, and ours by 0.005
    with the order of the columns, so 0.01 is what can be asked for. On the small tables single rows decide, and
    nothing can.
    """
    ours, theirs = compared(name, "sklearn_tree", TreeClassifier())
    assert ours.spread("ours").mean == pytest.approx(theirs.accuracy.mean(), abs=0.01)
    assert ours.spread("ours", "leaves").mean == pytest.approx(theirs.leaves.mean(), rel=0.05)
    if theirs.auc.notna().all():
        assert ours.spread("ours", "auc").mean == pytest.approx(theirs.auc.mean(), abs=0.01)
