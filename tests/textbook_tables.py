# SPDX-License-Identifier: BSD-3-Clause
"""The textbooks' small tables as literals, with their declared orders of values and classes.

They are written out a second time here on purpose: a slip of the pen in the package's own tables
must not be able to hide.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import reference


@dataclass(frozen=True)
class Labels:
    """Text values with their declared order."""

    values: tuple[str, ...]
    order: tuple[str, ...]

    @property
    def codes(self) -> list[int]:
        return [self.order.index(value) for value in self.values]

    def rows(self, keep: Sequence[int]) -> Labels:
        return Labels(tuple(self.values[row] for row in keep), self.order)

    def categorical(self) -> Any:
        import fasttree

        return fasttree.Categorical(np.array(self.values, dtype=object), self.order)


@dataclass(frozen=True)
class Table:
    """Columns (text with an order, or numbers) and a target."""

    columns: dict[str, Labels | tuple[float, ...]]
    target: Labels

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.columns)

    @property
    def classes(self) -> list[str]:
        """The labels that occur, sorted, as `classes_` has them."""
        return sorted(set(self.target.values))

    @property
    def class_order(self) -> list[int]:
        """Class numbers in the declared order, which decides between equally frequent classes."""
        return [self.classes.index(label) for label in self.target.order if label in self.classes]

    @property
    def class_codes(self) -> list[int]:
        return [self.classes.index(label) for label in self.target.values]

    def rows(self, keep: Sequence[int]) -> Table:
        columns = {
            name: c.rows(keep) if isinstance(c, Labels) else tuple(c[row] for row in keep)
            for name, c in self.columns.items()
        }
        return Table(columns, self.target.rows(keep))

    def without(self, name: str, value: str) -> Table:
        """The table without the rows that have this value."""
        column = self.columns[name]
        assert isinstance(column, Labels)
        return self.rows([row for row, v in enumerate(column.values) if v != value])

    # What the two sides of a comparison take.

    @property
    def X(self) -> dict[str, Any]:
        return {
            name: c.categorical() if isinstance(c, Labels) else np.array(c, dtype=float)
            for name, c in self.columns.items()
        }

    @property
    def y(self) -> Any:
        return self.target.categorical()

    @property
    def attributes(self) -> list[reference.Attribute]:
        return [
            reference.Attribute(c.codes, len(c.order))
            if isinstance(c, Labels)
            else reference.Attribute(c)
            for c in self.columns.values()
        ]

    def grow(self, **parameters: Any) -> list[reference.Node]:
        return reference.grow(
            self.attributes,
            self.class_codes,
            len(self.classes),
            class_order=self.class_order,
            **parameters,
        )


def read(header: str, orders: dict[str, str], text: str) -> Table:
    """Rows of words, the target last; `orders` gives the values of every column. ~ is a space."""
    names = header.split()
    rows = [line.split() for line in text.strip().splitlines()]
    columns = {
        name.replace("~", " "): Labels(
            tuple(row[place] for row in rows), tuple(orders[name].split())
        )
        for place, name in enumerate(names)
    }
    target = columns.pop(names[-1].replace("~", " "))
    return Table(dict(columns), target)


PLAY_TENNIS = read(
    "Outlook Temperature Humidity Wind PlayTennis",
    {
        "Outlook": "Sunny Overcast Rain",
        "Temperature": "Hot Mild Cool",
        "Humidity": "High Normal",
        "Wind": "Weak Strong",
        "PlayTennis": "Yes No",
    },
    """
    Sunny    Hot  High   Weak   No
    Sunny    Hot  High   Strong No
    Overcast Hot  High   Weak   Yes
    Rain     Mild High   Weak   Yes
    Rain     Cool Normal Weak   Yes
    Rain     Cool Normal Strong No
    Overcast Cool Normal Strong Yes
    Sunny    Mild High   Weak   No
    Sunny    Cool Normal Weak   Yes
    Rain     Mild Normal Weak   Yes
    Sunny    Mild Normal Strong Yes
    Overcast Mild High   Strong Yes
    Overcast Hot  Normal Weak   Yes
    Rain     Mild High   Strong No
    """,
)

BUYS_COMPUTER = read(
    "age income student credit_rating buys",
    {
        "age": "youth middle_aged senior",
        "income": "high medium low",
        "student": "no yes",
        "credit_rating": "fair excellent",
        "buys": "yes no",
    },
    """
    youth       high   no  fair      no
    youth       high   no  excellent no
    middle_aged high   no  fair      yes
    senior      medium no  fair      yes
    senior      low    yes fair      yes
    senior      low    yes excellent no
    middle_aged low    yes excellent yes
    youth       medium no  fair      no
    youth       low    yes fair      yes
    senior      medium yes fair      yes
    youth       medium yes excellent yes
    middle_aged medium no  excellent yes
    middle_aged high   yes fair      yes
    senior      medium no  excellent no
    """,
)

_MAMMAL_ORDERS = {
    "Body~Temperature": "warm-blooded cold-blooded",
    "Gives~Birth": "yes no",
    "Four-Legged": "yes no",
    "Hibernates": "yes no",
    "Mammals": "yes no",
}

# porcupine, cat, bat, whale, salamander, komodo dragon, python, salmon, eagle, guppy
MAMMALS_10 = read(
    "Body~Temperature Gives~Birth Four-Legged Hibernates Mammals",
    _MAMMAL_ORDERS,
    """
    warm-blooded yes yes yes yes
    warm-blooded yes yes no  yes
    warm-blooded yes no  yes no
    warm-blooded yes no  no  no
    cold-blooded no  yes yes no
    cold-blooded no  yes no  no
    cold-blooded no  no  yes no
    cold-blooded no  no  no  no
    warm-blooded no  no  no  no
    cold-blooded yes no  no  no
    """,
)

MAMMALS_TEST_NAMES = [
    "human",
    "pigeon",
    "elephant",
    "leopard shark",
    "turtle",
    "penguin",
    "eel",
    "dolphin",
    "spiny anteater",
    "gila monster",
]

MAMMALS_TEST = read(
    "Body~Temperature Gives~Birth Four-Legged Hibernates Mammals",
    _MAMMAL_ORDERS,
    """
    warm-blooded yes no  no  yes
    warm-blooded no  no  no  no
    warm-blooded yes yes no  yes
    cold-blooded yes no  no  no
    cold-blooded no  yes no  no
    warm-blooded no  no  no  no
    cold-blooded no  no  no  no
    warm-blooded yes no  no  yes
    warm-blooded no  yes yes yes
    cold-blooded no  yes yes no
    """,
)

# salamander, guppy, eagle, poorwill, platypus, human, dolphin, elephant
MAMMALS_8 = read(
    "Body~Temperature Four-Legged Hibernates Mammals",
    _MAMMAL_ORDERS,
    """
    cold-blooded yes yes no
    cold-blooded no  no  no
    warm-blooded no  no  no
    warm-blooded no  yes no
    warm-blooded yes yes yes
    warm-blooded no  no  yes
    warm-blooded no  no  yes
    warm-blooded yes no  yes
    """,
)

MAMMALS_5 = MAMMALS_8.rows(range(5))

SIX_TEMPERATURES = Table(
    {"Temperature": (40.0, 48.0, 60.0, 72.0, 80.0, 90.0)},
    Labels(("No", "No", "Yes", "Yes", "Yes", "No"), ("Yes", "No")),
)

XOR = read(
    "a b c y",
    {"a": "0 1", "b": "0 1", "c": "0 1", "y": "0 1"},
    "\n".join(f"{a} {b} {c} {a ^ b}" for a in (0, 1) for b in (0, 1) for c in (0, 1)),
)

NO_OVERCAST = PLAY_TENNIS.without("Outlook", "Overcast")
