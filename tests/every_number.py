# SPDX-License-Identifier: BSD-3-Clause
"""What the library computes, one line of text for each kind of number: to be compared between processors.

The tables are made from whole numbers alone, so that they are the same everywhere: numpy's other distributions ask the
C library for exp and log.
"""

from __future__ import annotations

import hashlib
import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

import fasttree
from fasttree import datasets, pruning
from fasttree.growth.choosers.costs import nunez
from fasttree.mml.averaging import average_prunings, pruning_weights
from fasttree.mml.message import message_length
from fasttree.mml.options import choices_of
from fasttree.rules.serialise import arrays_of
from fasttree.stats import measures, metrics
from fasttree.studies.figures import calibration_line, wilson
from fasttree.studies.logistic import fit_logistic
from fasttree.tables.training import read_table

N_ROWS = 1200
CHANCE = ("ami", "smi", "adjusted_gini", "standardised_gini", "ad", "confidence_entropy")


def hexes(values: Any) -> str:
    """All the digits of some numbers."""
    return " ".join(float(value).hex() for value in np.ravel(values))


def digest(arrays: Iterable[Any]) -> str:
    found = hashlib.sha256()
    for array in arrays:
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()


def table(seed: int = 0) -> tuple[dict[str, Any], np.ndarray, np.ndarray]:
    """Numbers, categories and holes, three classes, and weights with fractions."""
    rng = np.random.default_rng(seed)
    x, z, u = rng.random((3, N_ROWS))
    few = rng.integers(0, 9, N_ROWS).astype(float)
    colour, town = rng.integers(0, 4, N_ROWS), rng.integers(0, 15, N_ROWS)
    score = 2 * x + (colour == 2) - 0.2 * few * (z > 0.4) + 0.9 * u + 0.1 * (town % 3)
    y = (score > 0.6).astype(int) + (score > 1.5)
    few[rng.random(N_ROWS) < 0.08] = np.nan
    town[rng.random(N_ROWS) < 0.05] = -1
    X = {
        "x": x,
        "z": np.where(rng.random(N_ROWS) < 0.1, np.nan, z),
        "few": few,
        "colour": fasttree.Categorical.from_codes(colour, list("rgbw")),
        "town": fasttree.Categorical.from_codes(town, [f"t{k}" for k in range(15)]),
    }
    return X, y, rng.integers(1, 1000, N_ROWS) / 700


def models() -> Iterator[tuple[str, Callable[[], Any]]]:
    def made(kind: Any, **parameters: Any) -> tuple[str, Callable[[], Any]]:
        words = ", ".join(f"{name}={value}" for name, value in parameters.items())
        return f"{kind.__name__}({words})", lambda: kind(**parameters)

    plain = fasttree.TreeClassifier
    yield from (made(kind) for kind in (plain, fasttree.ID3Classifier, fasttree.C45Classifier))
    yield made(fasttree.C45Classifier, compat="j48", pruning=pruning.ErrorBased(estimate="normal"))
    yield made(fasttree.CARTClassifier)
    yield from (made(kind) for kind in (fasttree.MMLClassifier, fasttree.BayesTreeClassifier))
    yield from (made(fasttree.SMMLClassifier, alpha=alpha) for alpha in (0.5, 1.3))
    yield made(fasttree.MMLClassifier, categorical_split="subset", lookahead=1)
    yield made(fasttree.MMLClassifier, categorical_split="grouped", missing="branch")
    for method in pruning.METHODS:
        yield made(plain, pruning=method, max_depth=8, criterion="entropy", missing="branch")
    yield made(plain, pruning=pruning.CostComplexity(impurity="entropy"), min_samples_leaf=8)
    yield made(plain, pruning=pruning.ErrorBased(0.2, "binomial"), missing="fractional")
    for criterion in ("ami", "smi", "confidence_entropy"):
        yield made(plain, criterion=criterion, max_depth=3, categorical_split="multiway")
    yield made(plain, significance=0.05, criterion="gain_ratio", categorical_split="multiway")
    prices = {"x": 3.5, "z": 1.1, "few": 0.4, "colour": 2.0, "town": 0.7}
    for function in (nunez(0.35), "tan_schlimmer"):
        yield made(plain, attribute_costs=prices, cost_function=function, max_depth=5)
    yield made(plain, class_weight={0: 0.3, 1: 1.7, 2: 0.9}, max_leaves=20, missing="fractional")
    cost = [[0, 1.3, 2.7], [0.6, 0, 1.1], [3.1, 0.2, 0]]
    yield made(plain, misclassification_cost=cost, pruning="cost_complexity", max_depth=7)
    yield made(fasttree.RuleClassifier)
    yield made(fasttree.RuleClassifier, base=fasttree.SMMLClassifier(), estimate="validation")


def of_models() -> Iterator[tuple[str, str]]:
    X, y, weight = table()
    hidden, truth, _ = table(1)
    for name, make in models():
        for weights in (None, weight):
            model = make().fit(X, y, sample_weight=weights)
            if isinstance(model, fasttree.RuleClassifier):
                arrays = arrays_of(model.rules_)
                found = digest(arrays[key] for key in sorted(arrays))
            else:
                found = model.tree_.fingerprint() + hexes(model.tree_.importances())
            shares = model.predict_proba(hidden)
            loss = metrics.log_loss(truth, shares, sample_weight=weights)
            suffix = "" if weights is None else ", weighted"
            yield name + suffix, f"{found} {digest([shares])} {hexes([loss])}"


def of_trees() -> Iterator[tuple[str, str]]:
    X, y, weight = table()
    tree = fasttree.TreeClassifier(max_depth=6, missing="fractional").fit(X, y, weight).tree_
    choices = choices_of(tree, X)
    for cut_code in ("uniform", "dyadic"):
        found = message_length(tree, choices, alpha="opt", cut_code=cut_code)
        yield f"message, {cut_code}", hexes([found.bits, *found.parts.values(), *found.subtree])
    for prior in ("half", "wallace_patrick"):
        weights = pruning_weights(tree, choices, prior=prior, alpha="opt")
        averaged = average_prunings(tree, choices, prior=prior, alpha="opt")
        yield f"averages, {prior}", hexes(weights.log_evidence) + averaged.fingerprint()
    path = pruning.cost_complexity_path(tree, "entropy")
    yield "path", hexes([*path.alphas, *path.risk])
    yield "p values of splits", hexes(pruning.split_p_values(tree))
    depths = fasttree.select_depth(
        X, y, estimator=fasttree.TreeClassifier(max_depth=4), sample_weight=weight
    )
    yield "depths", hexes([*depths.errors, *depths.standard_error])


def of_measures() -> Iterator[tuple[str, str]]:
    rng = np.random.default_rng(2)
    tables = rng.integers(0, 12, (60, 4, 3))
    weighed = tables * (rng.integers(1, 1000, tables.shape) / 700)
    for name in CHANCE:
        yield (
            name,
            hexes([measures.score_tables(name, tables), measures.score_tables(name, weighed)]),
        )
    yield "large tables", hexes(measures.score_tables("smi", tables * 40))
    for function in (
        measures.entropy,
        measures.gini,
        measures.information_gain,
        measures.gain_ratio,
        measures.gini_reduction,
        measures.g_statistic,
        measures.chi_square,
    ):
        of_counts = function in (measures.entropy, measures.gini)
        given = [one.ravel() if of_counts else one for one in weighed]
        yield function.__name__, hexes([function(one) for one in given])
    small = rng.integers(0, 4, (40, 2, 3))
    for statistic in ("probability", "chi_square", "gain", "gini"):
        yield f"exact p, {statistic}", hexes(measures.p_values(small, statistic=statistic))
    squares = rng.integers(0, 40, (60, 2, 2))
    yield "exact p, 2 x 2", hexes(measures.p_values(squares, exact=True, statistic="gain"))
    columns = rng.integers(-9, 9, (40, 2, 1001))
    pairs = [(measures.correlation(*pair), measures.covariance(*pair)) for pair in columns / 7]
    yield "correlation", hexes(pairs)
    x, u = rng.random((2, 300))
    yield "mic", hexes([measures.mic(x, x * x + u), measures.class_mic(x, (x + u > 1).astype(int))])
    yield "cuts", hexes(measures.discretise(x, (x + u / 3 > 0.7).astype(int) + (x > 0.2)))
    X, y, weight = table()
    for criterion in (*CHANCE, "mic", "gain_ratio", "evidence", "message_length"):
        try:
            ranking = fasttree.rank_attributes(X, y, criterion=criterion, sample_weight=weight)
        except ValueError:  # not every criterion ranks
            continue
        yield f"ranking, {criterion}", hexes([one.score or 0.0 for one in ranking])


def of_rows() -> Iterator[tuple[str, str]]:
    X, y, weight = table()
    rng = np.random.default_rng(3)
    shares = rng.integers(1, 50, (N_ROWS, 3)) / 1.0
    shares /= shares[:, :1] + shares[:, 1:2] + shares[:, 2:]
    for weights in (None, weight):
        found = [
            function(y, shares, sample_weight=weights)
            for function in (
                metrics.log_loss,
                metrics.brier_score,
                metrics.roc_auc,
                metrics.roc_auc_se,
            )
        ]
        yield f"metrics, {'plain' if weights is None else 'weighted'}", hexes(found)
    areas, covariance = metrics.roc_auc_covariance(y > 0, [shares[:, 1], shares[:, 2]])
    yield "areas", hexes([*areas, *covariance.ravel(), metrics.hanley_mcneil(0.82, 981, 4117)])
    yield "calibration", hexes(calibration_line(y > 0, shares[:, 1]))
    limits = [wilson(events, 40.0) for events in range(41)]
    yield "limits", hexes([(one.low, one.high) for one in limits])
    compared = fasttree.compare_methods(X, y, ["CART", "MML"], folds=3, sample_weight=weight)
    columns = compared.to_frame("dict")
    numbers = [columns[name] for name in ("auc", "log_loss", "brier", "auc_sd", "brier_se")]
    yield "comparison", hexes(numbers)
    yield "p of a comparison", hexes([one.p_value for one in compared.differences("log_loss")])


def of_studies() -> Iterator[tuple[str, str]]:
    X, y, _ = table()
    read, rows = read_table(X), np.arange(N_ROWS)
    model = fit_logistic(read, rows, y > 0)
    fit = model.fit
    yield "coefficients", hexes(fit.coefficients)
    yield "covariance", hexes(fit.covariance)
    yield "p of attributes", hexes(list(model.p_values.values()))
    yield "logistic", hexes([fit.log_likelihood, *model.predict(read, rows[:100])])
    yield "cohort", digest([datasets.make_cesarean_cohort(1000).probability])


def numbers() -> dict[str, str]:
    return dict([*of_models(), *of_trees(), *of_measures(), *of_rows(), *of_studies()])


def library_digits() -> dict[str, str]:
    """What numpy, BLAS and the C library make of the same numbers: it shows that a setting has changed something."""
    rng = np.random.default_rng(0)
    x = 20 * rng.random(20_000)
    return {
        "libm": digest([[math.exp(value) for value in x.tolist()]]),
        "numpy": digest([np.exp(x), np.log(x)]),
        "blas": digest([x.reshape(100, 200) @ x.reshape(200, 100)]),
    }


def features() -> dict[str, bool]:
    """What numpy found that the processor has, and did not leave out."""
    from numpy._core import _multiarray_umath as core

    return dict(core.__cpu_features__)


def blas_kernels() -> list[str]:
    try:
        import threadpoolctl
    except ImportError:
        return []
    return [one["architecture"] for one in threadpoolctl.threadpool_info() if "architecture" in one]


if __name__ == "__main__":
    found = {
        "numbers": numbers(),
        "library": library_digits(),
        "features": features(),
        "kernels": blas_kernels(),
    }
    json.dump(found, sys.stdout)
