# SPDX-License-Identifier: BSD-3-Clause
"""Models as people read them: a tree's nodes and rules with counts and limits, a regression's coefficients."""

from __future__ import annotations

import importlib
import math
import warnings
from typing import Any

import numpy as np

from fasttree.base.elementary import exp
from fasttree.draw.branches import branch_texts
from fasttree.stats.curves import Z
from fasttree.studies.figures import normal_tails, wilson
from fasttree.studies.logistic import LogisticModel
from fasttree.studies.methods import COMPLETE, Answer, Halves
from fasttree.studies.results import (
    Coefficient,
    LogisticReport,
    ReadableTree,
    StudyRule,
    TreeNode,
)
from fasttree.trees.traversal import printed_leaves
from fasttree.trees.tree import LEAF, Tree

HINT = (
    "statsmodels is not installed, so fasttree's own Newton method computed the standard errors and P values: "
    "pip install 'fasttree[study]'"
)


def readable_tree(answer: Answer, halves: Halves) -> ReadableTree:
    """The tree with the rows of both halves at each node."""
    tree = answer.model.tree_
    leaves = answer.model.apply(halves.held_out())
    is_event = halves.group.is_event[halves.test]
    rows = tree.subtree_sums(np.bincount(leaves, minlength=tree.node_count))
    events = tree.subtree_sums(np.bincount(leaves[is_event], minlength=tree.node_count))
    conditions = _conditions(tree)
    nodes = tuple(
        TreeNode(
            node,
            int(tree.parent[node]),
            conditions[node],
            ""
            if tree.attribute[node] == LEAF
            else tree.schema.attributes[tree.attribute[node]].name,
            int(tree.depth[node]),
            wilson(float(tree.counts[node, 1]), float(tree.counts[node].sum())),
            wilson(float(events[node]), float(rows[node])),
            float(tree.proba[node, 1]),
        )
        for node in range(tree.node_count)
    )
    printed = [nodes[leaf] for leaf in printed_leaves(tree).tolist()]  # a rule for each
    rules = tuple(
        StudyRule(tuple(map(str, rule.conditions)), at.probability, at.train, at.test)
        for at, rule in zip(printed, answer.model.rules(), strict=True)
    )
    return ReadableTree(answer.method, halves.seed, tree.to_text(), nodes, rules, tree)


def _conditions(tree: Tree) -> list[str]:
    """What leads to each node from its parent; levels without rows share a node."""
    found: list[list[str]] = [[] for _ in range(tree.node_count)]
    for node in np.flatnonzero(tree.attribute != LEAF).tolist():
        for child, text in branch_texts(tree, node):
            found[child].append(text)
    return [" or ".join(texts) for texts in found]


# -- logistic regression -----------------------------------------------------------------------------------------------


def logistic_report(answer: Answer, halves: Halves) -> LogisticReport:
    """The selected model with standard errors and P values by statsmodels; without it, or if it fails, by our own."""
    model: LogisticModel = answer.model
    estimate, error, by, notes = _inference(model)
    labels = ["(constant)", *(term.label for term in model.terms)]
    names = ["", *(term.attribute for term in model.terms)]
    separated = set(model.separated)
    complete = answer.method == COMPLETE
    return LogisticReport(
        seed=halves.seed,
        fitted_by=by,
        missing="rows with a missing value were left out"
        if complete
        else "an indicator of its own",
        n_train=answer.n_train,
        candidates=len(model.design.blocks()),
        selected=model.attributes,
        p_values=model.p_values,
        references={
            name: level
            for name, level in model.design.references.items()
            if name in model.attributes
        },
        coefficients=tuple(
            _coefficient(label, name, b, se, label in separated)
            for label, name, b, se in zip(labels, names, estimate, error, strict=True)
        ),
        separated=model.separated,
        pooled=model.design.pooled,
        aliased=model.design.aliased,
        notes=(
            *notes,
            *(
                f"{name} has too many categories for a regression and was left out of it"
                for name in model.design.too_many_levels
            ),
        ),
    )


def _coefficient(label: str, name: str, b: float, se: float, is_separated: bool) -> Coefficient:
    if is_separated:  # neither Wald's test nor his limits hold
        nan = math.nan
        return Coefficient(label, name, b, nan, nan, _exp(b), nan, nan, True)
    return Coefficient(
        label,
        name,
        b,
        se,
        normal_tails(b / se),
        _exp(b),
        _exp(b - Z * se),
        _exp(b + Z * se),
        False,
    )


def _exp(x: float) -> float:
    return exp(x) if x < 700 else math.inf


def _inference(model: LogisticModel) -> tuple[list[float], list[float], str, tuple[str, ...]]:
    """Coefficients, their standard errors, who found them, and what there is to say about it."""
    own = model.fit.coefficients.tolist(), model.fit.standard_errors.tolist(), "fasttree"
    if model.separated:
        text = (
            f"the outcomes are separated at {', '.join(model.separated)}: maximum likelihood has no finite "
            "estimate there, "
            "so the regression uses a ridge penalty of 1e-6, and likelihood ratio tests instead of Wald tests "
            "for these attributes"
        )
        return *own, (text,)
    try:
        statsmodels: Any = importlib.import_module("statsmodels.api")
    except ImportError:
        return *own, (HINT,)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = statsmodels.Logit(model.is_event, model.matrix).fit(disp=0, maxiter=100)
    except (
        Exception
    ) as error:  # its errors and warnings have many classes, all meaning: no trustworthy maximum
        return *own, (f"statsmodels did not fit the regression ({type(error).__name__}: {error})",)
    return found.params.tolist(), found.bse.tolist(), "statsmodels", ()
