# SPDX-License-Identifier: BSD-3-Clause
"""The opening steps of every fit: what the user passes, read, checked and encoded."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from fasttree.base import progress
from fasttree.base.checks import check_max_bins, check_n_jobs
from fasttree.base.memory import release_freed
from fasttree.base.threads import ThreadTeam
from fasttree.base.values import column_label
from fasttree.encoding.class_weights import (
    check_class_weight,
    check_misclassification_cost,
    factors,
    to_ratios,
)
from fasttree.encoding.dataset import Dataset
from fasttree.encoding.encode import encode, most_threads
from fasttree.encoding.encoded_table import EncodedTable
from fasttree.encoding.weights import IntegerWeights, to_integer_weights
from fasttree.tables.doubts import warn_of_columns
from fasttree.tables.schema import AttributeSchema, ClassPriors
from fasttree.tables.training import (
    Column,
    NumberTarget,
    Table,
    Target,
    missing_value_error,
    open_container,
    read_numbers,
    read_table,
    read_target,
    read_weights,
)

MISSING_REMEDY = 'use missing="branch" or missing="category", or impute it'


@dataclass(frozen=True, slots=True)
class TrainingSet:
    """What a model is fitted to."""

    encoded: EncodedTable
    weights: IntegerWeights | None
    used_up: bool  # the encoded table serves this one fit and may be destroyed by it
    n_given: int  # rows of the user's table ...
    present: np.ndarray | None  # ... and the numbers of those that were encoded, if not all
    weight: np.ndarray | None  # as the user gave it

    def without(self, left_out: np.ndarray, missing: str) -> IntegerWeights:
        """The weights for a fit without what is `left_out` of the weight of each row."""
        weight = np.ones(self.encoded.n_rows) if self.weight is None else self.weight
        weights = _weights_of(self.encoded, to_integer_weights(weight - left_out), missing)
        assert weights is not None
        return weights

    def as_counted(self, weight: np.ndarray) -> np.ndarray:
        """What parts of the rows' weights add to the class counts of a tree."""
        plain, whole = self.plain_weights(), self.weight
        if plain is None or whole is None:
            return weight
        divided = weight * (plain / np.maximum(whole, 1.0))  # which whole numbers are alone
        return np.where(weight == whole, plain, divided)

    def plain_weights(self) -> np.ndarray | None:
        """What each row adds to the class counts of a tree; None: 1 each."""
        if self.weights is None:
            return None
        return self.weights.plain_rows(self.encoded.y) / self.weights.steps_per_unit

    def table(self) -> Table:
        """The rows as routing reads them; to be called before the lists are used up."""
        encoded = self.encoded
        names, named = encoded.schema.names, encoded.schema.named
        if isinstance(encoded.raw_values, np.ndarray):
            return Table(encoded.n_rows, names, named, matrix=encoded.raw_values)
        columns = tuple(self._column(j, a) for j, a in enumerate(encoded.schema.attributes))
        return Table(encoded.n_rows, names, named, columns=columns)

    def _column(self, j: int, attribute: AttributeSchema) -> Column:
        name, categories = attribute.name, attribute.categories
        if categories is None:
            return Column(name, values=self.encoded.values_of(j), time=attribute.time)
        codes = self.encoded.codes_of(j).astype(np.int32)
        return Column(
            name, codes=codes, categories=categories, declared=True, ordered=attribute.ordered
        )


@contextmanager
def training(
    X: Any,
    y: Any,
    sample_weight: Any,
    categorical_features: Any,
    max_bins: Any,
    n_jobs: Any,
    missing: str,
    *,
    ordered_features: Any = "from_dtype",
    class_weight: Any = None,
    misclassification_cost: Any = None,
    of_numbers: bool = False,
) -> Iterator[tuple[TrainingSet, ThreadTeam]]:
    """Read and encode what a user passes to ``fit``, and gather the threads that work on it. `of_numbers`: y is not one
    of classes.

    Weights become integers once. These place the edges of bins and count the classes for the priors; where values are
    missing they are divided into finer steps, and in the end multiplied by what each class counts for.
    """
    max_bins, n_jobs = check_max_bins(max_bins), check_n_jobs(n_jobs)
    if isinstance(X, Dataset):
        if of_numbers:
            raise TypeError(
                f"X is a fasttree.{type(X).__name__}, which contains classes, but a regressor needs numbers: pass the "
                "table itself and y"
            )
        _check_dataset(X, y, categorical_features, ordered_features, max_bins)
        weight = read_weights(sample_weight, X.n_rows)
        steps = None if weight is None else to_integer_weights(weight)
        priors = _priors(
            X.encoded.y, X.encoded.schema.classes, steps, class_weight, misclassification_cost
        )
        encoded = X.encoded.with_priors(priors)
        weights = _weights_of(encoded, steps, missing)
        with ThreadTeam(n_jobs, most_threads(X.n_rows, X.n_attributes)) as team:
            yield TrainingSet(encoded, weights, False, X.n_rows, None, weight), team
        return
    container = open_container(X)
    with ThreadTeam(n_jobs, most_threads(container.n_rows, len(container.names))) as team:
        progress.step(f"reading {container.n_rows:,} rows of {len(container.names):,} columns")
        table = read_table(
            container, categorical_features, ordered_features, team.run, to_encode=True
        )
        target: Target | NumberTarget
        target = (read_numbers if of_numbers else read_target)(y, table.n_rows)
        n_given = table.n_rows
        weight = read_weights(sample_weight, n_given)
        present = None
        if weight is not None and not weight.all():
            present = np.flatnonzero(weight)
            table, target, weight = table.take(present), target.take(present), weight[present]
        warn_of_columns(table)
        steps = None if weight is None else to_integer_weights(weight)
        priors = _priors(target.codes, target.classes, steps, class_weight, misclassification_cost)
        progress.step("sorting the columns")
        encoded = encode(table, target, team, max_bins, steps, priors)
        del container, table, target  # the encoded table has taken what it needs
        release_freed(4 * encoded.n_rows * encoded.n_attributes)
        weights = _weights_of(encoded, steps, missing, present)
        yield TrainingSet(encoded, weights, True, n_given, present, weight), team


def _priors(
    y: np.ndarray,
    classes: np.ndarray,
    weights: IntegerWeights | None,
    class_weight: Any,
    cost: Any,
) -> ClassPriors:
    """What the user says that classes count for. `y` has the class numbers of the rows."""
    if class_weight is None and cost is None:
        return ClassPriors()
    # Sums of steps are exact in any order.
    steps = None if weights is None else weights.quantised
    totals = np.bincount(y, weights=steps, minlength=len(classes))
    return ClassPriors(
        check_class_weight(class_weight, classes, totals),
        check_misclassification_cost(cost, classes),
    )


def _weights_of(
    encoded: EncodedTable,
    weights: IntegerWeights | None,
    missing: str,
    present: np.ndarray | None = None,
) -> IntegerWeights | None:
    """The weights as growth wants them, once it is known whether values are missing. `present`: the rows of the user's
    table that were encoded, if not all of them."""
    has_missing = bool(encoded.has_missing.any())
    if missing == "error" and has_missing:
        refuse_missing(encoded, present)
    ratios = to_ratios(
        factors(encoded.schema.priors.class_weight, encoded.schema.priors.cost_matrix)
    )
    shares_rows = missing == "fractional" and has_missing
    if weights is None and ratios is None and not shares_rows:
        return None
    if weights is None:
        weights = IntegerWeights(np.ones(encoded.n_rows, dtype=np.int64), 1)
    if shares_rows:
        weights = weights.divisible()
    return weights if ratios is None else weights.times(ratios, encoded.y)


def _check_dataset(
    dataset: Dataset, y: Any, categorical_features: Any, ordered_features: Any, max_bins: int | None
) -> None:
    if y is not None:
        raise ValueError("y must be None when X is a fasttree.Columns, which contains the classes")
    if max_bins is not None and max_bins != dataset.max_bins:
        raise ValueError(
            f"max_bins={max_bins} does not match the Columns, which were encoded with max_bins={dataset.max_bins}: "
            "pass max_bins to fasttree.Columns instead"
        )
    for name, value in (
        ("categorical_features", categorical_features),
        ("ordered_features", ordered_features),
    ):
        if not isinstance(value, str) or value != "from_dtype":
            raise ValueError(
                f'{name} must be "from_dtype" when X is a fasttree.Columns, got {value!r}: '
                f"pass {name} to fasttree.Columns instead"
            )


def refuse_missing(encoded: EncodedTable, present: np.ndarray | None) -> None:
    """Raise an error that names the first column with a missing value, and its row in the user's table."""
    attribute = int(np.argmax(encoded.has_missing))
    row = encoded.first_missing(attribute)
    if present is not None:
        row = int(present[row])
    raise missing_value_error(column_label(encoded.schema.names[attribute]), row, MISSING_REMEDY)
