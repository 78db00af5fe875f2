# SPDX-License-Identifier: BSD-3-Clause
"""Pictures: what they show is what the library says. Drawn without a screen."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("matplotlib")

import matplotlib
from matplotlib import pyplot

import fasttree
from fasttree import measures, metrics, plot, pruning
from fasttree.curves import GRID, roc_on_grid
from fasttree.datasets import play_tennis

matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def closed_figures() -> Iterator[None]:
    yield
    pyplot.close("all")


def noisy(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    y = (X[:, 0] + X[:, 1] * X[:, 2] > 0) ^ (rng.random(n) < 0.2)
    return X, np.where(y, "yes", "no")


def line(ax: Any, label: str) -> Any:
    return next(found for found in ax.get_lines() if str(found.get_label()).startswith(label))


def image(ax: Any) -> np.ndarray:
    ax.figure.canvas.draw()
    return np.asarray(ax.figure.canvas.buffer_rgba())


def test_roc_curves_go_through_every_threshold() -> None:
    X, y = noisy(400, 0)
    scores = {"first": X[:, 0], "sum": np.round(X[:, 0] + X[:, 1], 1)}
    ax = plot.roc(y, scores)
    for name, score in scores.items():
        curve = line(ax, name)
        x, found = curve.get_data()
        for threshold in np.quantile(score, [0.1, 0.5, 0.9]):
            above = score >= threshold
            alarms, hits = above[y == "no"].mean(), above[y == "yes"].mean()
            assert np.hypot(x - alarms, found - hits).min() < 1e-12
        assert np.trapezoid(found, x) == pytest.approx(metrics.roc_auc(y, score))
        assert curve.get_label() == f"{name}, area {metrics.roc_auc(y, score):.3f}"
    assert ax.get_xlabel() == "false alarms"


def test_roc_takes_columns_and_the_other_class() -> None:
    X, y = noisy(200, 1)
    model = fasttree.SMMLClassifier().fit(X, y)
    proba = model.predict_proba(X)
    one, two = plot.roc(y, proba), plot.roc(y, proba[:, 1])
    assert np.array_equal(line(one, "area").get_data(), line(two, "area").get_data())
    other = plot.roc(y, proba, positive="no")
    area = metrics.roc_auc(y == "no", proba[:, 0])
    assert line(other, "area").get_label() == f"area {area:.3f}"
    _, own = pyplot.subplots()
    assert plot.roc(y, proba, ax=own) is own


def test_bands_are_means_and_deviations() -> None:
    rng = np.random.default_rng(0)
    found = []
    for _ in range(4):
        y = rng.random(300) < 0.3
        found.append(roc_on_grid(y, y + rng.normal(size=300)))
    curves = [SimpleNamespace(method="m", false_alarms=tuple(GRID), found=tuple(map(tuple, found)))]
    for bands in ("sd", "range"):
        ax = plot.roc_bands(curves, bands=bands)
        x, mean = line(ax, "m").get_data()
        assert x[1:] == pytest.approx(GRID)
        assert mean[1:] == pytest.approx(np.mean(found, axis=0))
        corners = ax.collections[0].get_paths()[0].vertices
        at = np.isclose(corners[:, 0], 0.3)
        column = np.array(found)[:, 30]
        low, high = column.min(), column.max()
        if bands == "sd":
            middle, sd = column.mean(), column.std(ddof=1)
            low, high = middle - sd, middle + sd
        assert sorted(corners[at, 1]) == pytest.approx([low, high])
    with pytest.raises(ValueError, match="bands must be 'sd' or 'range', got 'ci'"):
        plot.roc_bands(curves, bands="ci")


def test_calibration_bins_hold_the_observed_shares() -> None:
    rng = np.random.default_rng(0)
    p = rng.random(2_000)
    y = (rng.random(2_000) < p).astype(int)
    ax = plot.calibration(y, p, n_bins=5)
    predicted, observed = ax.containers[0].lines[0].get_data()
    order = np.argsort(p)
    for part, mean, share in zip(np.array_split(order, 5), predicted, observed, strict=True):
        assert mean == pytest.approx(p[part].mean(), abs=2e-3)
        assert share == pytest.approx(y[part].mean(), abs=5e-3)
    segments = ax.containers[0].lines[2][0].get_segments()
    assert all(
        low[1] < share < high[1] for (low, high), share in zip(segments, observed, strict=True)
    )
    plot.calibration(y, {"one": p, "two": np.round(p, 1)})


def test_the_drawn_tree_has_the_boxes_of_the_tree() -> None:
    model = fasttree.ID3Classifier().fit(*play_tennis())
    ax = plot.tree(model)
    texts = [text.get_text() for text in ax.texts]
    for words in ("Outlook", "Humidity", "Wind", "Sunny", "14 rows, 64.3 % Yes"):
        assert texts.count(words) == 1
    assert texts.count("Yes") + texts.count("No") == 5
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["No", "Yes"]
    canvas = ax.figure.canvas
    canvas.draw()
    room = ax.get_tightbbox().padded(2)
    for text in ax.texts:
        own = text.get_window_extent()
        assert room.x0 <= own.x0
        assert own.x1 <= room.x1
    assert len({tuple(p) for p in image(ax).reshape(-1, 4)}) > 5
    assert plot.tree(model.tree_, max_depth=0).texts[0].get_text() == "Outlook …"
    small = pyplot.subplots(figsize=(2, 2))[1]
    assert plot.tree(model, ax=small) is small
    assert small.texts[0].get_fontsize() < ax.texts[0].get_fontsize()


def test_formulas_are_not_read_into_names() -> None:
    X = {"$x_{": [1.0, 2, 3, 4], "b$": [1.0, 1, 2, 2]}
    model = fasttree.TreeClassifier().fit(X, ["$a^{", "$a^{", "b$", "b$"])
    image(plot.tree(model))
    image(plot.ranking([("$x_{", 0.5), ("b$c", 0.25)]))


def test_errors_by_leaves_are_those_of_the_pruned_trees() -> None:
    (X, y), (X_val, y_val) = noisy(500, 0), noisy(500, 1)
    model = fasttree.TreeClassifier(pruning=None).fit(X, y)
    ax = plot.error_by_leaves(model, X, y, X_val, y_val)
    leaves, training = line(ax, "training").get_data()
    _, other = line(ax, "other").get_data()
    assert leaves[0] == model.get_n_leaves()
    assert leaves[-1] == 1
    assert training[0] == 0
    assert other[0] == pytest.approx(1 - model.score(X_val, y_val))
    assert training[-1] == pytest.approx(min(np.mean(y == "yes"), np.mean(y == "no")))
    path = pruning.cost_complexity_path(model.tree_)
    assert training == pytest.approx(path.risk)  # the path counts them in its own way
    assert list(leaves) == list(path.leaves)
    held = pruning.held_out_counts(model.tree_, model.apply(X_val), (y_val == "yes").astype(int))
    errors = pruning.errors_along(model.tree_, path, held, path.alphas)
    assert other == pytest.approx(errors / len(y_val))
    best = line(ax, "fewest")
    assert best.get_ydata()[0] == pytest.approx(min(other))
    fewer = plot.error_by_leaves(model, X, y, X_val, y_val, most_trees=5)
    kept = line(fewer, "training").get_xdata()
    assert 2 <= len(kept) <= 5
    assert (kept[0], kept[-1]) == (leaves[0], 1)
    assert model.get_n_leaves() == leaves[0]  # not touched


def test_the_pruning_path_and_the_tree_taken() -> None:
    X, y = noisy(400, 2)
    model = fasttree.CARTClassifier().fit(X, y)
    ax = plot.pruning_path(model)
    leaves, rate = ax.containers[0].lines[0].get_data()
    assert list(leaves) == list(model.pruning_choice_.leaves)
    assert rate == pytest.approx(model.pruning_choice_.errors / model.pruning_choice_.weight)
    taken = line(ax, "taken")
    assert taken.get_xdata()[0] == model.get_n_leaves()
    path = model.pruning_path_
    assert list(plot.pruning_path(path).get_lines()[0].get_ydata()) == list(path.risk)


def test_ranking_has_a_bar_for_each_attribute() -> None:
    ranked = fasttree.rank_attributes(*play_tennis(), criterion="entropy")
    ax = plot.ranking(ranked)
    widths = [bar.get_width() for bar in ax.patches]
    assert widths == pytest.approx([score for _, score in ranked])
    assert [label.get_text() for label in ax.get_yticklabels()] == [name for name, _ in ranked]
    assert ax.yaxis_inverted()
    assert len(plot.ranking(ranked, most=2).patches) == 2


def test_impurity_curves() -> None:
    ax = plot.impurity_curves()
    for name, measure in (
        ("entropy", measures.entropy),
        ("gini", measures.gini),
        ("misclassification", measures.misclassification),
    ):
        x, impurity = line(ax, name).get_data()
        for place in (0, 37, 100, 200):
            assert impurity[place] == pytest.approx(measure([x[place], 1 - x[place]]))


PICTURES = {
    "roc": lambda: plot.roc([0, 1, 0, 1], [0.1, 0.8, 0.4, 0.4]),
    "calibration": lambda: plot.calibration([0, 1] * 50, np.linspace(0, 1, 100)),
    "tree": lambda: plot.tree(fasttree.ID3Classifier().fit(*play_tennis())),
    "impurity": plot.impurity_curves,
    "ranking": lambda: plot.ranking(fasttree.rank_attributes(*play_tennis())),
    "path": lambda: plot.pruning_path(fasttree.CARTClassifier().fit(*noisy(200, 0))),
    "errors": lambda: plot.error_by_leaves(
        fasttree.TreeClassifier().fit(*noisy(200, 0)), *noisy(200, 0), *noisy(200, 1)
    ),
}


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_can_be_seen(name: str) -> None:
    pixels = image(PICTURES[name]())[..., :3].astype(int)
    assert min(pixels.shape[:2]) > 100
    assert (pixels.sum(axis=2) < 600).mean() > 0.003  # something is not white
    assert (pixels.sum(axis=2) > 700).mean() > 0.3  # but the page is


# -- bad input ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("draw", "words"),
    [
        (lambda: plot.roc([0, 1, 2], [0.1, 0.2, 0.3]), "y must hold two classes, but it has 3"),
        (lambda: plot.roc([0, 1], [[0.1], [0.2]]), r"got the shape \(2, 1\)"),
        (lambda: plot.roc([0, 1], [0.1, np.nan]), "scores are nan in row 1"),
        (lambda: plot.roc([0, 1], [0.1, 0.2], positive="x"), "positive is 'x'"),
        (lambda: plot.roc([0, 1, 1], [0.1, 0.2]), "2"),
        (lambda: plot.calibration([0, 1], [0.1, 1.2]), "between 0 and 1, got 1.2"),
        (lambda: plot.calibration([0, 1], [0.1, 0.2], n_bins=0), "n_bins must be"),
        (lambda: plot.tree("oak"), "model must be a fitted tree, got 'str'"),
        (lambda: plot.tree(fasttree.ID3Classifier()), "call fit first"),
        (lambda: plot.ranking([("x", None)]), "no attribute with a score"),
        (lambda: plot.ranking([("x", 1.0)], most=0), "most must be"),
        (lambda: plot.pruning_path(fasttree.ID3Classifier()), "has no pruning_choice_"),
        (
            lambda: plot.error_by_leaves(
                fasttree.MMLClassifier().fit(*noisy(60, 0)), *noisy(60, 0), *noisy(60, 1)
            ),
            "MMLClassifier averages",
        ),
        (lambda: plot.error_by_leaves("oak", [], [], [], []), "call fit first"),
    ],
)
def test_bad_arguments(draw: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        draw()


def test_without_matplotlib() -> None:
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "import fasttree\n"
        "try: fasttree.plot.impurity_curves()\n"
        "except ImportError as error: print(error)\n"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'fasttree[plot]'" in found.stdout


def test_nothing_loads_matplotlib_before_a_picture() -> None:
    code = "import sys, fasttree; fasttree.plot; print('matplotlib' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"
