# SPDX-License-Identifier: BSD-3-Clause
"""Draws the pictures of gallery.md into docs/gallery/: `python docs/make_gallery.py`. The same bytes every time."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

import fasttree
from fasttree import plot
from fasttree.datasets import make_cesarean_cohort, play_tennis
from fasttree.studies import cesarean

HERE = Path(__file__).parent / "gallery"
METADATA = {"Software": None}  # no version in the files


def noisy(n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Four numbers, three of which matter, and labels of which one in five is wrong."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n_rows, 4))
    y = (X[:, 0] + X[:, 1] * X[:, 2] > 0) ^ (random.random(n_rows) < 0.2)
    return X, np.where(y, "yes", "no")


def roc() -> Any:
    X, y = noisy(2_000, seed=0)
    X_new, y_new = noisy(2_000, seed=1)
    models = {
        "C4.5": fasttree.C45Classifier(),
        "SMML": fasttree.SMMLClassifier(),
        "MML": fasttree.MMLClassifier(),
    }
    return plot.roc(
        y_new, {name: model.fit(X, y).predict_proba(X_new) for name, model in models.items()}
    )


def several(n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Four numbers, of which one says most of the three classes."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n_rows, 4))
    level = X[:, 0] + X[:, 1] * X[:, 2] / 2 + random.normal(scale=0.5, size=n_rows)
    return X, np.array(["mild", "moderate", "severe"])[np.digitize(level, [-0.4, 0.9])]


def roc_classes() -> Any:
    X_new, y_new = several(2_000, seed=1)
    model = fasttree.MMLClassifier().fit(*several(2_000, seed=0))
    return plot.roc(y_new, model.predict_proba(X_new))


def confusion() -> Any:
    X_new, y_new = several(2_000, seed=1)
    model = fasttree.MMLClassifier().fit(*several(2_000, seed=0))
    return plot.confusion_matrix(y_new, model.predict(X_new))


def importances() -> Any:
    X, y, _ = make_cesarean_cohort(6_000)
    keep = ("parity", "previous_cesarean", "presentation", "age", "admission_weight", "insurance")
    model = fasttree.C45Classifier().fit({name: X[name] for name in keep}, y)
    return plot.importances(model)


def roc_bands() -> Any:
    study = cesarean.run(n_rows=6_000, seeds=5, methods=["C4.5", "SMML", "Logistic"])
    return plot.roc_bands([c for c in study.groups[0].roc if c.method != "Logistic complete"])


def tree() -> Any:
    X, y, _ = make_cesarean_cohort(6_000)
    keep = ("parity", "previous_cesarean", "presentation", "age")
    model = fasttree.SMMLClassifier().fit({name: X[name] for name in keep}, y)
    return plot.tree(model, max_depth=2)


def tennis() -> Any:
    return plot.tree(fasttree.ID3Classifier().fit(*play_tennis()))


def errors() -> Any:
    X, y = noisy(1_000, seed=0)
    model = fasttree.TreeClassifier(pruning=None).fit(X, y)
    return plot.error_by_leaves(model, X, y, *noisy(1_000, seed=1))


def path() -> Any:
    return plot.pruning_path(fasttree.CARTClassifier().fit(*noisy(1_000, seed=0)))


def ranking() -> Any:
    return plot.ranking(fasttree.rank_attributes(*play_tennis(), criterion="entropy"))


def calibration() -> Any:
    X, y = noisy(4_000, seed=0)
    X_new, y_new = noisy(4_000, seed=1)
    models = {
        "ID3": fasttree.ID3Classifier(),
        "SMML": fasttree.SMMLClassifier(),
        "MML": fasttree.MMLClassifier(),
    }
    return plot.calibration(
        y_new, {name: m.fit(X, y).predict_proba(X_new)[:, 1] for name, m in models.items()}
    )


PICTURES: dict[str, Callable[[], Any]] = {
    "roc": roc,
    "roc_classes": roc_classes,
    "roc_bands": roc_bands,
    "confusion": confusion,
    "calibration": calibration,
    "tennis": tennis,
    "tree": tree,
    "errors": errors,
    "path": path,
    "ranking": ranking,
    "importances": importances,
    "impurity": plot.impurity_curves,
}


def svg() -> str:
    """The other drawing of a tree, without matplotlib."""
    model = fasttree.ID3Classifier().fit(*play_tennis())
    return str(model.export("svg", title="Play tennis?", target="PlayTennis"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=HERE)
    folder = parser.parse_args().folder
    matplotlib.use("Agg")
    matplotlib.rcParams.update({"savefig.dpi": 110, "font.family": "DejaVu Sans"})
    from matplotlib import pyplot

    folder.mkdir(parents=True, exist_ok=True)
    for name, draw in PICTURES.items():
        figure = draw().figure
        figure.savefig(folder / f"{name}.png", metadata=METADATA, bbox_inches="tight")
        pyplot.close(figure)
    (folder / "tennis.svg").write_text(svg(), encoding="utf-8")


if __name__ == "__main__":
    main()
