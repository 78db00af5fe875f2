# SPDX-License-Identifier: BSD-3-Clause
"""The libraries that are compared, each set to grow one and the same kind of tree.

Gradient boosting becomes one classification tree when it takes one step, from probability 1/2, with
learning rate 1 and nothing that penalises or forbids small leaves: on two classes the gain of the
logistic loss is then a multiple of the gain of the gini index, and the tree is the gini tree.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Task:
    """What every contestant is asked to grow."""

    criterion: str = "gini"
    max_depth: int | None = None
    binned: bool = False
    threads: int = 1
    categorical_split: str = "subset"
    missing: str = "branch"


@dataclass(frozen=True)
class Shape:
    leaves: int | None
    depth: int | None


@dataclass(frozen=True)
class Contestant:
    name: str
    package: str
    make: Callable[[Task], Any]
    shape: Callable[[Any], Shape]
    settings: str
    # What it is given where the table is a frame, see `benchmarks.tables.FORMS`.
    form: str = "pandas"

    @property
    def installed(self) -> bool:
        return importlib.util.find_spec(self.package) is not None


BINS = 255


def _own_shape(model: Any) -> Shape:
    return Shape(int(model.get_n_leaves()), int(model.get_depth()))


def _fasttree(task: Task) -> Any:
    from fasttree import TreeClassifier

    return TreeClassifier(
        criterion=task.criterion,
        max_depth=task.max_depth,
        max_bins=BINS if task.binned else None,
        n_jobs=task.threads,
        categorical_split=task.categorical_split,
        missing=task.missing,
    )


def _own_variant(name: str, settings: str, form: str = "pandas", **changes: Any) -> Contestant:
    package = form.lower() if form == "polars" else "fasttree"
    return Contestant(
        f"fasttree, {name}",
        package,
        lambda task: _fasttree(replace(task, **changes)),
        _own_shape,
        settings,
        form,
    )


def _sklearn(task: Task) -> Any:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(
        criterion=task.criterion, max_depth=task.max_depth, random_state=0
    )


def _onnx(task: Task) -> Any:
    from benchmarks.onnx_tree import OnnxTree

    return OnnxTree(_sklearn(task), task.threads)


def _sklearn_pipeline(task: Task) -> Any:
    from sklearn.compose import ColumnTransformer, make_column_selector
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OrdinalEncoder

    encoder = OrdinalEncoder(
        handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-1
    )
    text = make_column_selector(dtype_exclude="number")
    columns = ColumnTransformer([("text", encoder, text)], remainder="passthrough")
    return make_pipeline(columns, _sklearn(task))


def _sklearn_hist(task: Task) -> Any:
    # Threads: this estimator has no parameter for them and takes OMP_NUM_THREADS.
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(
        max_iter=1,
        learning_rate=1.0,
        max_depth=task.max_depth,
        max_leaf_nodes=None,
        min_samples_leaf=1,
        l2_regularization=0.0,
        max_bins=BINS,
        early_stopping=False,
        random_state=0,
    )


def _sklearn_hist_shape(model: Any) -> Shape:
    tree = model._predictors[0][0]
    return Shape(int(tree.get_n_leaf_nodes()), int(tree.get_max_depth()))


def _snapml(use_histograms: bool) -> Callable[[Task], Any]:
    def make(task: Task) -> Any:
        from snapml import DecisionTreeClassifier

        return DecisionTreeClassifier(
            criterion=task.criterion,
            max_depth=task.max_depth,
            use_histograms=use_histograms,
            hist_nbins=BINS,
            n_jobs=task.threads,
            random_state=0,
        )

    return make


def _snapml_shape(model: Any) -> Shape:
    # snapml does not say how large its tree is, but the serialised model has 16 bytes of header,
    # 24 a node and 4 a leaf for each class but one (none with two classes).
    _, size = model.model_ptr_.get_model()
    a_leaf = 4 * (model.n_classes_ - 1) if model.n_classes_ > 2 else 0
    leaves, rest = divmod(int(size) - 16 + 24, 48 + a_leaf)
    return Shape(leaves if rest == 0 else None, None)


def _xgboost(tree_method: str) -> Callable[[Task], Any]:
    def make(task: Task) -> Any:
        from xgboost import XGBClassifier

        exact = tree_method == "exact"
        return XGBClassifier(
            n_estimators=1,
            learning_rate=1.0,
            base_score=0.5,
            reg_lambda=0.0,
            min_child_weight=0.0,
            tree_method=tree_method,
            # The exact method refuses 0, its word for "no limit".
            max_depth=task.max_depth or (1000 if exact else 0),
            max_bin=None if exact else BINS,
            n_jobs=task.threads,
        )

    return make


def _xgboost_shape(model: Any) -> Shape:
    # One line a node, indented by one tab a level.
    lines = "".join(model.get_booster().get_dump()).splitlines()
    depths = [len(line) - len(line.lstrip("\t")) for line in lines if "leaf=" in line]
    return Shape(len(depths), max(depths))


def _lightgbm(task: Task) -> Any:
    from lightgbm import LGBMClassifier

    if task.max_depth is None:
        raise ValueError("LightGBM has no tree without a limit on its leaves: give max_depth")
    return LGBMClassifier(
        n_estimators=1,
        learning_rate=1.0,
        max_depth=task.max_depth,
        num_leaves=2**task.max_depth,
        min_child_samples=1,
        min_child_weight=0.0,
        reg_lambda=0.0,
        max_bin=BINS,
        n_jobs=task.threads,
        verbose=-1,
    )


def _lightgbm_shape(model: Any) -> Shape:
    tree = model.booster_.trees_to_dataframe()
    # Depths are counted from 1 there.
    return Shape(int(tree["left_child"].isna().sum()), int(tree["node_depth"].max()) - 1)


_ALL = (
    Contestant(
        "fasttree",
        "fasttree",
        _fasttree,
        _own_shape,
        "`TreeClassifier(criterion, max_depth, n_jobs)`; with bins: `max_bins=255`",
    ),
    _own_variant("1 thread", "the same with `n_jobs=1`", threads=1),
    _own_variant("pandas objects", "from pandas with text as objects", form="pandas objects"),
    _own_variant("polars", "from a polars frame", form="polars"),
    _own_variant("Arrow", "from an Arrow table", form="Arrow"),
    _own_variant("fractional", 'with `missing="fractional"`', missing="fractional"),
    _own_variant("surrogate", 'with `missing="surrogate"`', missing="surrogate"),
    Contestant(
        "scikit-learn",
        "sklearn",
        _sklearn,
        _own_shape,
        "`DecisionTreeClassifier(criterion, max_depth)`: exact, always one thread, in float32",
    ),
    *(
        Contestant(
            f"scikit-learn pipeline{suffix}",
            "sklearn",
            _sklearn_pipeline,
            lambda model: _own_shape(model[-1]),
            f"`ColumnTransformer` with `OrdinalEncoder` for text, then the same; from {form}",
            form,
        )
        for suffix, form in (("", "pandas"), (", pandas objects", "pandas objects"))
    ),
    Contestant(
        "scikit-learn hist",
        "sklearn",
        _sklearn_hist,
        _sklearn_hist_shape,
        "`HistGradientBoostingClassifier`, one step, 255 bins, `early_stopping=False`",
    ),
    Contestant(
        "onnxruntime",
        "onnxruntime",
        _onnx,
        _own_shape,
        "scikit-learn's tree as a `TreeEnsembleClassifier`, float32, `intra_op_num_threads`",
    ),
    Contestant(
        "snapml exact",
        "snapml",
        _snapml(use_histograms=False),
        _snapml_shape,
        "`DecisionTreeClassifier(use_histograms=False, n_jobs)`: in float32; its number of leaves "
        "is worked out from the size of the serialised model",
    ),
    Contestant(
        "snapml hist",
        "snapml",
        _snapml(use_histograms=True),
        _snapml_shape,
        "`DecisionTreeClassifier(use_histograms=True, hist_nbins=255, n_jobs)`: in float32",
    ),
    Contestant(
        "XGBoost exact",
        "xgboost",
        _xgboost("exact"),
        _xgboost_shape,
        '`XGBClassifier(tree_method="exact")`, one step (see above); full depth: `max_depth=1000`; '
        "in float32",
    ),
    Contestant(
        "XGBoost hist",
        "xgboost",
        _xgboost("hist"),
        _xgboost_shape,
        '`XGBClassifier(tree_method="hist", max_bin=255)`, one step; in float32',
    ),
    Contestant(
        "LightGBM",
        "lightgbm",
        _lightgbm,
        _lightgbm_shape,
        "`LGBMClassifier(max_bin=255, num_leaves=2**max_depth)`, one step; best-first, but with "
        "that many leaves allowed no admissible split is left out",
    ),
)
CONTESTANTS = {contestant.name: contestant for contestant in _ALL}


def accuracy(model: Any, X: Any, y: Any) -> float:
    """The same measure for everybody: snapml's own `score` is a loop of Python."""
    return float(np.mean(model.predict(X) == np.asarray(y)))
