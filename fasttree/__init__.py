# SPDX-License-Identifier: BSD-3-Clause
"""fasttree: the classic decision trees, exact and fast."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fasttree.base.lazy import lazy_names
from fasttree.version import __version__

if TYPE_CHECKING:
    from fasttree import batch as batch
    from fasttree import costs, datasets, measures, metrics, plot, pruning
    from fasttree.base.errors import ModelFileError
    from fasttree.batch import score_batches as score_batches
    from fasttree.encoding.dataset import Columns, Dataset
    from fasttree.estimators import (
        BayesTreeClassifier,
        C45Classifier,
        CARTClassifier,
        CARTRegressor,
        ID3Classifier,
        MMLClassifier,
        RuleClassifier,
        SMMLClassifier,
        TreeClassifier,
        TreeRegressor,
    )
    from fasttree.evaluation.compare import compare_methods
    from fasttree.evaluation.depth import select_depth
    from fasttree.evaluation.permutation_importance import permutation_importance
    from fasttree.evaluation.ranking import rank_attributes
    from fasttree.persistence.model_file import load
    from fasttree.tables.categorical import Categorical
    from fasttree.tables.doubts import DataWarning

# Everything loads on first use, so that `import fasttree` costs next to nothing.
_HOMES = {
    "BayesTreeClassifier": "fasttree.estimators",
    "C45Classifier": "fasttree.estimators",
    "CARTClassifier": "fasttree.estimators",
    "CARTRegressor": "fasttree.estimators",
    "Categorical": "fasttree.tables.categorical",
    "Columns": "fasttree.encoding.dataset",
    "DataWarning": "fasttree.tables.doubts",
    "Dataset": "fasttree.encoding.dataset",
    "ID3Classifier": "fasttree.estimators",
    "MMLClassifier": "fasttree.estimators",
    "ModelFileError": "fasttree.base.errors",
    "RuleClassifier": "fasttree.estimators",
    "SMMLClassifier": "fasttree.estimators",
    "TreeClassifier": "fasttree.estimators",
    "TreeRegressor": "fasttree.estimators",
    "batch": "fasttree.batch",
    "compare_methods": "fasttree.evaluation.compare",
    "costs": "fasttree.costs",
    "datasets": "fasttree.datasets",
    "load": "fasttree.persistence.model_file",
    "measures": "fasttree.measures",
    "metrics": "fasttree.metrics",
    "permutation_importance": "fasttree.evaluation.permutation_importance",
    "plot": "fasttree.plot",
    "pruning": "fasttree.pruning",
    "rank_attributes": "fasttree.evaluation.ranking",
    "score_batches": "fasttree.batch",
    "select_depth": "fasttree.evaluation.depth",
}

# Without what needs an extra: `from fasttree import *` must work with what is always there.
__all__ = [
    "BayesTreeClassifier",
    "C45Classifier",
    "CARTClassifier",
    "CARTRegressor",
    "Categorical",
    "Columns",
    "DataWarning",
    "Dataset",
    "ID3Classifier",
    "MMLClassifier",
    "ModelFileError",
    "RuleClassifier",
    "SMMLClassifier",
    "TreeClassifier",
    "TreeRegressor",
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
