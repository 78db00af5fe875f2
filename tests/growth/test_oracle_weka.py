# SPDX-License-Identifier: BSD-3-Clause
"""C4.5 against the trees that Weka 3.6.14's J48 prints: the same tests, thresholds and counts."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from printed_j48 import j48_difference, parse_j48, print_j48
from printed_trees import read_sections, read_table

from fasttree import C45Classifier, ID3Classifier

pytestmark = pytest.mark.numeric

PRINTED = read_sections("weka_j48.txt")
NAMES = [
    "weather_nominal",
    "weather_numeric",
    "contact_lenses",
    "labor",
    "vote",
    "breast_cancer",
    "iris",
]

BESIDE = Path(__file__).resolve().parents[3] / "shared"
REAL_TABLES = Path(os.environ.get("FASTTREE_SHARED", BESIDE)) / "data"


@pytest.mark.parametrize("heading", PRINTED)
def test_print_of_what_was_read(heading: str) -> None:
    printed = parse_j48(PRINTED[heading])
    assert print_j48(printed) == PRINTED[heading]
    assert printed.n_leaves == sum(line.is_leaf for line in printed.lines)
    assert printed.size == len(printed.lines) + 1


@pytest.mark.parametrize("name", NAMES)
def test_grown_tree(name: str) -> None:
    X, y = read_table(name)
    printed = parse_j48(PRINTED[f"{name} -U"])
    model = C45Classifier(compat="j48", pruning=None).fit(X, y)
    assert j48_difference(model.tree_, printed) is None
    labels = np.array([y.categories[code] for code in y.codes])
    assert (model.predict(X) != labels).sum() == printed.training_errors


@pytest.mark.parametrize("name", NAMES)
def test_plain_c45_grows_the_same_tree(name: str) -> None:
    # Weka's tolerances make no difference on these tables.
    X, y = read_table(name)
    assert (
        j48_difference(
            C45Classifier(pruning=None).fit(X, y).tree_, parse_j48(PRINTED[f"{name} -U"])
        )
        is None
    )


@pytest.mark.parametrize("name", NAMES)
def test_top_that_pruning_left(name: str) -> None:
    # Without subtree raising (-S) Weka's pruned tree is the top of the grown one: inner nodes agree.
    X, y = read_table(name)
    tree = C45Classifier(compat="j48", pruning=None).fit(X, y).tree_
    assert j48_difference(tree, parse_j48(PRINTED[f"{name} -S"]), top_only=True) is None


@pytest.mark.parametrize("name", NAMES)
def test_same_tree_from_a_data_frame(name: str) -> None:
    pandas = pytest.importorskip("pandas")
    if not REAL_TABLES.is_dir():
        pytest.skip(f"no real tables in {REAL_TABLES}")
    X, y = read_table(name)
    frame = pandas.read_parquet(REAL_TABLES / f"{name}.parquet")
    target = frame.pop(frame.columns[-1])
    ours = C45Classifier(compat="j48", pruning=None).fit(X, y).tree_
    assert (
        C45Classifier(compat="j48", pruning=None).fit(frame, target).tree_.fingerprint()
        == ours.fingerprint()
    )


def test_id3_on_nominal_weather() -> None:
    # On this table C4.5 and ID3 choose alike.
    X, y = read_table("weather_nominal")
    printed = parse_j48(PRINTED["weather_nominal -U"])
    assert j48_difference(ID3Classifier().fit(X, y).tree_, printed) is None


WEATHER = PRINTED["weather_nominal -U"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("humidity = high: no (3.0)", "humidity = high: no (3.01)", "humidity = high: no (3.0"),
        ("humidity = high: no", "humidity = high: yes", "humidity = high: no (3.0"),
        ("humidity = high: no (3.0)", "humidity = high: no (3.0/1.0)", "expected no (3.0/1.0)"),
        ("windy = TRUE: no (2.0)", "windy = TRUE", "windy = TRUE: should be split"),
        ("|   windy = FALSE: yes (3.0)\n", "", "more lines than Weka, from windy = FALSE"),
        ("|   windy = TRUE: no (2.0)\n|   windy = FALSE: yes (3.0)\n", "", "more lines"),
        ("Leaves: 5", "Leaves: 6", "expected 6 and 8"),
    ],
)
def test_a_difference_is_found(old: str, new: str, message: str) -> None:
    assert old in WEATHER
    X, y = read_table("weather_nominal")
    tree = ID3Classifier().fit(X, y).tree_
    found = j48_difference(tree, parse_j48(WEATHER.replace(old, new)))
    assert found is not None
    assert message in found
