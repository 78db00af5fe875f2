# SPDX-License-Identifier: BSD-3-Clause
"""Documented names of modules are there, though what they hold stands in a package."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

import fasttree

HOMES = {
    "averaging": "mml.averaging",
    "choices": "mml.options",
    "compare": "evaluation.compare",
    "costs": "growth.choosers.costs",
    "measures": "stats.measures",
    "message_length": "mml.message",
    "metrics": "stats.metrics",
}


@pytest.mark.parametrize("name", HOMES)
def test_a_facade_has_what_its_home_has(name: str) -> None:
    facade = importlib.import_module(f"fasttree.{name}")
    home = importlib.import_module(f"fasttree.{HOMES[name]}")
    assert facade.__all__ == dir(facade)
    assert list(facade.__all__) == sorted(facade.__all__, key=lambda one: (not one.isupper(), one))
    for one in facade.__all__:
        assert getattr(facade, one) is getattr(home, one)
    if hasattr(home, "__all__"):
        assert facade.__all__ == home.__all__


def test_every_module_at_the_top_is_a_facade() -> None:
    top = {path.stem for path in Path(fasttree.__file__).parent.glob("*.py")}
    assert top == {*HOMES, "__init__", "__main__", "version"}


def test_no_submodule_of_pruning_has_the_name_of_a_function() -> None:
    submodules = {path.stem for path in Path(fasttree.pruning.__file__).parent.glob("*.py")}
    assert not submodules & set(fasttree.pruning.__all__)
