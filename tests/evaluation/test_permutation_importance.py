# SPDX-License-Identifier: BSD-3-Clause
"""permutation_importance: how much worse a model does on rows whose values of a column were shuffled."""

from __future__ import annotations

import math
from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import fasttree
from fasttree import (
    BayesTreeClassifier,
    C45Classifier,
    ID3Classifier,
    RuleClassifier,
    TreeClassifier,
    permutation_importance,
)
from fasttree.stats import metrics

NAN = math.nan


def table(n_rows: int = 200, seed: int = 0) -> tuple[dict[str, Any], np.ndarray]:
    """A number and a word with holes, which tell the class, and noise."""
    rng = np.random.default_rng(seed)
    dose = np.where(rng.random(n_rows) < 0.1, NAN, rng.integers(0, 20, n_rows))
    colour = np.array(["red", "green", "blue", None], dtype=object)[rng.integers(0, 4, n_rows)]
    y = np.where((dose > 9) | (colour == "red"), "ill", "well").astype(object)
    noisy = rng.random(n_rows) < 0.1
    y[noisy] = "well"
    return {"dose": dose, "colour": colour, "noise": rng.normal(size=n_rows).round(1)}, y


def part(X: dict[str, Any], rows: Any) -> dict[str, Any]:
    return {name: column[rows] for name, column in X.items()}


def assert_same(one: Any, other: Any) -> None:
    assert one.names == other.names
    assert one.repeats.tobytes() == other.repeats.tobytes()
    assert (one.score, one.n_rows) == (other.score, other.n_rows)


# -- what it says --------------------------------------------------------------------------------


def binary_signal(seed: int) -> tuple[dict[str, Any], np.ndarray]:
    """A word of two that tells most of the class, and a number that tells nothing of it."""
    rng = np.random.default_rng(seed)
    signal, noise = rng.integers(0, 2, 4500), rng.normal(size=4500)
    y = np.where(rng.random(4500) < 0.75, signal, 1 - signal)
    return {"signal": np.array(["a", "b"])[signal], "noise": noise}, y


@pytest.mark.parametrize("seed", range(3))
def test_a_signal_of_two_values_is_worth_more_than_noise_of_many(seed: int) -> None:
    X, y = binary_signal(seed)
    model = TreeClassifier().fit(part(X, slice(500)), y[:500])
    by_gain = model.feature_importances_
    assert by_gain[1] > 2 * by_gain[0]  # the bias towards attributes of many values
    found = permutation_importance(model, part(X, slice(500, None)), y[500:])
    assert found.names == ("signal", "noise")
    # A full tree errs with the probability 2 * 0.75 * 0.25; with a signal of others, half of the time.
    assert found.means[0] == pytest.approx(0.5 - 0.375, abs=0.06)
    assert abs(found.means[1]) < 0.03


def every_permutation(model: Any, X: dict[str, Any], y: np.ndarray, name: str) -> np.ndarray:
    """The fall of the accuracy by each permutation of a column that there is."""
    as_it_is = np.mean(model.predict(X) == y)
    return np.array(
        [
            as_it_is - np.mean(model.predict(X | {name: X[name][list(order)]}) == y)
            for order in permutations(range(len(y)))
        ]
    )


@pytest.mark.parametrize("name", ["dose", "colour"])
def test_the_shuffles_are_drawn_from_all_permutations_alike(name: str) -> None:
    X, y = table()
    model = TreeClassifier(max_depth=2).fit(X, y)
    few, labels = part(X, slice(7)), y[:7]
    expected = every_permutation(model, few, labels, name)
    assert expected.std() > 0.05
    found = permutation_importance(model, few, labels, repeats=4000)
    drawn = found.repeats[found.names.index(name)]
    assert found.score == np.mean(model.predict(few) == labels)
    for value in np.unique(expected.round(9)):
        share = np.mean(np.abs(expected - value) < 1e-6)
        assert np.mean(np.abs(drawn - value) < 1e-6) == pytest.approx(
            share, abs=4.5 * math.sqrt(share * (1 - share) / 4000)
        )


def test_shuffled_by_hand() -> None:
    """As good as shuffles by numpy, of a larger table."""
    X, y = table()
    model = C45Classifier().fit(part(X, slice(100)), y[:100])
    held, labels = part(X, slice(100, None)), y[100:]
    rng = np.random.default_rng(0)
    found = permutation_importance(model, held, labels, metric="log_loss", repeats=60)
    as_it_is = metrics.log_loss(labels, model.predict_proba(held))
    assert found.score == as_it_is
    for place, name in enumerate(found.names):
        losses = [
            metrics.log_loss(
                labels, model.predict_proba(held | {name: rng.permutation(held[name])})
            )
            for _ in range(60)
        ]
        by_hand = np.array(losses) - as_it_is
        both = math.sqrt((np.var(by_hand, ddof=1) + found.sds[place] ** 2) / 60)
        assert found.means[place] == pytest.approx(by_hand.mean(), abs=4 * both + 1e-12)


def test_a_column_that_the_model_does_not_ask_for_is_worth_nothing() -> None:
    X, y = table()
    model = ID3Classifier(max_depth=1).fit(X, y)
    found = permutation_importance(model, X, y, repeats=3)
    asked = found.names.index(model.tree_.schema.names[model.tree_.attribute[0]])
    for place in range(3):
        assert (
            (found.repeats[place] > 0).all() if place == asked else not found.repeats[place].any()
        )


@pytest.mark.parametrize("metric", ["accuracy", "auc", "log_loss", "brier"])
def test_metrics_get_worse(metric: str) -> None:
    X, y = table(400)
    model = TreeClassifier(min_samples_leaf=10).fit(part(X, slice(200)), y[:200])
    held, labels = part(X, slice(200, None)), y[200:]
    found = permutation_importance(model, held, labels, metric=metric, repeats=3)
    shares = model.predict_proba(held)
    expected = {
        "accuracy": model.score(held, labels),
        "auc": metrics.roc_auc(labels, shares),
        "log_loss": metrics.log_loss(labels, shares),
        "brier": metrics.brier_score(labels, shares),
    }
    assert found.score == expected[metric]
    assert (found.repeats[:2] > 0).all()
    assert found.means[2] < found.means[:2].min() / 3


@pytest.mark.parametrize(
    "model",
    [
        RuleClassifier(),
        BayesTreeClassifier(),
        TreeClassifier(missing="surrogate", unknown="majority"),
        TreeClassifier(missing="fractional", n_jobs=2),
    ],
)
def test_all_kinds_of_models(model: Any) -> None:
    X, y = table()
    model.fit(X, y)
    X["colour"][:3] = "never seen"
    for metric in ("accuracy", "brier"):
        found = permutation_importance(model, X, y, metric=metric, repeats=4)
        assert (found.means[:2] > 0.02).all()
    if isinstance(model, RuleClassifier):
        assert_same(permutation_importance(model.rules_, X, y, metric="brier", repeats=4), found)


# -- what it does not depend on ------------------------------------------------------------------


def test_neither_threads_nor_the_order_of_rows_matter() -> None:
    X, y = table()
    X["noise"][:] = 0  # so that many rows are equal
    model = TreeClassifier().fit(*table(seed=1))
    once = permutation_importance(model, X, y, metric="log_loss", repeats=5)
    assert_same(permutation_importance(model, X, y, metric="log_loss", repeats=5, n_jobs=3), once)
    order = np.random.default_rng(0).permutation(len(y))
    shuffled = permutation_importance(model, part(X, order), y[order], metric="log_loss", repeats=5)
    assert_same(shuffled, once)
    other = permutation_importance(model, X, y, metric="log_loss", repeats=5, random_state=1)
    assert other.repeats.tolist() != once.repeats.tolist()
    # More repeats begin with the same ones.
    more = permutation_importance(model, X, y, metric="log_loss", repeats=7)
    assert more.repeats[:, :5].tolist() == once.repeats.tolist()


def test_any_table() -> None:
    X, y = table()
    model = TreeClassifier().fit(X, y)
    frame = pd.DataFrame(X)
    once = permutation_importance(model, X, y, repeats=3)
    for same in (
        frame,
        frame[["noise", "colour", "dose"]],
        pl.from_pandas(frame),
        pa.Table.from_pandas(frame),
        frame.astype({"colour": "category"}),
    ):
        assert_same(permutation_importance(model, same, pd.Series(y), repeats=3), once)
    rows = frame.astype(object).where(frame.notna(), None).to_numpy().tolist()
    unnamed = permutation_importance(TreeClassifier().fit(rows, y), rows, y, repeats=3)
    assert unnamed.names == ("x0", "x1", "x2")  # the name is part of the hash
    assert unnamed.means == pytest.approx(once.means, abs=0.1)


def test_matrices() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 9, (300, 4)).astype(float)
    X[rng.random(X.shape) < 0.1] = NAN
    y = (X[:, 0] > 4).astype(int)
    model = TreeClassifier().fit(X, y)
    before = X.copy()
    once = permutation_importance(model, X, y, repeats=3)
    assert X.tobytes() == before.tobytes()
    assert once.means[0] > 0.3
    for same in (np.asfortranarray(X), X.astype(np.float32), X.tolist(), pd.DataFrame(X)):
        assert_same(permutation_importance(model, same, y, repeats=3), once)
    strict = TreeClassifier(missing="error").fit(np.nan_to_num(X), y)
    with pytest.raises(ValueError, match=r"column 'x\d' has a missing value .* in row \d+"):
        permutation_importance(strict, X, y)


# -- weights -------------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", ["accuracy", "auc", "log_loss", "brier"])
def test_whole_weights_are_copies(metric: str) -> None:
    X, y = table()
    model = TreeClassifier(max_depth=4).fit(*table(seed=1))
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    rows = np.repeat(np.arange(len(y)), weight)
    weighted = permutation_importance(model, X, y, sample_weight=weight, metric=metric, repeats=3)
    copied = permutation_importance(model, part(X, rows), y[rows], metric=metric, repeats=3)
    assert weighted.repeats.tobytes() == copied.repeats.tobytes()
    assert weighted.score == copied.score
    assert (weighted.n_rows, copied.n_rows) == (np.count_nonzero(weight), len(rows))


def test_other_weights_count_in_the_metric() -> None:
    X, y = table()
    model = TreeClassifier(max_depth=4).fit(*table(seed=1))
    weight = np.random.default_rng(0).random(len(y))
    weight[:20] = 0
    found = permutation_importance(model, X, y, sample_weight=weight, repeats=5)
    assert found.score == model.score(X, y, weight)
    assert found.n_rows == len(y) - 20
    assert (found.means[:2] > 0).all()
    order = np.random.default_rng(1).permutation(len(y))
    again = permutation_importance(
        model, part(X, order), y[order], sample_weight=weight[order], repeats=5
    )
    assert_same(again, found)


def test_too_many_copies() -> None:
    X, y = table()
    model = TreeClassifier().fit(X, y)
    weight = np.full(len(y), 1e6)
    with pytest.raises(ValueError, match=r"sample_weight sums to 2e\+08.*rescale the weights"):
        permutation_importance(model, X, y, sample_weight=weight)
    permutation_importance(model, X, y, sample_weight=weight / 3e6, repeats=1)


# -- columns together ----------------------------------------------------------------------------


def test_columns_that_say_the_same_are_shuffled_together() -> None:
    rng = np.random.default_rng(0)
    first = rng.normal(size=600)
    X = {"first": first, "noise": rng.normal(size=600), "second": first + rng.normal(size=600) / 50}
    y = (first > 0).astype(int)
    # Half of the test goes by each of the two: a forest of one tree that asks for both.
    model = TreeClassifier(missing="surrogate").fit(part(X, slice(300)), y[:300])
    held, labels = part(X, slice(300, None)), y[300:]
    found = permutation_importance(model, held, labels, together={"both": ["first", "second"]})
    assert found.names == ("both", "noise")
    assert found.means[0] == pytest.approx(0.5, abs=0.06)


def test_rows_of_what_is_shuffled_together_stay_whole() -> None:
    """Where all the columns are shuffled as one, whole rows change places, so the predictions stay what they are."""
    X, y = table()
    model = TreeClassifier().fit(X, y)
    predicted = model.predict(X)
    ill = part(X, predicted == "ill")
    labels = predicted[predicted == "ill"]
    whole = permutation_importance(model, ill, labels, together={"all": list(X)})
    assert whole.names == ("all",)
    by_place = permutation_importance(model, ill, labels, together={"all": range(3)})
    assert by_place.repeats.tolist() == whole.repeats.tolist()
    assert not whole.repeats.any()
    assert permutation_importance(model, ill, labels).means.max() > 0.1


# -- the record ----------------------------------------------------------------------------------


def test_the_record() -> None:
    X, y = table()
    model = TreeClassifier(max_depth=3).fit(X, y)
    found = permutation_importance(model, pd.DataFrame(X), y, repeats=4)
    assert found.repeats.shape == (3, 4)
    assert found.means == pytest.approx(found.repeats.mean(axis=1))
    assert found.sds == pytest.approx(found.repeats.std(axis=1, ddof=1))
    text = repr(found).splitlines()
    assert text[0] == (
        f"How far the accuracy falls from {found.score:.4f} on 200 rows; "
        "mean (standard deviation) of 4 shuffles"
    )
    order = np.argsort(-found.means)
    assert [line.split()[0] for line in text[3:]] == [found.names[place] for place in order]
    best = order[0]
    assert text[3].endswith(f"{found.means[best]:.4f} ({found.sds[best]:.4f})")
    assert f"| {found.names[best]} | {found.means[best]:.4f} (" in found.to_markdown()
    assert found._repr_markdown_() == found.to_markdown()
    frame = found.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert frame.column.tolist() == ["dose", "colour", "noise"]
    assert frame["mean"].tolist() == found.means.tolist()
    assert frame["sd"].tolist() == found.sds.tolist()
    long = found.to_frame("polars", per_repeat=True)
    assert isinstance(long, pl.DataFrame)
    assert long["importance"].to_list() == found.repeats.ravel().tolist()
    assert long["repeat"].to_list() == [0, 1, 2, 3] * 3
    with pytest.raises(ValueError, match="backend must be"):
        found.to_frame("excel")


def test_a_single_shuffle_has_no_deviation() -> None:
    X, y = table()
    found = permutation_importance(TreeClassifier().fit(X, y), X, y, repeats=1)
    assert np.isnan(found.sds).all()
    assert "(" not in repr(found)
    assert "on 200 rows; 1 shuffle\n" in repr(found)


# -- bad input -----------------------------------------------------------------------------------


def test_bad_input() -> None:
    X, y = table()
    model = TreeClassifier().fit(X, y)
    with pytest.raises(ValueError, match=r"metric must be one of 'accuracy', .*, got 'gini'"):
        permutation_importance(model, X, y, metric="gini")
    for bad in (0, 1.5, True, "five"):
        with pytest.raises(
            ValueError, match=f"repeats must be an integer of at least 1, got {bad!r}"
        ):
            permutation_importance(model, X, y, repeats=bad)
    with pytest.raises(ValueError, match=r"random_state must be.*got -1"):
        permutation_importance(model, X, y, random_state=-1)
    with pytest.raises(ValueError, match=r"n_jobs must be.*got 0"):
        permutation_importance(model, X, y, n_jobs=0)
    with pytest.raises(TypeError, match=r"model is a type: pass a fitted estimator of fasttree"):
        permutation_importance(TreeClassifier, X, y)
    with pytest.raises(ValueError, match="not fitted yet"):
        permutation_importance(TreeClassifier(), X, y)
    with pytest.raises(ValueError, match=r"(?s)feature names.*- noise"):
        permutation_importance(model, {"dose": X["dose"], "colour": X["colour"]}, y)


def test_bad_classes() -> None:
    X, y = table()
    model = TreeClassifier().fit(X, y)
    with pytest.raises(ValueError, match=r"y contains labels like 0, but the model was fitted"):
        permutation_importance(model, X, np.arange(200) % 2)
    with pytest.raises(ValueError, match=r"metric='auc' is undefined.*y has only one class"):
        permutation_importance(model, X, ["ill"] * 200, metric="auc")
    other = y.copy()
    other[5] = "dead"
    with pytest.raises(ValueError, match=r"y contains the class 'dead', which was not seen at fit"):
        permutation_importance(model, X, other, metric="brier")
    found = permutation_importance(model, X, other)  # for which the model is wrong
    assert found.score == np.mean(model.predict(X) == other)


@pytest.mark.parametrize(
    ("together", "error", "message"),
    [
        ([["dose", "noise"]], TypeError, r"together must be a dict.*got \[\['dose', 'noise'\]\]"),
        ({1: ["dose"]}, TypeError, "names in together must be non-empty strings, got 1"),
        (
            {"a": ["dosis"]},
            ValueError,
            r"together\['a'\] contains 'dosis', which is not a column.*'colour'",
        ),
        ({"a": ["dose"], "b": ["dose"]}, ValueError, "together contains the column 'dose' twice"),
        (
            {"a": [["dose"]]},
            ValueError,
            r"together\['a'\] contains \['dose'\], which is not a column",
        ),
        ({"a": [3]}, ValueError, r"together\['a'\] contains 3, which is not a column.*'colour'"),
        ({"noise": ["dose", "colour"]}, ValueError, "together uses the name 'noise'.*another"),
    ],
)
def test_bad_groups(together: Any, error: type[Exception], message: str) -> None:
    X, y = table()
    model = TreeClassifier().fit(X, y)
    with pytest.raises(error, match=message):
        permutation_importance(model, X, y, together=together)


def test_it_is_there_without_what_needs_an_extra() -> None:
    assert fasttree.permutation_importance is permutation_importance
