# SPDX-License-Identifier: BSD-3-Clause
"""The estimators: thin, in scikit-learn's protocol."""

from fasttree.estimators.classifier import CARTClassifier, ID3Classifier, TreeClassifier

__all__ = ["CARTClassifier", "ID3Classifier", "TreeClassifier"]
