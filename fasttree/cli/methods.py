# SPDX-License-Identifier: BSD-3-Clause
"""The methods by their names on the command line, and ``--prune`` and ``--set`` as estimators."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from fasttree.base.wording import near
from fasttree.cli import lists
from fasttree.cli.errors import UsageError, blame
from fasttree.cli.tasks import CLASSIFICATION, TASKS


class Method(NamedTuple):
    title: str  # among the methods of `fasttree.compare`
    what: str


METHODS = {
    "tree": Method("tree", "gini, binary splits, fully grown"),
    "id3": Method("ID3", "information gain, a branch for each category, not pruned"),
    "c45": Method("C4.5", "C4.5 release 8: gain ratio, error-based pruning"),
    "cart": Method("CART", "gini, surrogates, cost-complexity pruning, 1-SE rule"),
    "cart0": Method("CART0", "CART with the 0-SE rule: larger trees"),
    "smml": Method("SMML", "shortest message: small trees without a test set"),
    "mml": Method("MML", "average over the prunings of a tree grown by message length"),
    "bayes": Method("Bayes", "Bayesian average over the prunings of a tree"),
    "rules": Method("rules", "rules from a C4.5 tree, each pruned separately"),
}
# Those that predict numbers too, by the names of the classes.
REGRESSORS = {"tree": "TreeRegressor", "cart": "CARTRegressor", "cart0": "CARTRegressor"}
# Who names no method gets a tree of the size that cross-validation finds.
DEFAULT, CAREFUL = "tree", "cost_complexity"
# What a table or a function stands behind; the command line has options for the columns.
NOT_SETTABLE = (
    "attribute_costs",
    "base",
    "categorical_features",
    "cost_function",
    "misclassification_cost",
    "ordered_features",
    "pruning",
)


def complete_method(incomplete: str) -> list[tuple[str, str]]:
    return [(name, m.what) for name, m in METHODS.items() if name.startswith(incomplete)]


def pruning_names() -> list[str]:
    """What --prune takes."""
    from fasttree.pruning import METHODS as WAYS

    return ["none", *WAYS]


def check_method(name: str) -> str:
    """The name of a method, whatever its case."""
    if name.lower() not in METHODS:
        raise UsageError(f"--method {name!r} is not a known method: {near(name, METHODS)}")
    return name.lower()


def settings_of(
    given: Iterable[str] | None, min_category_count: float | None = None
) -> dict[str, Any]:
    """Those of --set, and what has an option of its own."""
    settings = lists.read_settings(given)
    if min_category_count is not None:
        if "min_category_count" in settings:
            raise UsageError(
                "--min-category-count and --set min_category_count: give only one of them"
            )
        settings["min_category_count"] = min_category_count
    return settings


def estimator_of(
    method: str,
    prune: str | None = None,
    settings: Mapping[str, Any] | None = None,
    task: str = CLASSIFICATION,
) -> Any:
    """An unfitted estimator whose parameters are known to be legal."""
    settings = dict(settings or {})
    estimator = _unset(method, task)
    if method == "rules":
        _set_rules(estimator, prune, settings)
    else:
        _set_tree(method, estimator, prune, settings)
    with blame(UsageError, f"--method {method}: "):
        _check(estimator)
    return estimator


def estimators_of(
    method: str, prune: str | None, settings: Mapping[str, Any], said: str | None
) -> dict[str, Any]:
    """The estimator for each task that may come, or what is wrong with it; an error if that is so for all of them."""
    found: dict[str, Any] = {}
    tasks = TASKS if said is None and method in REGRESSORS else (said or CLASSIFICATION,)
    for task in tasks:
        try:
            found[task] = estimator_of(method, prune, settings, task)
        except UsageError as error:
            found[task] = error
    if all(isinstance(one, UsageError) for one in found.values()):
        raise next(iter(found.values()))
    return found


def _unset(method: str, task: str) -> Any:
    """The estimator of a method with its own settings."""
    from fasttree.evaluation.compare import METHODS as MAKERS

    if task == CLASSIFICATION:
        return MAKERS[METHODS[method].title]()
    import fasttree

    if method not in REGRESSORS:
        raise UsageError(
            f"--method {method} predicts classes only: for numbers, use --method {' or '.join(REGRESSORS)}"
        )
    estimator = getattr(fasttree, REGRESSORS[method])()
    if method == "cart0":
        estimator.set_params(pruning=fasttree.pruning.CostComplexity(se=0))
    return estimator


def _check(estimator: Any) -> None:
    """Refuses illegal values before a large file is read."""
    estimator.check()
    trial = type(estimator)(**estimator.get_params(deep=False))
    if "pruning" in trial.get_params():  # which may need more rows than these
        trial.set_params(pruning=None)
    trial.fit([[0.0], [1.0], [0.0], [1.0]], [0, 1, 0, 1])


def _set_tree(method: str, estimator: Any, prune: str | None, settings: dict[str, Any]) -> None:
    can_prune = "pruning" in estimator.get_params(deep=False)
    if prune is not None:
        if not can_prune:
            raise UsageError(
                f"--prune {prune}: {METHODS[method].title} controls the size of the tree itself and is not pruned: "
                "leave --prune out"
            )
        estimator.set_params(pruning=_way(prune))
    own = _settable(estimator)
    of_pruning = _pruning_parameters(estimator.pruning) if can_prune else {}
    for name in settings:
        if name not in own and name not in of_pruning:
            raise _unknown(name, method, [*own, *of_pruning])
    estimator.set_params(**{n: v for n, v in settings.items() if n in own})
    changed = {n: v for n, v in settings.items() if n not in own}
    if changed:
        estimator.set_params(pruning=_changed(estimator.pruning, changed))


def _set_rules(estimator: Any, prune: str | None, settings: dict[str, Any]) -> None:
    """Settings that rules do not have are those of the tree that they come from."""
    from fasttree import C45Classifier

    if prune is not None:
        raise UsageError(
            f"--prune {prune}: --method rules prunes each rule separately: leave --prune out"
        )
    base = C45Classifier(pruning=None)
    own, of_base = _settable(estimator), _settable(base)
    for name, value in settings.items():
        if name in own:
            estimator.set_params(**{name: value})
        elif name in of_base:
            base.set_params(**{name: value})
        else:
            raise _unknown(name, "rules", [*own, *of_base])
    estimator.set_params(base=base)


def _settable(estimator: Any) -> list[str]:
    return [name for name in estimator.get_params(deep=False) if name not in NOT_SETTABLE]


def _unknown(name: str, method: str, known: Sequence[str]) -> UsageError:
    if name == "pruning":
        return UsageError("--set pruning=...: use --prune")
    if name == "categorical_features":
        return UsageError(f"--set {name}=...: use --categorical COL")
    if name == "ordered_features":
        return UsageError(
            f"--set {name}=...: available in Python only; in Parquet and Arrow files, use an ordered dictionary column"
        )
    if name in NOT_SETTABLE:
        return UsageError(
            f"--set {name}=...: available in Python only, since its value is a table or a function"
        )
    return UsageError(
        f"--set {name}=...: --method {method} has no such parameter: {near(name, known)}"
    )


def _way(prune: str) -> str | None:
    if prune == "none":
        return None
    name = prune.replace("-", "_")
    if name not in pruning_names():
        raise UsageError(
            f"--prune {prune!r} is not a pruning method: {near(name, pruning_names())}"
        )
    return name


def _pruning_parameters(pruning: Any) -> Mapping[str, Any]:
    from fasttree.pruning import METHODS as WAYS

    if pruning is None:
        return {}
    way = WAYS[pruning] if isinstance(pruning, str) else type(pruning)
    return inspect.signature(way).parameters


def _changed(pruning: Any, changes: dict[str, Any]) -> Any:
    from fasttree.pruning import METHODS as WAYS

    with blame(UsageError, "--set: "):
        way = WAYS[pruning]() if isinstance(pruning, str) else pruning
        return replace(way, **changes)
