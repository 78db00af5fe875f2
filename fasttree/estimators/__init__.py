# SPDX-License-Identifier: BSD-3-Clause
"""The estimators: thin, in scikit-learn's protocol."""

from fasttree.estimators.by_length import BayesTreeClassifier, MMLClassifier, SMMLClassifier
from fasttree.estimators.classifier import TreeClassifier
from fasttree.estimators.presets import C45Classifier, CARTClassifier, ID3Classifier
from fasttree.estimators.rules import RuleClassifier

__all__ = [
    "BayesTreeClassifier",
    "C45Classifier",
    "CARTClassifier",
    "ID3Classifier",
    "MMLClassifier",
    "RuleClassifier",
    "SMMLClassifier",
    "TreeClassifier",
]
