# SPDX-License-Identifier: BSD-3-Clause
"""RuleClassifier: the rules of a tree, pruned one by one."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np

from fasttree.base.checks import check_fraction, check_seed
from fasttree.base.hints import check_choice, foreign
from fasttree.base.progress import check_verbose, reported
from fasttree.base.values import short_repr
from fasttree.encoding.dataset import Dataset
from fasttree.encoding.folds import hold_out, value_hashes
from fasttree.encoding.weights import to_integer_weights
from fasttree.estimators.classifier import TreeClassifier
from fasttree.estimators.parameters import defaults_of, own_parameters
from fasttree.estimators.presets import C45Classifier
from fasttree.estimators.protocol import ClassifierMixin
from fasttree.estimators.validation import check_fit, check_given_whole
from fasttree.export import RULE_EXPORTERS, export
from fasttree.persistence.parts import FittedModel
from fasttree.rules.conditions import reader
from fasttree.rules.explanation import Explanation
from fasttree.rules.learning import SUBSET, learn_rules
from fasttree.rules.pruning import Estimate, RowBits, evidence, pessimistic_error, plain_error
from fasttree.rules.rule_list import RuleList
from fasttree.rules.serialise import check_rules
from fasttree.tables.factors import places_among
from fasttree.tables.fitted import read_table_for_schema
from fasttree.tables.training import (
    open_container,
    read_groups,
    read_table,
    read_target,
    read_weights,
)

ESTIMATES = ("pessimistic", "validation")
WHEN = ("improves", "not_worse")


class RuleClassifier(ClassifierMixin):
    """Rule post-pruning: a tree is grown to its full size, each path becomes a rule, and conditions are removed from a
    rule where this improves it. The rules are sorted by their estimated error; the first rule that applies decides.

    Parameters
    ----------
    base : estimator or None, default=None
        An unfitted tree classifier that grows the tree. None: `C45Classifier` without pruning.
    estimate : {"pessimistic", "validation"}, default="pessimistic"
        How the error of a rule is estimated. "pessimistic": on the training rows, as the upper end of the confidence
        interval (as in C4.5). "validation": the share of errors on rows that the tree was not grown from, either those
        passed to `fit` or a held-out part of the training rows.
    confidence : float, default=0.25
        The confidence level of the pessimistic estimate, above 0 and at most 0.5. Smaller values prune more.
    when : {"improves", "not_worse"}, default="improves"
        A condition is removed if this reduces the estimated error ("improves"), or also if the estimate stays the same
        or the plain error does not increase, as in C4.5 ("not_worse").
    simplify : {None, "subset"}, default=None
        "subset": for each class, keep only the subset of the pruned rules that encodes the class of the training rows
        in the fewest bits (the minimum description length, similar to C4.5rules; see docs/rules.md for the formula).
        The rules are then listed class by class, starting with the class whose rules cover the fewest rows of other
        classes. The lists are several times shorter. None: keep every pruned rule, sorted by its estimated error.
    validation_fraction : float, default=0.3
        The fraction of rows, by weight, held out for "validation" if none are passed to `fit`. The draw depends on the
        values of the rows, not on their order. A row of integer weight w is drawn like w rows.
    random_state : int or None, default=None
        The seed of that draw. None is 0.
    verbose : int, default=0
        0: no output. 1: a fit that takes longer than two seconds reports its progress on stderr. 2: every step is
        reported.

    Attributes
    ----------
    rules_ : RuleList
    default_class_ : the class of rows that no rule applies to
    tree_ : the tree that the rules come from
    classes_ : array of the class labels, sorted
    n_features_in_ : int
    feature_names_in_ : array of names, if the table had column names
    """

    rules_: RuleList

    @own_parameters
    def __init__(
        self,
        *,
        base: Any = None,
        estimate: str = "pessimistic",
        confidence: float = 0.25,
        when: str = "improves",
        simplify: str | None = None,
        validation_fraction: float = 0.3,
        random_state: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.base = base
        self.estimate = estimate
        self.confidence = confidence
        self.when = when
        self.simplify = simplify
        self.validation_fraction = validation_fraction
        self.random_state = random_state
        self.verbose = verbose

    # -- learning --------------------------------------------------------------------------------------------------

    @reported
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        X_val: Any = None,
        y_val: Any = None,
        groups: Any = None,
    ) -> Self:
        """Grow a tree and prune its rules. `X_val` and `y_val` are the rows for ``estimate="validation"``. `groups` is
        a column with the group of each row: the rows of a group are held out together, here and in the pruning of the
        tree."""
        base = self._checked_base()
        self._check_parameters(X_val, y_val)
        if isinstance(X, Dataset):
            raise TypeError(
                "X is a fasttree.Columns, but rules are evaluated on the rows themselves: pass the table and y"
            )
        X = open_container(X)  # it is read several times, and a stream can be once
        estimate, weight, weight_held_out = self.estimate, sample_weight, None
        if estimate == "validation" and X_val is None:
            held, given = self._drawn(X, y, sample_weight, base, groups)
            if held.any():
                weight, weight_held_out = given - held, held
            else:
                self._warn_of_few_rows(len(held))
                estimate = "pessimistic"
        grown = base.fit(X, y, sample_weight=weight, groups=groups).rules()
        rules = replace(grown, reader_name=type(self).__name__)
        training = judges = _evidence(X, y, weight, rules, "y")
        if X_val is not None:
            judges = _evidence(X_val, y_val, None, rules, "y_val")
        elif weight_held_out is not None:
            judges = _evidence(X, y, weight_held_out, rules, "y")
        error: Estimate = plain_error
        if estimate == "pessimistic":
            error = pessimistic_error(float(self.confidence))
        rules = learn_rules(rules, training, judges, error, estimate, self.when, self.simplify)
        self.restore(FittedModel(base.tree_, rules=rules))
        return self

    @property
    def default_class_(self) -> Any:
        """The class of rows that no rule applies to."""
        return self.rules_.default_class

    def _drawn(
        self, X: Any, y: Any, sample_weight: Any, base: TreeClassifier, groups: Any
    ) -> tuple[np.ndarray, np.ndarray]:
        """What is held out of the weight of each row, and all of it; a row of weight 0 has no part in the draw."""
        table = read_table(X, base.categorical_features)
        target = read_target(y, table.n_rows)
        weight = read_weights(sample_weight, table.n_rows)
        weight = np.ones(table.n_rows) if weight is None else weight
        group_of = read_groups(groups, table.n_rows)
        present = np.flatnonzero(weight)
        table, target = table.take(present), target.take(present)
        group_of = None if group_of is None else group_of[present]
        hashes = value_hashes(table.values(), table.n_rows, check_seed(self.random_state))
        held = np.zeros(len(weight))
        held[present] = hold_out(
            hashes, target.codes, self.validation_fraction, weight[present], group_of
        )
        return held, weight

    def _warn_of_few_rows(self, n_rows: int) -> None:
        warnings.warn(
            f"validation_fraction={self.validation_fraction} of {n_rows} rows leaves no validation rows: the "
            "pessimistic estimate on the training rows is used instead",
            stacklevel=4,
        )

    def _takes_missing(self) -> bool:
        return self.base is None or getattr(self.base, "missing", None) != "error"

    # -- parameters ------------------------------------------------------------------------------------------------

    def _instead(self, name: str, names: Sequence[str]) -> str:
        """The tree has parameters of its own."""
        of_tree = tuple(defaults_of(C45Classifier))
        remedy = foreign(name, names)
        if remedy is None and name in of_tree:
            unpruned = "" if name == "pruning" else "pruning=None, "
            return f"write base=fasttree.C45Classifier({unpruned}{name}=...)"
        if remedy is None and foreign(name, of_tree) is not None:
            return f"in base=fasttree.C45Classifier(...), {foreign(name, of_tree)}"
        return super()._instead(name, names)

    def _checked_base(self) -> TreeClassifier:
        if self.base is None:
            return C45Classifier(pruning=None)
        if not isinstance(self.base, TreeClassifier):
            raise TypeError(
                f"base must be a tree classifier of fasttree or None, got {short_repr(self.base)}: "
                "pass, for example, fasttree.TreeClassifier(...)"
            )
        for name in ("class_weight", "misclassification_cost"):
            if getattr(self.base, name) is not None:
                raise ValueError(
                    f"base has {name}={short_repr(getattr(self.base, name))}, but rules require unweighted classes: "
                    "leave it out, and pass sample_weight to fit"
                )
        return type(self.base)(**self.base.get_params(deep=False))

    def _check_parameters(self, X_val: Any, y_val: Any) -> None:
        check_choice("estimate", self.estimate, ESTIMATES)
        check_choice("when", self.when, WHEN)
        if self.simplify is not None:
            check_choice("simplify", self.simplify, (SUBSET,), " or None")
        pessimistic_error(self.confidence)  # checks it
        check_fraction("validation_fraction", self.validation_fraction)
        check_seed(self.random_state)
        check_verbose(self.verbose)
        check_given_whole(X_val, y_val)
        if X_val is not None and self.estimate == "pessimistic":
            raise ValueError(
                'X_val requires estimate="validation", but estimate is "pessimistic", which uses only the training '
                "rows: change estimate, or do not pass X_val and y_val"
            )

    def _check_settings(self) -> None:
        self._checked_base()._check_settings()
        self._check_parameters(None, None)

    def _check_restored(self) -> None:
        check_fit(self, self.tree_)
        check_rules(self.rules_, self.tree_.schema)

    # -- classifying -----------------------------------------------------------------------------------------------

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of each row: that of the first rule that applies."""
        self._check_fitted()
        return self.rules_.predict(X)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return Laplace's estimate of each class, on the training rows of the rule that decides."""
        self._check_fitted()
        return self.rules_.predict_proba(X)

    def explain(self, X: Any) -> Explanation:
        """Return which rule decides a row, and why. X is a table of one row, or a dict from attribute to value."""
        self._check_fitted()
        return self.rules_.explain(X)

    def to_text(self) -> str:
        """Return the rules as text."""
        self._check_fitted()
        return self.rules_.to_text()

    def export(
        self, format: str, path: str | os.PathLike[str] | None = None, **options: Any
    ) -> str | bytes:
        """Return the rules as "text", "markdown", "json" or "python"; they are also written to `path`, if given."""
        self._check_fitted()
        return export(self.rules_, RULE_EXPORTERS, format, path, options)


def _evidence(X: Any, y: Any, weight: Any, rules: RuleList, name: str) -> RowBits:
    """The rows of a table that have a weight, as the rules read them."""
    table = read_table_for_schema(X, rules.schema, rules.reader_name, rules.unknown)
    target = read_target(y, table.n_rows)
    classes = places_among(target.classes, rules.classes)[target.codes]
    weight = read_weights(weight, table.n_rows)
    rows = np.arange(table.n_rows) if weight is None else np.flatnonzero(weight)
    unseen = classes[rows] < 0
    if unseen.any():
        row = int(rows[np.argmax(unseen)])
        raise ValueError(
            f"{name} contains the class {short_repr(target.classes[target.codes[row]])} in row {row}, which is not "
            f"one of the classes at fit, {short_repr(rules.classes)}: leave such rows out, or train with some of them"
        )
    read = reader(table, rules.unknown, 0, table.n_rows)
    n_classes = len(rules.classes)
    if weight is None:
        return evidence(read, classes, n_classes)
    integer_weights = to_integer_weights(weight[rows])
    return evidence(
        lambda attribute: read(attribute)[rows],
        classes[rows],
        n_classes,
        integer_weights.quantised,
        1 / integer_weights.steps_per_unit,
    )
