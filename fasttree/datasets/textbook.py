# SPDX-License-Identifier: BSD-3-Clause
"""The tables themselves stand in the CSV files beside this one; here are the orders of the values.

The orders matter: among equally good branches and equally frequent classes the first declared wins.
"""

from __future__ import annotations

import csv
from importlib import resources
from typing import Any, Literal

import numpy as np

from fasttree.base.hints import check_choice
from fasttree.datasets.as_frame import import_pandas
from fasttree.tables.training import Categorical

Part = Literal["train10", "test", "train8", "train5"]
_Columns = dict[str, list[str]]
_Orders = dict[str, tuple[str, ...]]

_ORDERS: dict[str, _Orders] = {
    "play_tennis": {
        "Outlook": ("Sunny", "Overcast", "Rain"),
        "Temperature": ("Hot", "Mild", "Cool"),
        "Humidity": ("High", "Normal"),
        "Wind": ("Weak", "Strong"),
        "PlayTennis": ("Yes", "No"),
    },
    "buys_computer": {
        "age": ("youth", "middle_aged", "senior"),
        "income": ("high", "medium", "low"),
        "student": ("no", "yes"),
        "credit_rating": ("fair", "excellent"),
        "buys_computer": ("yes", "no"),
    },
    "mammals": {
        "Body Temperature": ("warm-blooded", "cold-blooded"),
        "Gives Birth": ("yes", "no"),
        "Four-Legged": ("yes", "no"),
        "Hibernates": ("yes", "no"),
        "Mammals": ("yes", "no"),
    },
    "temperature": {"PlayGolf": ("Yes", "No")},
}

# The five rows are the eight before the table was made longer.
_MAMMAL_PARTS = {
    "train10": ("mammals_train10", 10),
    "test": ("mammals_test", 10),
    "train8": ("mammals_train8", 8),
    "train5": ("mammals_train8", 5),
}


def play_tennis(*, as_frame: bool = False) -> tuple[Any, Any]:
    """Fourteen days, four attributes, nine times Yes: the table that ID3 is taught with.

    >>> X, y = play_tennis()
    >>> list(X), len(y)
    (['Outlook', 'Temperature', 'Humidity', 'Wind'], 14)
    >>> X["Outlook"].categories
    ('Sunny', 'Overcast', 'Rain')
    """
    return _attributes_and_class(_read("play_tennis"), _ORDERS["play_tennis"], as_frame)


def buys_computer(*, as_frame: bool = False) -> tuple[Any, Any]:
    """Fourteen customers; PlayTennis with other names, row by row, so that the trees are the same.

    >>> X, y = buys_computer()
    >>> list(X)
    ['age', 'income', 'student', 'credit_rating']
    """
    return _attributes_and_class(_read("buys_computer"), _ORDERS["buys_computer"], as_frame)


def mammals(part: Part = "train10", *, as_frame: bool = False) -> tuple[Any, Any]:
    """Animals, and whether a table lists them as mammals: an example of overfitting.

    ``"train10"`` has ten animals, of which bat and whale are labelled incorrectly, and ``"test"`` ten others.
    ``"train5"`` is a smaller table without the attribute Gives Birth, and ``"train8"`` the same with three more rows.
    The animals' names would be a perfect and useless attribute: ``mammal_names(part)`` returns them, and with
    ``as_frame=True`` they are the index.

    >>> X, y = mammals("train5")
    >>> list(X), len(y)
    (['Body Temperature', 'Four-Legged', 'Hibernates'], 5)
    """
    columns = _mammals(part)
    names = columns.pop("Name")
    return _attributes_and_class(columns, _ORDERS["mammals"], as_frame, index=names)


def mammal_names(part: Part = "train10") -> list[str]:
    """The animals of ``mammals(part)``, in the order of the rows.

    >>> mammal_names("train5")
    ['salamander', 'guppy', 'eagle', 'poorwill', 'platypus']
    """
    return _mammals(part)["Name"]


def temperature(*, as_frame: bool = False) -> tuple[Any, Any]:
    """Six temperatures and whether golf was played: the example of a continuous attribute.

    >>> X, y = temperature()
    >>> X["Temperature"].tolist()
    [40.0, 48.0, 60.0, 72.0, 80.0, 90.0]
    """
    return _attributes_and_class(_read("temperature"), _ORDERS["temperature"], as_frame)


def _mammals(part: str) -> _Columns:
    file, n_rows = _MAMMAL_PARTS[check_choice("part", part, _MAMMAL_PARTS)]
    return {name: values[:n_rows] for name, values in _read(file).items()}


def _read(file: str) -> _Columns:
    text = resources.files("fasttree.datasets").joinpath(f"{file}.csv").read_text("utf-8")
    header, *rows = csv.reader(text.splitlines())
    return {name: [row[j] for row in rows] for j, name in enumerate(header)}


def _attributes_and_class(
    columns: _Columns, orders: _Orders, as_frame: bool, index: list[str] | None = None
) -> tuple[Any, Any]:
    """The last column as y, the others as X; columns without a declared order are numbers."""
    if as_frame:
        return _frame_and_series(columns, orders, index)
    typed: dict[str, Any] = {
        name: Categorical(values, orders[name]) if name in orders else np.array(values, dtype=float)
        for name, values in columns.items()
    }
    _, y = typed.popitem()
    return typed, y


def _frame_and_series(
    columns: _Columns, orders: _Orders, index: list[str] | None
) -> tuple[Any, Any]:
    pandas = import_pandas()
    frame = pandas.DataFrame(
        {
            name: pandas.Categorical(values, categories=orders[name])
            if name in orders
            else np.array(values, dtype=float)
            for name, values in columns.items()
        },
        index=None if index is None else pandas.Index(index, name="Name"),
    )
    return frame.iloc[:, :-1], frame.iloc[:, -1]
