# SPDX-License-Identifier: BSD-3-Clause
"""The estimators: thin, in scikit-learn's protocol."""

from typing import TYPE_CHECKING

from fasttree.base.lazy import lazy_names

if TYPE_CHECKING:
    from fasttree.estimators.classifier import TreeClassifier
    from fasttree.estimators.message_length import (
        BayesTreeClassifier,
        MMLClassifier,
        SMMLClassifier,
    )
    from fasttree.estimators.presets import C45Classifier, CARTClassifier, ID3Classifier
    from fasttree.estimators.regressor import CARTRegressor, TreeRegressor
    from fasttree.estimators.rule_classifier import RuleClassifier

# A tree is wanted more often than rules or messages: each is loaded on first use.
_HOMES = {
    "BayesTreeClassifier": "fasttree.estimators.message_length",
    "C45Classifier": "fasttree.estimators.presets",
    "CARTClassifier": "fasttree.estimators.presets",
    "CARTRegressor": "fasttree.estimators.regressor",
    "ID3Classifier": "fasttree.estimators.presets",
    "MMLClassifier": "fasttree.estimators.message_length",
    "RuleClassifier": "fasttree.estimators.rule_classifier",
    "SMMLClassifier": "fasttree.estimators.message_length",
    "TreeClassifier": "fasttree.estimators.classifier",
    "TreeRegressor": "fasttree.estimators.regressor",
}

__all__ = [
    "BayesTreeClassifier",
    "C45Classifier",
    "CARTClassifier",
    "CARTRegressor",
    "ID3Classifier",
    "MMLClassifier",
    "RuleClassifier",
    "SMMLClassifier",
    "TreeClassifier",
    "TreeRegressor",
]

__getattr__, __dir__ = lazy_names(__name__, globals(), _HOMES)
