# SPDX-License-Identifier: BSD-3-Clause
"""Columns: a training table encoded once, to be fitted many times."""

from __future__ import annotations

from typing import Any

import numpy as np

from fasttree._parallel import Team
from fasttree.encode import EncodedTable, encode, is_worth_threads
from fasttree.frames import Table, read_table, read_target
from fasttree.params import check_max_bins, check_n_jobs


class Columns:
    """Encoded attributes and classes of a training table.

    Encoding (sorting every column) is a good part of the time of a fit. Several fits on the same rows share it:

    >>> import fasttree
    >>> X, y = fasttree.datasets.play_tennis()
    >>> columns = fasttree.Columns(X, y)
    >>> fasttree.ID3Classifier().fit(columns).get_n_leaves()
    5
    >>> fasttree.CARTClassifier().fit(columns).get_n_leaves()
    7

    The values are copied: changing X afterwards changes nothing.

    Parameters
    ----------
    X, y
        As for ``fit`` of any estimator.
    categorical_features, max_bins
        As for `TreeClassifier`; estimators that are fitted on the columns must not ask for something else.
    n_jobs
        Threads for the encoding.
    """

    def __init__(
        self,
        X: Any,
        y: Any,
        *,
        categorical_features: Any = "from_dtype",
        max_bins: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.max_bins = check_max_bins(max_bins)
        n_jobs = check_n_jobs(n_jobs)
        table = _own_values(read_table(X, categorical_features))
        target = read_target(y, table.n_rows)
        with Team(n_jobs, is_worth_threads(table)) as team:
            self.encoded: EncodedTable = encode(table, target, team, self.max_bins)

    @property
    def n_rows(self) -> int:
        return self.encoded.n_rows

    @property
    def n_attributes(self) -> int:
        return self.encoded.n_attributes

    def __repr__(self) -> str:
        kind = "exact" if self.max_bins is None else f"at most {self.max_bins} bins"
        return (
            f"Columns({self.n_rows} rows, {self.n_attributes} attributes, "
            f"{self.encoded.n_classes} classes, {kind})"
        )


def _own_values(table: Table) -> Table:
    if table.matrix is not None:
        return Table(table.n_rows, table.names, table.named, matrix=np.array(table.matrix))
    return table  # encoding copies single columns
