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
from fasttree import plot, pruning
from fasttree.datasets import play_tennis
from fasttree.stats import measures, metrics
from fasttree.stats.curves import GRID, roc_on_grid

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
        assert curve.get_label() == f"{name}, AUC {metrics.roc_auc(y, score):.3f}"
    assert ax.get_xlabel() == "false positive rate"


def test_roc_takes_columns_and_the_other_class() -> None:
    X, y = noisy(200, 1)
    model = fasttree.SMMLClassifier().fit(X, y)
    proba = model.predict_proba(X)
    one, two = plot.roc(y, proba), plot.roc(y, proba[:, 1])
    assert np.array_equal(line(one, "AUC").get_data(), line(two, "AUC").get_data())
    other = plot.roc(y, proba, positive="no")
    area = metrics.roc_auc(y == "no", proba[:, 0])
    assert line(other, "AUC").get_label() == f"AUC {area:.3f}"
    _, own = pyplot.subplots()
    assert plot.roc(y, proba, ax=own) is own


def three_classes(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    levels = np.digitize(X[:, 0] + rng.normal(scale=0.5, size=n), [-0.6, 0.6])
    return X, np.array(["low", "middle", "high"])[levels]


def test_roc_of_three_classes_draws_each_against_the_rest() -> None:
    X, y = three_classes(300, 0)
    model = fasttree.SMMLClassifier().fit(X, y)
    proba = model.predict_proba(X)
    ax = plot.roc(y, proba)
    assert line(ax, f"mean AUC {metrics.roc_auc(y, proba):.3f}") is not None
    for k, name in enumerate(model.classes_.tolist()):
        area = metrics.roc_auc(y == name, proba[:, k])
        x, found = line(ax, f"{name} against the rest, AUC {area:.3f}").get_data()
        assert np.trapezoid(found, x) == pytest.approx(area)
    one = plot.roc(y, proba, positive="middle")
    area = metrics.roc_auc(y == "middle", proba[:, 2])
    assert line(one, "AUC").get_label() == f"AUC {area:.3f}"
    assert plot.calibration(y, proba, positive="middle").get_xlabel() == "predicted"
    own = plot.roc(y, proba[:, 1], positive="low")
    assert line(own, "AUC").get_label() == f"AUC {metrics.roc_auc(y == 'low', proba[:, 1]):.3f}"


def test_roc_of_several_models_of_three_classes() -> None:
    X, y = three_classes(300, 0)
    scores = {
        name: model.fit(X, y).predict_proba(X)
        for name, model in {"A": fasttree.SMMLClassifier(), "B": fasttree.C45Classifier()}.items()
    }
    ax = plot.roc(y, scores)
    curves = [found for found in ax.get_lines() if "against" in str(found.get_label())]
    assert len(curves) == 6
    # The class is told by the colour, the model by the stroke.
    assert [found.get_color() for found in curves[:3]] == [c.get_color() for c in curves[3:]]
    assert len({found.get_color() for found in curves}) == 3
    assert curves[0].get_linestyle() != curves[3].get_linestyle()
    for name, own in scores.items():
        assert line(ax, name).get_label() == f"{name}, mean AUC {metrics.roc_auc(y, own):.3f}"


def test_roc_where_rows_lack_a_class() -> None:
    X, y = three_classes(300, 0)
    model = fasttree.SMMLClassifier().fit(X, y)
    kept = y != "low"
    proba, rest = model.predict_proba(X)[kept], y[kept]
    with pytest.raises(
        ValueError, match=r"the shape \(\d+, 3\): if y lacks some classes, pass all"
    ):
        plot.roc(rest, proba)
    ax = plot.roc(rest, proba, classes=model.classes_)
    names = [str(found.get_label()).split()[0] for found in ax.get_lines()]
    assert names[-2:] == ["high", "middle"]  # nothing is said of a class without rows
    mean = metrics.roc_auc(rest, proba, classes=model.classes_)
    assert line(ax, "mean").get_label() == f"mean AUC {mean:.3f}"


def test_roc_of_very_many_classes_draws_the_most_frequent() -> None:
    y = np.repeat(np.arange(20), np.arange(3, 23))
    proba = np.random.default_rng(0).dirichlet(np.ones(20), len(y))
    ax = plot.roc(y, proba)
    names = [str(found.get_label()) for found in ax.get_lines()]
    drawn = [int(name.split()[0]) for name in names if "against" in name]
    assert drawn == list(range(12, 20))
    assert names[-1] == "not shown: 12 classes with fewer rows"
    assert f"mean AUC {metrics.roc_auc(y, proba):.3f}" in names


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
    with pytest.raises(ValueError, match="bands must be one of 'sd', 'range', got 'ci'"):
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


def grown(n: int, depth: int | None = None) -> fasttree.TreeClassifier:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, 3)), rng.integers(0, 2, n)
    return fasttree.TreeClassifier(max_depth=depth).fit(X, y)


def inches(ax: Any) -> float:
    return float(max(ax.figure.get_size_inches()))


def lines_of(ax: Any) -> list[str]:
    return [text.get_text() for text in ax.texts]


def chain(n: int) -> fasttree.TreeClassifier:
    """Each split cuts off one row."""
    X = np.arange(float(n))[:, None]
    return fasttree.TreeClassifier().fit(X, np.arange(n) % 2)


@pytest.mark.parametrize("model", [grown(3000), chain(200), grown(3000, 5)])
def test_a_large_tree_is_drawn_as_far_as_there_is_room(model: fasttree.TreeClassifier) -> None:
    ax = plot.tree(model)
    assert inches(ax) < 25
    boxes = sum(" row" in text for text in lines_of(ax))
    whole = model.tree_.node_count
    depths = model.tree_.depth
    if boxes == whole:
        assert not any("not shown" in text for text in lines_of(ax))
        return
    shown = int(depths[boxes - 1])  # all the nodes of these levels, and no others
    assert boxes == np.count_nonzero(depths <= shown)
    assert shown >= 4
    end = f"not shown: {shown} of {depths[-1]} levels below the root."
    assert lines_of(ax)[-1] == f"{whole - boxes:,} nodes are {end}"
    # One level more would have been too much.
    assert inches(plot.tree(model, max_depth=shown + 1)) > 24


def test_a_tree_as_deep_as_one_asks_for() -> None:
    model = chain(400)
    ax = plot.tree(model, max_depth=300)
    assert sum(" row" in text for text in lines_of(ax)) == 601
    assert inches(ax) < 101
    with pytest.raises(ValueError, match=r"would have 1,601 boxes"):
        plot.tree(chain(900), max_depth=800)
    one = plot.tree(fasttree.TreeClassifier().fit([[0.0], [1.0]], ["a", "b"]), max_depth=0)
    assert lines_of(one)[-1] == "2 nodes are not shown: 0 of 1 levels below the root."


def test_the_letters_of_a_tree_fit_into_its_boxes() -> None:
    names = [f"an attribute with the long name {k}" for k in range(3)]
    rng = np.random.default_rng(0)
    X = {name: rng.normal(size=90) for name in names}
    model = fasttree.TreeClassifier(max_depth=3).fit(X, rng.integers(0, 2, 90))
    _, small = pyplot.subplots(figsize=(5, 3))
    for ax in (plot.tree(model), plot.tree(model, ax=small)):
        ax.figure.canvas.draw()
        boxes = [p.get_window_extent() for p in ax.patches if hasattr(p, "get_boxstyle")]
        own = [text.get_window_extent() for text in ax.texts if text.get_weight() == "bold"]
        assert len(own) == len(boxes) == model.tree_.node_count
        for text, box in zip(own, boxes, strict=True):
            assert box.x0 < text.x0
            assert text.x1 < box.x1
            assert box.y0 < text.y0
            assert text.y1 < box.y1


def test_formulas_are_not_read_into_names() -> None:
    X = {"$x_{": [1.0, 2, 3, 4], "b$": [1.0, 1, 2, 2]}
    model = fasttree.TreeClassifier().fit(X, ["$a^{", "$a^{", "b$", "b$"])
    image(plot.tree(model))
    image(plot.ranking([("$x_{", 0.5), ("b$c", 0.25)]))
    image(plot.importances(model))
    image(plot.confusion_matrix(["$a^{", "b$"], ["$a^{", "$a^{"]))
    image(plot.roc([0, 1, 1, 0], {"$x_{": [0.2, 0.8, 0.4, 0.6]}))
    image(plot.roc(["$a^{", "b$", "c"], np.eye(3)))


def test_errors_by_leaves_are_those_of_the_pruned_trees() -> None:
    (X, y), (X_val, y_val) = noisy(500, 0), noisy(500, 1)
    model = fasttree.TreeClassifier(pruning=None).fit(X, y)
    ax = plot.error_by_leaves(model, X, y, X_val, y_val)
    leaves, training = line(ax, "training").get_data()
    _, other = line(ax, "validation").get_data()
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
    best = line(ax, "lowest")
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
    taken = line(ax, "chosen")
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


def cells_of(ax: Any) -> dict[tuple[int, int], list[str]]:
    """The lines of text by actual and predicted class."""
    return {
        (round(text.get_position()[1]), round(text.get_position()[0])): text.get_text().splitlines()
        for text in ax.texts
    }


def test_the_confusion_matrix_counts_actual_and_predicted_classes() -> None:
    X, y = three_classes(300, 0)
    X_new, y_new = three_classes(200, 1)
    guess = fasttree.C45Classifier().fit(X, y).predict(X_new)
    ax = plot.confusion_matrix(y_new, guess)
    names = ["high", "low", "middle"]
    assert [label.get_text() for label in ax.get_xticklabels()] == names
    assert [label.get_text() for label in ax.get_yticklabels()] == names
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("predicted", "actual")
    found = cells_of(ax)
    shades = np.asarray(ax.images[0].get_array())
    for i, actual in enumerate(names):
        for j, predicted in enumerate(names):
            n = int(np.sum((y_new == actual) & (guess == predicted)))
            share = n / np.sum(y_new == actual)
            assert shades[i, j] == pytest.approx(share)
            assert found.get((i, j), []) == ([f"{n}", f"{100 * share:.1f} %"] if n else [])
    assert ax.yaxis_inverted()  # the first class at the top
    own = pyplot.subplots()[1]
    assert plot.confusion_matrix(y_new, guess, ax=own) is own


def test_confusion_with_weights_an_order_and_classes_without_rows() -> None:
    y, guess = ["b", "a", "a"], ["b", "b", "a"]
    ax = plot.confusion_matrix(y, guess, classes=["c", "b", "a"], sample_weight=[2000, 0.25, 0.5])
    assert [label.get_text() for label in ax.get_yticklabels()] == ["c", "b", "a"]
    assert {place: text[0] for place, text in cells_of(ax).items()} == {
        (1, 1): "2,000",
        (2, 1): "0.25",
        (2, 2): "0.5",
    }
    with pytest.raises(
        ValueError, match="classes must contain all classes of y and predicted, but 'a' is missing"
    ):
        plot.confusion_matrix(y, guess, classes=["b", "c"])
    with pytest.raises(ValueError, match="labels of the same kind"):
        plot.confusion_matrix(y, [1, 2, 1])
    unknown = plot.confusion_matrix([1, 3], [2, 3])  # 2 is no row's class
    assert [label.get_text() for label in unknown.get_yticklabels()] == ["1", "2", "3"]


def test_confusion_of_many_classes_counts_the_rare_ones_together() -> None:
    y = np.repeat(np.arange(30), np.arange(1, 31))
    guess = (y + (np.arange(len(y)) % 2)) % 30
    ax = plot.confusion_matrix(y, guess, most=10)
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert names == [*map(str, range(21, 30)), "21\nothers"]
    found = {place: int(text[0].replace(",", "")) for place, text in cells_of(ax).items()}
    assert sum(found.values()) == len(y)
    assert found[9, 9] == np.sum((y <= 20) & (guess <= 20))
    assert found[9, 0] == np.sum((y <= 20) & (guess == 21))
    assert found[8, 9] == np.sum((y == 29) & (guess == 0))
    with pytest.raises(ValueError, match="most must be an integer of at least 2, got 1"):
        plot.confusion_matrix(y, guess, most=1)


def test_numbers_of_a_confusion_matrix_stay_in_their_cells() -> None:
    y, guess = [0, 1, 1, 0], [0, 1, 0, 1]
    ax = plot.confusion_matrix(y, guess, sample_weight=[1, 123_456_789, 2, 3])
    ax.figure.canvas.draw()
    cell = ax.get_window_extent().width / 2
    for text in ax.texts:
        assert text.get_window_extent().width < cell


def test_importances_of_a_model_say_what_gain_favours() -> None:
    X, y = three_classes(300, 0)
    columns = {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]}
    model = fasttree.TreeClassifier().fit(columns, y)
    ax = plot.importances(model)
    order = np.argsort(-model.feature_importances_)
    assert [bar.get_width() for bar in ax.patches] == pytest.approx(
        model.feature_importances_[order]
    )
    assert [label.get_text() for label in ax.get_yticklabels()] == ["abc"[k] for k in order]
    assert "Gain favours attributes with many values." in ax.get_xlabel()
    assert "Gain favours attributes with many values" in (plot.importances.__doc__ or "")
    fewer = plot.importances(model, most=1)
    assert len(fewer.patches) == 1
    assert "not shown: 2 others" in fewer.get_xlabel()
    assert len(plot.importances(fasttree.TreeClassifier(max_depth=0).fit(columns, y)).patches) == 3


def test_importances_of_a_record_have_whiskers() -> None:
    record = SimpleNamespace(
        names=("x", "y", "z"), means=[0.1, 0.3, -0.02], sds=np.array([0.05, 0.01, 0.03])
    )
    ax = plot.importances(record)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["y", "x", "z"]
    assert [bar.get_width() for bar in ax.patches] == [0.3, 0.1, -0.02]
    ends = [np.array(s)[:, 0] for s in ax.containers[1].lines[2][0].get_segments()]
    assert np.array(ends) == pytest.approx(np.array([[0.29, 0.31], [0.05, 0.15], [-0.05, 0.01]]))
    assert "whiskers: one standard deviation" in ax.get_xlabel()
    assert "Gain" not in ax.get_xlabel()
    for none in (None, [np.nan] * 3):
        bare = plot.importances(SimpleNamespace(names=["x", "y", "z"], means=[1, 2, 3], sds=none))
        assert "whiskers" not in bare.get_xlabel()
    record.metric = "auc"
    assert "how much worse the AUC gets" in plot.importances(record).get_xlabel()


def test_permutation_importances_are_drawn() -> None:
    X, y = three_classes(300, 0)
    model = fasttree.C45Classifier().fit(X, y)
    record = fasttree.permutation_importance(model, *three_classes(200, 1), metric="auc")
    ax = plot.importances(record)
    assert [bar.get_width() for bar in ax.patches] == pytest.approx(sorted(record.means)[::-1])
    assert "how much worse the AUC gets" in ax.get_xlabel()


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
    "confusion": lambda: plot.confusion_matrix(["a", "b", "b"], ["a", "b", "a"]),
    "importances": lambda: plot.importances(fasttree.ID3Classifier().fit(*play_tennis())),
    "three classes": lambda: plot.roc([0, 1, 2, 1], np.eye(3)[[0, 1, 2, 2]]),
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
        (lambda: plot.roc([0, 1, 2], [0.1, 0.2, 0.3]), "y must have two classes, but it has 3"),
        (lambda: plot.roc([0, 1], [[0.1], [0.2]]), r"got the shape \(2, 1\)"),
        (lambda: plot.roc([0, 1], [[[0.1]], [[0.2]]]), r"got the shape \(2, 1, 1\)"),
        (lambda: plot.roc([0, 0], [0.1, 0.2]), "y must have two classes, but it has 1"),
        (lambda: plot.roc([0, 0], [0.1, 0.2], classes=[0, 1]), "it has only 0"),
        (
            lambda: plot.roc([0, 1], [0.1, 0.2], classes=[0, 2]),
            r"y contains the class 1, which is not one of classes, \[0, 2\]",
        ),
        (lambda: plot.roc([0, 1], {}), "empty dict"),
        (lambda: plot.roc([0, 1], {"good": [0.1, 0.2], "bad": [0.1, np.nan]}), "nan in row 1"),
        (
            lambda: plot.roc([0, 1, 2], np.full((3, 3), np.inf)),
            "scores must be finite, got inf in row 0",
        ),
        (lambda: plot.roc_bands([]), "curves must have at least one curve, got none"),
        (lambda: plot.calibration([0, 1, 2], np.eye(3)), "choose one of them with positive="),
        (lambda: plot.importances("oak"), "importances must be a fitted model .* got 'str'"),
        (lambda: plot.importances(fasttree.ID3Classifier()), "call fit first"),
        (lambda: plot.importances(SimpleNamespace(names=[], means=[])), "no attributes"),
        (
            lambda: plot.importances(SimpleNamespace(names=["a"], means=[1, 2])),
            "means of importances must have one value for each of the 1 names",
        ),
        (
            lambda: plot.importances(SimpleNamespace(names=["a"], means=[np.nan])),
            "numbers, got nan",
        ),
        (
            lambda: plot.importances(SimpleNamespace(names=["a"], means=[1], sds=[-1])),
            "must be at least 0, got -1",
        ),
        (lambda: plot.importances(fasttree.ID3Classifier(), most=0), "most must be"),
        (lambda: plot.confusion_matrix([0, 1], [0]), "inconsistent"),
        (lambda: plot.roc([0, 1], [0.1, np.nan]), "scores must be finite, got nan in row 1"),
        (
            lambda: plot.roc([0, 1], [0.1, 0.2], positive="x"),
            "positive must be a class of y, .*, got 'x'",
        ),
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
def test_bad_arguments_are_named_and_leave_no_figure(draw: Any, words: str) -> None:
    before = pyplot.figure()
    with pytest.raises(ValueError, match=words):
        draw()
    assert pyplot.get_fignums() == [before.number]
    assert pyplot.gcf() is before


def test_a_drawing_that_fails_halfway_leaves_no_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("out of ink")

    for place in ("set_xlabel", "set_axis_off", "set_aspect"):
        monkeypatch.setattr(f"matplotlib.axes.Axes.{place}", fail)
    for name, draw in PICTURES.items():
        with pytest.raises(RuntimeError, match="out of ink"):
            draw()
        assert pyplot.get_fignums() == [], name


def test_what_is_no_axes_is_said() -> None:
    with pytest.raises(TypeError, match="ax must be matplotlib Axes or None, got 'here'"):
        plot.roc([0, 1], [0.1, 0.2], ax="here")


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
