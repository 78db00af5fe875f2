# SPDX-License-Identifier: BSD-3-Clause
"""fasttree: the classic decision trees, exact and fast."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fasttree.lazy import lazy_names
from fasttree.version import __version__

if TYPE_CHECKING:
    from fasttree import batch as batch
    from fasttree import costs, datasets, measures, metrics, plot, pruning
    from fasttree.batch import score_batches as score_batches
    from fasttree.columns import Columns
    from fasttree.compare import compare_methods
    from fasttree.doubts import DataWarning
    from fasttree.estimators import (
        BayesTreeClassifier,
        C45Classifier,
        CARTClassifier,
        ID3Classifier,
        MMLClassifier,
        RuleClassifier,
        SMMLClassifier,
        TreeClassifier,
    )
    from fasttree.estimators.depth import select_depth
    from fasttree.frames import Categorical
    from fasttree.importance import permutation_importance
    from fasttree.model_file import load
    from fasttree.ranking import rank_attributes
    from fasttree.refusals import ModelFileError

# Everything loads on first use, so that `import fasttree` costs next to nothing.
_HOMES = {
    "BayesTreeClassifier": "fasttree.estimators",
    "C45Classifier": "fasttree.estimators",
    "CARTClassifier": "fasttree.estimators",
    "Categorical": "fasttree.frames",
    "Columns": "fasttree.columns",
    "DataWarning": "fasttree.doubts",
    "ID3Classifier": "fasttree.estimators",
    "MMLClassifier": "fasttree.estimators",
    "ModelFileError": "fasttree.refusals",
    "RuleClassifier": "fasttree.estimators",
    "SMMLClassifier": "fasttree.estimators",
    "TreeClassifier": "fasttree.estimators",
    "batch": "fasttree.batch",
    "compare_methods": "fasttree.compare",
    "costs": "fasttree.costs",
    "datasets": "fasttree.datasets",
    "load": "fasttree.model_file",
    "measures": "fasttree.measures",
    "metrics": "fasttree.metrics",
    "permutation_importance": "fasttree.importance",
    "plot": "fasttree.plot",
    "pruning": "fasttree.pruning",
    "rank_attributes": "fasttree.ranking",
    "score_batches": "fasttree.batch",
    "select_depth": "fasttree.estimators.depth",
}

# Without what needs an extra: `from fasttree import *` must work with what is always there.
__all__ = [
    "BayesTreeClassifier",
    "C45Classifier",
    "CARTClassifier",
    "Categorical",
    "Columns",
    "DataWarning",
    "ID3Classifier",
    "MMLClassifier",
    "ModelFileError",
    "RuleClassifier",
    "SMMLClassifier",
    "TreeClassifier",
    "__version__",
    "compare_methods",
    "costs",
    "datasets",
    "load",
    "measures",
    "metrics",
    "permutation_importance",
    "plot",
    "pruning",
    "rank_attributes",
    "select_depth",
]

__getattr__, __dir__ = lazy_names(__name__, globals(), _HOMES)
