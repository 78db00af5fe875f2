# SPDX-License-Identifier: BSD-3-Clause
"""The classes that model files name: by name, so that a class is imported only where a file or a model has it."""

from __future__ import annotations

import importlib
from typing import Any

RULES = "RuleClassifier"
_HOMES = {
    "BayesTreeClassifier": "fasttree.estimators",
    "C45Classifier": "fasttree.estimators",
    "CARTClassifier": "fasttree.estimators",
    "CARTRegressor": "fasttree.estimators",
    "ID3Classifier": "fasttree.estimators",
    "MMLClassifier": "fasttree.estimators",
    "RuleClassifier": "fasttree.estimators",
    "SMMLClassifier": "fasttree.estimators",
    "TreeClassifier": "fasttree.estimators",
    "TreeRegressor": "fasttree.estimators",
}


def class_named(name: Any) -> type[Any] | None:
    """None if files have no such class."""
    if name not in _HOMES:
        return None
    found: type[Any] = getattr(importlib.import_module(_HOMES[name]), name)
    return found


def is_known(value: Any) -> bool:
    """Is it an object of one of these classes itself, not of one that derives from them?"""
    return class_named(type(value).__name__) is type(value)
