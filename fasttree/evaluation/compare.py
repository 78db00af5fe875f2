# SPDX-License-Identifier: BSD-3-Clause
"""compare_methods: several methods judged by cross-validation on the same folds."""

from __future__ import annotations

import copy
import numbers
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from fasttree import estimators
from fasttree.base.checks import check_integer, check_max_bins, check_n_jobs, check_seed, is_whole
from fasttree.base.hints import knowing_its_parameters, meant
from fasttree.base.progress import each, reported, step
from fasttree.base.values import short_repr, to_python
from fasttree.encoding.folds import (
    Folds,
    choose_folds,
    drawn_of_classes,
    given_folds,
    value_hashes,
    with_classes,
)
from fasttree.estimators.protocol import Estimator
from fasttree.evaluation.comparison import Comparison, FoldResult
from fasttree.evaluation.fold_results import Rows, judge
from fasttree.pruning import CostComplexity
from fasttree.tables.doubts import warn_of_columns
from fasttree.tables.training import (
    Table,
    Target,
    read_groups,
    read_table,
    read_target,
    read_weights,
)

# The library's own methods, by the names that users and tables call them.
METHODS: dict[str, Callable[[], Any]] = {
    "tree": estimators.TreeClassifier,
    "ID3": estimators.ID3Classifier,
    "C4.5": estimators.C45Classifier,
    "CART": estimators.CARTClassifier,
    # The best tree, not the smallest as good.
    "CART0": lambda: estimators.CARTClassifier(pruning=CostComplexity(se=0)),
    "Bayes": estimators.BayesTreeClassifier,
    "MML": estimators.MMLClassifier,
    "SMML": estimators.SMMLClassifier,
    "rules": estimators.RuleClassifier,
}


@knowing_its_parameters
@reported
def compare_methods(
    X: Any,
    y: Any,
    methods: Any = None,
    *,
    folds: Any = None,
    repeats: int = 1,
    groups: Any = None,
    random_state: int | None = 0,
    sample_weight: Any = None,
    n_jobs: int | None = None,
    categorical_features: Any = "from_dtype",
    ordered_features: Any = "from_dtype",
    max_bins: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    verbose: int = 0,
) -> Comparison:
    """Fit every method to the rows outside each fold and evaluate it on the rows inside.

    All methods use the same folds, which do not depend on the order of the rows. Each model is exactly the one that
    `fit` makes of the training rows alone: categories, classes and bins that occur only in held-out rows are unknown to
    it.

    Parameters
    ----------
    X, y
        As for ``fit`` of any estimator.
    methods : None, list of names, or dict from name to estimator
        None: all the library's own methods, `fasttree.compare.METHODS`. Estimators are copied; the originals are not
        fitted. Those of other libraries need ``fit`` and ``predict_proba``, and receive rows of X as it is (use a
        Pipeline, for example).
    folds : int, array of fold numbers, (train, test) splits or None
        None: 10, or as many as the smallest class has rows (with groups: as many as the groups in which it occurs). A
        number must not be greater than that (with groups: not greater than the number of groups).
    repeats : int
        How many times the rows are assigned to new folds. The standard errors of differences allow for it.
    groups : column
        The group of each row (the patient, for example). The rows of a group are in one fold, here and in the pruning
        of fasttree's estimators.
    random_state : int or None
        The seed for drawing the folds. None is 0. It does not change the estimators.
    sample_weight : array
        Used in training and in evaluation; rows of weight 0 are ignored. A row of integer weight w is drawn like w
        rows, so it may be in several folds.
    n_jobs : int or None
        The number of threads of each fit, for fasttree's estimators that do not set it themselves.
    categorical_features, ordered_features, max_bins
        As for `TreeClassifier`, for fasttree's estimators that do not set them themselves.
    progress : function
        Called with the number of finished fits and the total number of fits.
    verbose : int
        1: a call that takes longer than two seconds reports its progress on stderr. 2: every step is reported.

    >>> import fasttree
    >>> X, y = fasttree.datasets.play_tennis()
    >>> methods = {"ID3": fasttree.ID3Classifier(), "stump": fasttree.ID3Classifier(max_depth=1)}
    >>> comparison = fasttree.compare_methods(X, y, methods)
    >>> print(comparison.to_text(["accuracy", "auc", "leaves"]))
    5 folds of 14 rows, mean ± standard error (corrected); * best
    <BLANKLINE>
    method         accuracy               AUC      leaves
    ID3     0.4667 ± 0.2003*  0.5000 ± 0.2656*  6.8 ± 1.3
    stump   0.4333 ± 0.1002   0.4000 ± 0.0920   2.4 ± 0.4
    """
    methods = _read_methods(methods, check_n_jobs(n_jobs))
    max_bins = check_max_bins(max_bins)
    begin = time.perf_counter()
    table = read_table(X, categorical_features, ordered_features)
    target = read_target(y, table.n_rows)
    warn_of_columns(table)
    weight = read_weights(sample_weight, table.n_rows)
    group_of_row = read_groups(groups, table.n_rows)
    draws = _read_folds(folds, repeats, table, target, weight, group_of_row, random_state)
    rows = Rows(X, y, table, target, weight, group_of_row)
    encode_seconds = time.perf_counter() - begin
    takes_columns = {name: _takes_columns(one, max_bins) for name, one in methods.items()}
    splits = [(repeat, fold) for repeat, drawn in enumerate(draws) for fold in drawn.filled()]
    results: dict[str, list[FoldResult]] = {name: [] for name in methods}
    n_done, n_all = 0, len(methods) * len(splits)

    def which_fit(method: tuple[str, Any]) -> str:
        return f"fit {n_done + 1} of {n_all}, {method[0]}"

    for repeat, fold in splits:
        begin = time.perf_counter()
        split = rows.split(draws[repeat], fold, max_bins, n_jobs)
        encode_seconds += time.perf_counter() - begin
        for name, estimator in each(methods.items(), which_fit):
            step("begins")
            try:
                results[name].append(judge(name, estimator, split, takes_columns[name], repeat))
            except Exception as error:
                error.add_note(f"compare_methods: raised by the method {name!r} on fold {fold}")
                raise
            n_done += 1
            if progress is not None:
                progress(n_done, n_all)
    in_order = [result for of_method in results.values() for result in of_method]
    library = type(X).__module__.partition(".")[0]
    of_rows = [drawn.of_rows() for drawn in draws]
    fold_of_row = of_rows[0] if len(draws) == 1 else np.column_stack(of_rows)
    return Comparison(tuple(methods), fold_of_row, in_order, encode_seconds, library, draws)


# -- what the user says ----------------------------------------------------------------------------


def _read_methods(methods: Any, n_jobs: int | None) -> dict[str, Any]:
    """Estimators of our own to be fitted, by name."""
    if methods is None:
        chosen = {name: make() for name, make in METHODS.items()}
    elif isinstance(methods, Mapping):
        chosen = dict(methods)
    else:
        names = [methods] if isinstance(methods, str) else methods
        if not isinstance(names, Iterable):
            raise TypeError(
                f"methods must be None, a list of names or a dict {{name: estimator}}, got {short_repr(methods)}"
            )
        chosen = {}
        for name in names:
            if not isinstance(name, str):
                raise TypeError(
                    f"methods contains {short_repr(name)}, which is not a name: pass a dict {{name: estimator}}"
                )
            if name not in METHODS:
                known = ", ".join(map(repr, METHODS))
                raise ValueError(
                    f"methods contains {name!r}, but the library's methods are {known}: "
                    f"pass others as a dict {{name: estimator}}{meant(name, METHODS)}"
                )
            chosen[name] = METHODS[name]()
    if not chosen:
        raise ValueError("methods is empty: pass at least one method, or None for all")
    return {_name(name): _copy(name, estimator, n_jobs) for name, estimator in chosen.items()}


def _name(name: Any) -> str:
    if not isinstance(name, str) or not name:
        raise TypeError(f"the names in methods must be non-empty strings, got {short_repr(name)}")
    return name


def _copy(name: str, estimator: Any, n_jobs: int | None) -> Any:
    """The user's estimator stays as it is."""
    if isinstance(estimator, type) or not all(
        hasattr(estimator, needed) for needed in ("fit", "predict", "predict_proba")
    ):
        raise TypeError(
            f"the method {name!r} must be an estimator with fit, predict and predict_proba, got {short_repr(estimator)}"
        )
    if not isinstance(estimator, Estimator):
        # A copy of a fitted estimator might go on from where it is; scikit-learn's clone begins anew.
        clone = getattr(sys.modules.get("sklearn.base"), "clone", None)
        can_clone = clone is not None and hasattr(estimator, "get_params")
        return clone(estimator) if can_clone and clone is not None else copy.deepcopy(estimator)
    own = copy.deepcopy(estimator)
    if n_jobs is not None and "n_jobs" in own.get_params() and own.get_params()["n_jobs"] is None:
        own.set_params(n_jobs=n_jobs)
    return own


def _takes_columns(estimator: Any, max_bins: int | None) -> bool:
    """Can the estimator be fitted to the columns as they have been encoded for all?"""
    return (
        isinstance(estimator, estimators.TreeClassifier)
        and all(
            isinstance(choice, str) and choice == "from_dtype"
            for choice in (estimator.categorical_features, estimator.ordered_features)
        )
        and estimator.max_bins in (None, max_bins)
    )


def _read_folds(
    folds: Any,
    repeats: Any,
    table: Table,
    target: Target,
    weight: np.ndarray | None,
    groups: np.ndarray | None,
    random_state: Any,
) -> tuple[Folds, ...]:
    """The folds of each repeat."""
    seed = check_seed(random_state)
    repeats = check_integer("repeats", repeats, 1)
    is_number = folds is None or isinstance(folds, (bool, numbers.Number))
    if not is_number:
        for name, says in (("repeats", repeats > 1), ("groups", groups is not None)):
            if says:
                raise ValueError(
                    f"{name} was passed, but folds assigns the rows to folds: pass only one of them, or a number of "
                    "folds"
                )
        return (Folds.whole(given_folds(folds, table.n_rows), weight),)
    if folds is not None and not is_whole(folds):
        raise ValueError(
            f"folds must be an integer, a fold number for each row, or (train, test) splits, got {short_repr(folds)}"
        )
    if folds is not None:
        check_integer("folds", folds, 2)
    counted = np.flatnonzero(np.ones(table.n_rows) if weight is None else weight)
    target, weight = target.take(counted), None if weight is None else weight[counted]
    groups = None if groups is None else groups[counted]
    rows = drawn_of_classes(target.codes, len(target.classes), weight, groups)
    rarest = int(rows.argmin())
    if groups is None and rows[rarest] < 2:
        raise ValueError(
            f"the class {short_repr(to_python(target.classes[rarest]))} has 1 row, but cross-validation requires at "
            f"least 2 rows "
            "of each class: leave it out, merge it with another class, or pass folds as a fold number for each row"
        )
    hashes = value_hashes(table.take(counted).values(), len(counted), int(seed))
    draws = []
    for repeat in range(int(repeats)):
        anew = with_classes(hashes, np.full(len(hashes), repeat)) if repeat else hashes
        drawn = choose_folds(
            folds, anew, target.codes, target.classes, weight, otherwise=None, groups=groups
        )
        assert drawn is not None  # or there is an error
        draws.append(drawn.at(counted, table.n_rows))
    return tuple(draws)
