# SPDX-License-Identifier: BSD-3-Clause
"""Dataset: a training table encoded once, to be fitted many times."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from fasttree.base.checks import check_max_bins, check_n_jobs
from fasttree.base.threads import ThreadTeam
from fasttree.encoding.encode import encode, most_threads
from fasttree.encoding.encoded_table import EncodedTable
from fasttree.encoding.weights import to_integer_weights
from fasttree.tables.doubts import warn_of_columns
from fasttree.tables.training import Table, Target, read_table, read_target


class Dataset:
    """Encoded attributes and classes of a training table.

    Encoding (sorting every column) takes a large part of the time of a fit. Several fits on the same rows can share it:

    >>> import fasttree
    >>> X, y = fasttree.datasets.play_tennis()
    >>> columns = fasttree.Columns(X, y)
    >>> fasttree.ID3Classifier().fit(columns).get_n_leaves()
    5
    >>> fasttree.CARTClassifier(pruning=None).fit(columns).get_n_leaves()
    7

    The values are copied: modifying X afterwards has no effect. Categories, classes and bins are those of all rows,
    including rows to which a fit gives weight 0.

    Parameters
    ----------
    X, y
        As for ``fit`` of any estimator.
    categorical_features, ordered_features, max_bins
        As for `TreeClassifier`; estimators that are fitted on the columns must not set different values.
    n_jobs
        The number of threads for the encoding.
    """

    def __init__(
        self,
        X: Any,
        y: Any,
        *,
        categorical_features: Any = "from_dtype",
        ordered_features: Any = "from_dtype",
        max_bins: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.max_bins = check_max_bins(max_bins)
        n_jobs = check_n_jobs(n_jobs)
        table = _own_values(read_table(X, categorical_features, ordered_features, to_encode=True))
        target = read_target(y, table.n_rows)
        warn_of_columns(table)
        with ThreadTeam(n_jobs, most_threads(table.n_rows, len(table.names))) as team:
            self.encoded: EncodedTable = encode(table, target, team, self.max_bins)

    @classmethod
    def of_table(
        cls,
        table: Table,
        target: Target,
        *,
        max_bins: int | None = None,
        n_jobs: int | None = None,
        weight: np.ndarray | None = None,
    ) -> Dataset:
        """Encode a table that has already been read and is not modified. The weights of the rows determine the bins."""
        dataset = cls.__new__(cls)
        dataset.max_bins = max_bins
        with ThreadTeam(n_jobs, most_threads(table.n_rows, len(table.names))) as team:
            integer_weights = None if weight is None else to_integer_weights(weight)
            dataset.encoded = encode(table, target, team, max_bins, integer_weights)
        return dataset

    @property
    def n_rows(self) -> int:
        return self.encoded.n_rows

    @property
    def n_attributes(self) -> int:
        return self.encoded.n_attributes

    def __repr__(self) -> str:
        kind = "exact" if self.max_bins is None else f"at most {self.max_bins} bins"
        return (
            f"Dataset({self.n_rows} rows, {self.n_attributes} attributes, "
            f"{self.encoded.n_classes} classes, {kind})"
        )


Columns = Dataset  # its first name


def _own_values(table: Table) -> Table:
    if table.matrix is not None:
        return replace(table, matrix=np.array(table.matrix))
    assert table.columns is not None
    columns = [c if c.values is None else replace(c, values=c.values.copy()) for c in table.columns]
    return replace(table, columns=tuple(columns))
