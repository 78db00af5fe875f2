# SPDX-License-Identifier: BSD-3-Clause
"""Trees that were worked out by hand or by an independent brute force, as literals.

An inner node is {attribute: {branch: subtree}}; a branch is a value (multiway), a tuple of values
(subset) or a text such as "<= 54" (threshold); a single value and a tuple of it are the same. A
leaf is (class, counts in the declared order of the classes). `scores` are those of the
inner nodes in breadth-first order.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import textbook_tables as tables
from reference import Node
from textbook_tables import Labels, Table


@dataclass(frozen=True)
class Golden:
    """A table, the parameters, and the tree that must come out."""

    name: str
    table: Table
    parameters: dict[str, Any]
    tree: Any
    scores: tuple[float, ...] = ()
    n_leaves: int = 0
    n_errors: int = 0
    text: str = field(default="", compare=False)

    def __str__(self) -> str:
        return self.name


MULTIWAY = {"criterion": "entropy", "categorical_split": "multiway"}
RATIO = {"criterion": "gain_ratio", "categorical_split": "multiway"}
GINI_MULTIWAY = {"criterion": "gini", "categorical_split": "multiway"}
CART = {"criterion": "gini", "categorical_split": "subset", "stop_zero_gain": True}
CART_ENTROPY = {"criterion": "entropy", "categorical_split": "subset", "stop_zero_gain": True}

TENNIS_ID3 = {
    "Outlook": {
        "Sunny": {"Humidity": {"High": ("No", 0, 3), "Normal": ("Yes", 2, 0)}},
        "Overcast": ("Yes", 4, 0),
        "Rain": {"Wind": {"Weak": ("Yes", 3, 0), "Strong": ("No", 0, 2)}},
    }
}
BUYS_ID3 = {
    "age": {
        "youth": {"student": {"no": ("no", 0, 3), "yes": ("yes", 2, 0)}},
        "middle_aged": ("yes", 4, 0),
        "senior": {"credit_rating": {"fair": ("yes", 3, 0), "excellent": ("no", 0, 2)}},
    }
}
TENNIS_CART = {
    "Outlook": {
        ("Sunny", "Rain"): {
            "Humidity": {
                ("High",): {
                    "Outlook": {
                        ("Sunny",): ("No", 0, 3),
                        ("Rain",): {"Wind": {("Weak",): ("Yes", 1, 0), ("Strong",): ("No", 0, 1)}},
                    }
                },
                ("Normal",): {
                    "Wind": {
                        ("Weak",): ("Yes", 3, 0),
                        ("Strong",): {
                            "Outlook": {("Sunny",): ("Yes", 1, 0), ("Rain",): ("No", 0, 1)}
                        },
                    }
                },
            }
        },
        ("Overcast",): ("Yes", 4, 0),
    }
}
BUYS_CART = {
    "age": {
        ("youth", "senior"): {
            "student": {
                ("no",): {
                    "age": {
                        ("youth",): ("no", 0, 3),
                        ("senior",): {
                            "credit_rating": {
                                ("fair",): ("yes", 1, 0),
                                ("excellent",): ("no", 0, 1),
                            }
                        },
                    }
                },
                ("yes",): {
                    "credit_rating": {
                        ("fair",): ("yes", 3, 0),
                        ("excellent",): {
                            "age": {("youth",): ("yes", 1, 0), ("senior",): ("no", 0, 1)}
                        },
                    }
                },
            }
        },
        ("middle_aged",): ("yes", 4, 0),
    }
}
MAMMALS_10_ID3 = {
    "Four-Legged": {
        "yes": {
            # A tie with Gives Birth (both gain 1): the order of the columns decides.
            "Body Temperature": {"warm-blooded": ("yes", 2, 0), "cold-blooded": ("no", 0, 2)}
        },
        "no": ("no", 0, 6),
    }
}
MAMMALS_5_ID3 = {
    "Four-Legged": {
        "yes": {"Body Temperature": {"warm-blooded": ("yes", 1, 0), "cold-blooded": ("no", 0, 1)}},
        "no": ("no", 0, 3),
    }
}
MAMMALS_8_ID3 = {
    "Body Temperature": {
        "warm-blooded": {
            "Four-Legged": {
                "yes": ("yes", 2, 0),
                "no": {"Hibernates": {"yes": ("no", 0, 1), "no": ("yes", 2, 1)}},
            }
        },
        "cold-blooded": ("no", 0, 2),
    }
}
NO_OVERCAST_ID3 = {
    "Humidity": {
        "High": {
            "Outlook": {
                "Sunny": ("No", 0, 3),
                "Rain": {"Wind": {"Weak": ("Yes", 1, 0), "Strong": ("No", 0, 1)}},
                "Overcast": ("No", 0, 0),
            }
        },
        "Normal": {
            "Wind": {
                "Weak": ("Yes", 3, 0),
                "Strong": {
                    "Outlook": {
                        "Sunny": ("Yes", 1, 0),
                        "Rain": ("No", 0, 1),
                        "Overcast": ("Yes", 0, 0),  # the parent's 1:1 tie: the first class, Yes
                    }
                },
            }
        },
    }
}


def as_subsets(tree: Any) -> Any:
    """The same tree with every branch written as a tuple."""
    if isinstance(tree, tuple):
        return tree
    ((attribute, branches),) = tree.items()
    return {
        attribute: {
            branch if isinstance(branch, tuple) else (branch,): as_subsets(child)
            for branch, child in branches.items()
        }
    }


TENNIS_TEXT = """\
Outlook = Sunny
|   Humidity = High: No (3)
|   Humidity = Normal: Yes (2)
Outlook = Overcast: Yes (4)
Outlook = Rain
|   Wind = Weak: Yes (3)
|   Wind = Strong: No (2)
"""
MAMMALS_10_TEXT = """\
Four-Legged = yes
|   Body Temperature = warm-blooded: yes (2)
|   Body Temperature = cold-blooded: no (2)
Four-Legged = no: no (6)
"""
MAMMALS_8_TEXT = """\
Body Temperature = warm-blooded
|   Four-Legged = yes: yes (2)
|   Four-Legged = no
|   |   Hibernates = yes: no (1)
|   |   Hibernates = no: yes (3/1)
Body Temperature = cold-blooded: no (2)
"""

GAIN_SUNNY = 0.9709505944546685
TENNIS_GAINS = (0.24674981977443922, GAIN_SUNNY, GAIN_SUNNY)
CART_GAINS = (0.10204081632653056, 0.18, 0.12, 0.12, 0.5, 0.5)
CART_ENTROPY_GAINS = (
    0.2260002443849164,
    0.27807190511263835,
    0.32192809488736207,
    0.32192809488736207,
    1.0,
    1.0,
)
SIX_TREE = {
    "Temperature": {
        "<= 54": ("No", 0, 2),
        "> 54": {"Temperature": {"<= 85": ("Yes", 3, 0), "> 85": ("No", 0, 1)}},
    }
}
GAIN_54, GAIN_85 = 0.4591479170272448, 0.8112781244591328

GOLDENS = [
    Golden("tennis-id3", tables.PLAY_TENNIS, MULTIWAY, TENNIS_ID3, TENNIS_GAINS, 5, 0, TENNIS_TEXT),
    Golden(
        "tennis-ratio",
        tables.PLAY_TENNIS,
        RATIO,
        TENNIS_ID3,
        (0.1564275624211752, 1.0, 1.0),
        5,
        0,
        TENNIS_TEXT,
    ),
    Golden(
        "tennis-gini-multiway",
        tables.PLAY_TENNIS,
        GINI_MULTIWAY,
        TENNIS_ID3,
        (0.11632653061224485, 0.48, 0.48),
        5,
        0,
        TENNIS_TEXT,
    ),
    Golden("tennis-cart", tables.PLAY_TENNIS, CART, TENNIS_CART, CART_GAINS, 7),
    Golden(
        "tennis-cart-entropy",
        tables.PLAY_TENNIS,
        CART_ENTROPY,
        TENNIS_CART,
        CART_ENTROPY_GAINS,
        7,
    ),
    Golden("buys-id3", tables.BUYS_COMPUTER, MULTIWAY, BUYS_ID3, TENNIS_GAINS, 5),
    Golden("buys-ratio", tables.BUYS_COMPUTER, RATIO, BUYS_ID3, (0.1564275624211752, 1, 1), 5),
    Golden("buys-gini-multiway", tables.BUYS_COMPUTER, GINI_MULTIWAY, BUYS_ID3, n_leaves=5),
    Golden("buys-cart", tables.BUYS_COMPUTER, CART, BUYS_CART, CART_GAINS, 7),
    Golden(
        "buys-cart-entropy", tables.BUYS_COMPUTER, CART_ENTROPY, BUYS_CART, CART_ENTROPY_GAINS, 7
    ),
    Golden(
        "mammals10-id3",
        tables.MAMMALS_10,
        MULTIWAY,
        MAMMALS_10_ID3,
        (0.3219280948873624, 1.0),
        3,
        0,
        MAMMALS_10_TEXT,
    ),
    Golden(
        "mammals10-ratio",
        tables.MAMMALS_10,
        RATIO,
        MAMMALS_10_ID3,
        (0.3315597072868288, 1.0),
        3,
        0,
        MAMMALS_10_TEXT,
    ),
    Golden(
        "mammals10-gini-multiway", tables.MAMMALS_10, GINI_MULTIWAY, MAMMALS_10_ID3, (0.12, 0.5), 3
    ),
    Golden("mammals10-cart", tables.MAMMALS_10, CART, MAMMALS_10_ID3, (0.12, 0.5), 3),
    Golden(
        "mammals10-cart-entropy",
        tables.MAMMALS_10,
        CART_ENTROPY,
        MAMMALS_10_ID3,
        (0.3219280948873624, 1.0),
        3,
    ),
    Golden(
        "mammals5-id3",
        tables.MAMMALS_5,
        MULTIWAY,
        MAMMALS_5_ID3,
        (0.32192809488736207, 1.0),
        3,
    ),
    Golden(
        "mammals5-ratio",
        tables.MAMMALS_5,
        RATIO,
        MAMMALS_5_ID3,
        (0.33155970728682854, 1.0),
        3,
    ),
    Golden("mammals5-cart", tables.MAMMALS_5, CART, MAMMALS_5_ID3, (0.12, 0.5), 3),
    Golden(
        "mammals8-id3",
        tables.MAMMALS_8,
        MULTIWAY,
        MAMMALS_8_ID3,
        (0.31127812445913294, 0.2516291673878228, 0.31127812445913294),
        4,
        1,
        MAMMALS_8_TEXT,
    ),
    Golden(
        "mammals8-ratio",
        tables.MAMMALS_8,
        RATIO,
        MAMMALS_8_ID3,
        (0.38368854659634444, 0.2740175421212809, 0.38368854659634444),
        4,
        1,
        MAMMALS_8_TEXT,
    ),
    Golden(
        "mammals8-cart",
        tables.MAMMALS_8,
        CART,
        MAMMALS_8_ID3,
        (1 / 6, 1 / 9, 1 / 6),
        4,
        1,
    ),
    Golden(
        "mammals8-cart-entropy",
        tables.MAMMALS_8,
        CART_ENTROPY,
        MAMMALS_8_ID3,
        (0.31127812445913294, 0.2516291673878228, 0.31127812445913294),
        4,
        1,
    ),
    Golden(
        "no-overcast-id3",
        tables.NO_OVERCAST,
        MULTIWAY | {"ties": "schema"},
        NO_OVERCAST_ID3,
        (0.27807190511263835, 0.32192809488736207, 0.32192809488736207, 1.0, 1.0),
        8,
    ),
    Golden(
        "six-temperatures-entropy",
        tables.SIX_TEMPERATURES,
        {"criterion": "entropy"},
        SIX_TREE,
        (GAIN_54, GAIN_85),
        3,
    ),
    Golden(
        "six-temperatures-gini",
        tables.SIX_TEMPERATURES,
        {"criterion": "gini"},
        SIX_TREE,
        (0.25, 0.375),
        3,
    ),
    Golden(
        "six-temperatures-ratio",
        tables.SIX_TEMPERATURES,
        {"criterion": "gain_ratio"},
        SIX_TREE,
        (0.5, 1.0),
        3,
    ),
    Golden(
        "six-temperatures-value",
        tables.SIX_TEMPERATURES,
        {"criterion": "gini", "threshold": "value"},
        {
            "Temperature": {
                "<= 48": ("No", 0, 2),
                "> 48": {"Temperature": {"<= 80": ("Yes", 3, 0), "> 80": ("No", 0, 1)}},
            }
        },
        (0.25, 0.375),
        3,
    ),
    # Early stopping.
    Golden(
        "tennis-depth-1",
        tables.PLAY_TENNIS,
        MULTIWAY | {"max_depth": 1},
        {"Outlook": {"Sunny": ("No", 2, 3), "Overcast": ("Yes", 4, 0), "Rain": ("Yes", 3, 2)}},
        (0.24674981977443922,),
        3,
        4,
    ),
    Golden(
        "tennis-min-gain",
        tables.PLAY_TENNIS,
        MULTIWAY | {"min_gain": 0.3},
        ("Yes", 9, 5),
        (),
        1,
        5,
    ),
    Golden(
        "tennis-depth-0", tables.PLAY_TENNIS, MULTIWAY | {"max_depth": 0}, ("Yes", 9, 5), (), 1, 5
    ),
    Golden(
        "xor-id3",
        tables.XOR,
        MULTIWAY,
        {
            "a": {
                "0": {"b": {"0": ("0", 2, 0), "1": ("1", 0, 2)}},
                "1": {"b": {"0": ("1", 0, 2), "1": ("0", 2, 0)}},
            }
        },
        (0.0, 1.0, 1.0),
        4,
    ),
    Golden("xor-stop", tables.XOR, MULTIWAY | {"stop_zero_gain": True}, ("0", 4, 4), (), 1, 4),
    Golden("xor-cart", tables.XOR, CART, ("0", 4, 4), (), 1, 4),
    Golden(
        "xor-subset",
        tables.XOR,
        {"criterion": "gini", "categorical_split": "subset"},
        {
            "a": {
                ("0",): {"b": {("0",): ("0", 2, 0), ("1",): ("1", 0, 2)}},
                ("1",): {"b": {("0",): ("1", 0, 2), ("1",): ("0", 2, 0)}},
            }
        },
        (0.0, 0.5, 0.5),
        4,
    ),
    Golden("xor-ratio-stop", tables.XOR, RATIO | {"stop_zero_gain": True}, ("0", 4, 4), (), 1, 4),
]
# A split needs two branches of min_samples_leaf: with 3, no split of Sunny or Rain is left, but
# Outlook (5, 4, 5) stays possible at the root.
GOLDENS.append(
    Golden(
        "tennis-leaf-3",
        tables.PLAY_TENNIS,
        MULTIWAY | {"min_samples_leaf": 3},
        {"Outlook": {"Sunny": ("No", 2, 3), "Overcast": ("Yes", 4, 0), "Rain": ("Yes", 3, 2)}},
        (0.24674981977443922,),
        3,
        4,
    )
)


def nest(nodes: list[Node], table: Table) -> Any:
    """A list of nodes in the notation above, every branch a tuple (see `as_subsets`)."""
    nested: list[Any] = [None] * len(nodes)
    for place in reversed(range(len(nodes))):  # children come after their parents
        node = nodes[place]
        if node.split is None:
            counts = [round(node.counts[c]) for c in table.class_order]
            nested[place] = (table.classes[node.pred], *counts)
            continue
        name = table.names[node.split.attribute]
        column = table.columns[name]
        branches = range(len(node.children))
        if isinstance(column, Labels):
            way = [node.split.branch_of(c, node.default_branch) for c in range(len(column.order))]
            seen = node.split.table
            shared = node.default_branch if node.split.n_absent else -1
            keys = [
                tuple(
                    v
                    for c, v in enumerate(column.order)
                    if way[c] == b and (c in seen or b == shared)
                )
                for b in branches
            ]
        else:
            cut = f"{node.split.threshold:.6g}"
            keys = [(f"<= {cut}",), (f"> {cut}",)]
        nested[place] = {name: {keys[b]: nested[node.children[b]] for b in branches}}
    return nested[0]
