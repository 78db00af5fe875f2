# SPDX-License-Identifier: BSD-3-Clause
"""scikit-learn's tree with what it needs in front: numbers as they are, a column of 0 and 1 for each level of text."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from fasttree.cli.errors import DataError
from fasttree.cli.training_data import Data

MOST_CELLS = 5 * 10**8


class Arrays(NamedTuple):
    numbers: np.ndarray  # float64, NaN where missing
    text: np.ndarray  # objects, None where missing


class SklearnTree:
    """Fitted to and asked about `Arrays`; encoding text is part of its time, as it is of a pipeline's."""

    def __init__(self) -> None:
        self.encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False, dtype=np.float32)
        self.tree = DecisionTreeClassifier(random_state=0)

    def check(self, X: Arrays, rows: Data) -> None:
        """Refuses tables that do not fit into memory once every level has a column."""
        levels = sum(len(set(column)) for column in X.text.T)
        if levels * len(X.text) > MOST_CELLS:
            raise DataError(
                f"{rows.path}: scikit-learn needs a column for each of {levels:,} categories, too many for memory: "
                "drop the columns with the most categories (--drop)"
            )

    def fit(self, X: Arrays, y: np.ndarray) -> None:
        text = self.encoder.fit_transform(X.text) if X.text.shape[1] else X.text
        with np.errstate(over="ignore"):
            self.tree.fit(self._joined(X.numbers, text), y)

    def predict(self, X: Arrays) -> np.ndarray:
        text = self.encoder.transform(X.text) if X.text.shape[1] else X.text
        with np.errstate(over="ignore"):
            return np.asarray(self.tree.predict(self._joined(X.numbers, text)))

    @staticmethod
    def _joined(numbers: np.ndarray, text: np.ndarray) -> np.ndarray:
        """As float32, which scikit-learn's trees turn everything into."""
        joined = np.hstack([numbers.astype(np.float32), text.astype(np.float32)])
        limit = np.finfo(np.float32).max  # it refuses infinite values
        return np.clip(joined, -limit, limit)


def as_arrays(rows: Data) -> Arrays:
    numbers, text = [], []
    for column in rows.X.columns:
        if _is_text(column.type):
            text.append(np.array(column.to_pylist(), dtype=object))
        else:
            numbers.append(_as_float(column))
    empty = np.empty((rows.n_rows, 0))
    return Arrays(
        np.column_stack(numbers) if numbers else empty,
        np.column_stack(text) if text else empty.astype(object),
    )


def labels(rows: Data) -> np.ndarray:
    return np.array(rows.y.to_pylist())


def _is_text(kind: Any) -> bool:
    types = pa.types
    return bool(
        types.is_string(kind)
        or types.is_large_string(kind)
        or types.is_dictionary(kind)
        or types.is_boolean(kind)
    )


def _as_float(column: Any) -> np.ndarray:
    if pa.types.is_temporal(column.type):
        column = pc.cast(pc.cast(column, pa.timestamp("us")), pa.int64())
    numbers = pc.fill_null(pc.cast(column, pa.float64(), safe=False), float("nan"))
    return np.asarray(numbers.to_numpy())
