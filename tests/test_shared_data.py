# SPDX-License-Identifier: BSD-3-Clause
"""Real tables, where they are at hand: against the reference, rpart, Weka and scikit-learn.

They are not part of the project: FASTTREE_SHARED names the directory that holds data/*.parquet;
without it these tests look beside the repository, and are left out if nothing is there.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from agreement import assert_every_choice_is_best, assert_same_tree, difference
from reference import Attribute
from strategies import Problem

from fasttree import CARTClassifier, ID3Classifier, TreeClassifier

BESIDE = Path(__file__).resolve().parents[2] / "shared"
DATA = Path(os.environ.get("FASTTREE_SHARED", BESIDE)) / "data"

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason=f"no real tables in {DATA}")


def read(name: str, target: str, n_rows: int | None = None, seed: int = 0) -> Any:
    """A data frame (categories keep their declared order; missing becomes a level or a number)."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_parquet(DATA / f"{name}.parquet")
    if n_rows is not None and n_rows < len(frame):
        rows = np.random.default_rng(seed).permutation(len(frame))[:n_rows]
        frame = frame.iloc[rows].reset_index(drop=True)
    for column in frame.columns:
        values = frame[column]
        if isinstance(values.dtype, pandas.CategoricalDtype):
            if values.isna().any():
                frame[column] = values.cat.add_categories("unknown").fillna("unknown")
        else:
            frame[column] = values.fillna(-1.0)
    return frame.drop(columns=target), frame[target]


def problem_of(frame: Any, target: Any, **parameters: Any) -> Problem:
    """The same table for the reference."""
    attributes = []
    for name in frame.columns:
        values = frame[name]
        if hasattr(values, "cat"):
            attributes.append(Attribute(values.cat.codes.tolist(), len(values.cat.categories)))
        else:
            attributes.append(Attribute(values.astype(float).tolist()))
    present = sorted(set(target))
    codes = [present.index(label) for label in target]
    return Problem(attributes, codes, None, parameters)


def class_order(target: Any) -> list[int] | None:
    if not hasattr(target, "cat"):
        return None
    present = sorted(set(target))
    return [present.index(label) for label in target.cat.categories if label in present]


CASES = [
    ("natality_dev", "cesarean", 500),
    ("adult", "income", 500),
    ("letter_recognition", "lettr", 250),
    ("covtype", "cover_type", 250),
    ("hpc_data", "class", 300),
    ("breast_cancer", "class", None),
    ("penguins", "species", None),
    ("vote", "class", None),
    ("iris", "class", None),
]


@pytest.mark.parametrize("shape", ["subset", "multiway"])
@pytest.mark.parametrize(("name", "target", "n_rows"), CASES, ids=[case[0] for case in CASES])
def test_equals_reference(name: str, target: str, n_rows: int | None, shape: str) -> None:
    frame, y = read(name, target, n_rows)
    criterion = "gini" if shape == "subset" else "entropy"
    parameters = {"criterion": criterion, "categorical_split": shape}
    model = TreeClassifier(**parameters).fit(frame, y)
    grower = problem_of(frame, y, **parameters).grower()
    grower.class_order = class_order(y) or grower.class_order
    if model.tree_.heuristic.any():
        assert_every_choice_is_best(model.tree_, grower)
    else:
        assert_same_tree(model.tree_, grower.grow())


# Nodes and leaves of rpart 4.1 (minsplit 2, minbucket 1, cp 0) and of Weka's Id3.
RPART = {
    ("iris", "class", "gini"): (17, 9),
    ("contact_lenses", "contact_lenses", "gini"): (13, 7),
    ("weather_nominal", "play", "gini"): (13, 7),
    ("weather_numeric", "play", "gini"): (9, 5),
}
WEKA_ID3 = {("contact_lenses", "contact_lenses"): (15, 9), ("weather_nominal", "play"): (8, 5)}


@pytest.mark.parametrize(("name", "target", "criterion"), list(RPART))
def test_as_large_as_rparts_tree(name: str, target: str, criterion: str) -> None:
    frame, y = read(name, target)
    model = CARTClassifier(criterion=criterion, pruning=None).fit(frame, y)
    assert (len(model.tree_.attribute), model.get_n_leaves()) == RPART[name, target, criterion]


@pytest.mark.parametrize(("name", "target"), list(WEKA_ID3))
def test_as_large_as_wekas_id3(name: str, target: str) -> None:
    frame, y = read(name, target)
    model = ID3Classifier().fit(frame, y)
    assert (len(model.tree_.attribute), model.get_n_leaves()) == WEKA_ID3[name, target]
    assert model.score(frame, y) == 1.0


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("natality_dev", "cesarean"),
        ("adult", "income"),
        ("letter_recognition", "lettr"),
        ("shuttle", "class"),
    ],
)
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_beside_scikit_learn(name: str, target: str, criterion: str) -> None:
    from sklearn.tree import DecisionTreeClassifier

    frame, y = read(name, target, 20_000)
    X = np.column_stack(
        [v.cat.codes if hasattr(v, "cat") else v.astype(float) for _, v in frame.items()]
    ).astype(float)
    labels = np.asarray(y).astype(str)
    train, test = slice(0, 14_000), slice(14_000, None)
    ours = TreeClassifier(criterion=criterion, n_jobs=2).fit(X[train], labels[train])
    theirs = DecisionTreeClassifier(criterion=criterion, random_state=0)
    theirs.fit(X[train], labels[train])
    # Fully grown: both must tell apart whatever can be told apart.
    assert ours.score(X[train], labels[train]) == theirs.score(X[train], labels[train])
    assert ours.get_n_leaves() == pytest.approx(theirs.get_n_leaves(), rel=0.03, abs=4)
    assert ours.get_depth() == pytest.approx(theirs.get_depth(), rel=0.4)
    gap = ours.score(X[test], labels[test]) - theirs.score(X[test], labels[test])
    assert abs(gap) < 0.015


@pytest.mark.parametrize("name", ["natality_dev", "adult"])
def test_one_tree_whatever_the_threads_and_the_order(name: str) -> None:
    target = {"natality_dev": "cesarean", "adult": "income"}[name]
    frame, y = read(name, target)
    order = np.random.default_rng(1).permutation(len(frame))
    prints = {TreeClassifier(n_jobs=n).fit(frame, y).tree_.fingerprint() for n in (1, 2, 4)}
    prints.add(TreeClassifier().fit(frame.iloc[order], y.iloc[order]).tree_.fingerprint())
    assert len(prints) == 1


def test_survey_weights() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_parquet(DATA / "nass_cds.parquet").dropna().sample(600, random_state=0)
    weights = frame["weight"].tolist()
    X, y = frame.drop(columns=["weight", "dead"]), frame["dead"]
    problem = problem_of(X, y, max_depth=6)
    problem.weights = weights
    tree = TreeClassifier(max_depth=6).fit(X, y, sample_weight=weights).tree_
    if difference(tree, problem.grower().grow(), tolerance=1e-9) is not None:
        assert_every_choice_is_best(tree, problem.grower())
