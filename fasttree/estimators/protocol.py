# SPDX-License-Identifier: BSD-3-Clause
"""scikit-learn's protocol of classifiers and regressors, without scikit-learn: parameters, cloning, tags,
representation, score."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from fasttree.base.elementary import log
from fasttree.base.errors import reading_pickle
from fasttree.base.hints import instead
from fasttree.base.values import short_repr
from fasttree.estimators.metadata_routing import Routed
from fasttree.estimators.parameters import call, defaults_of, parts_of, with_parts
from fasttree.estimators.validation import accuracy, r2_of
from fasttree.persistence.parts import FittedModel
from fasttree.version import __version__

if TYPE_CHECKING:
    from fasttree.tables.column_list import ColumnList
    from fasttree.trees.regression_tree import RegressionTree
    from fasttree.trees.tree import Tree

# The fields of a `FittedModel`, and the attributes that hold them; one that is None is not set.
FITTED = {
    "tree": "tree_",
    "trace": "pruning_trace_",
    "path": "pruning_path_",
    "choice": "pruning_choice_",
    "choices": "_choices",
    "missing": "_missing_policy",
    "rules": "rules_",
}


class Estimator(Routed):
    """Parameters are the keyword arguments of ``__init__``, stored under their own names and checked by ``fit``."""

    _estimator_type: str

    tree_: Any
    n_features_in_: int
    feature_names_in_: np.ndarray

    # -- parameters ------------------------------------------------------------------------------------------------

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name. `deep`: include those of parameters that are estimators or pruning objects, as
        ``name__parameter``."""
        own = {name: getattr(self, name) for name in sorted(defaults_of(type(self)))}
        if not deep:
            return own
        nested = {
            f"{name}__{key}": value
            for name, part in own.items()
            for key, value in (parts_of(part) or {}).items()
        }
        return own | nested

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``name__parameter`` sets one of a parameter that is an estimator or a pruning object."""
        own: dict[str, Any] = {}
        nested: dict[str, dict[str, Any]] = {}
        names = sorted(defaults_of(type(self)))
        for key, value in params.items():
            name, is_nested, rest = key.partition("__")
            if name not in names:
                raise ValueError(
                    f"Invalid parameter {name!r} for estimator {self}: {self._instead(name, names)}"
                )
            if is_nested:
                nested.setdefault(name, {})[rest] = value
            else:
                own[name] = value
        for name, changes in nested.items():
            part, first = own.get(name, getattr(self, name)), next(iter(changes))
            if parts_of(part) is None:
                remedy = f"Set {name} itself{self._object_for(name, part, first)}."
                raise ValueError(
                    f"Invalid parameter {name + '__' + first!r} for estimator {self}: {name} is {short_repr(part)}, "
                    f"which has no parameters of its own. {remedy}"
                )
            own[name] = with_parts(part, changes)
        for name, value in own.items():
            setattr(self, name, value)
        return self

    def _instead(self, name: str, names: Sequence[str]) -> str:
        """What to write instead of a parameter that is none of the `names`."""
        return instead(name, names)

    def _object_for(self, name: str, value: Any, part: str) -> str:
        """How to set a parameter to an object that has the parameter `part`, if there is one, as the end of a
        sentence."""
        return ""

    # -- what it looks like ----------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        return call(self)

    def _repr_html_(self) -> str:
        from fasttree.estimators.repr_html import to_html  # notebooks ask for it, nobody else

        return to_html(self)

    def _repr_mimebundle_(self, **formats: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    # -- what scikit-learn asks ------------------------------------------------------------------------------------

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "tree_")

    def __sklearn_tags__(self) -> Any:
        # Only scikit-learn asks for tags, so it is there to be imported.
        from sklearn.utils import ClassifierTags, InputTags, RegressorTags, Tags, TargetTags

        is_classifier = self._estimator_type == "classifier"
        return Tags(
            estimator_type=self._estimator_type,
            target_tags=TargetTags(required=True),
            classifier_tags=ClassifierTags() if is_classifier else None,
            regressor_tags=None if is_classifier else RegressorTags(),
            # Not `string`: by that scikit-learn means that anything at all may stand in a column of objects.
            input_tags=InputTags(categorical=True, allow_nan=self._takes_missing()),
        )

    # -- what was learned from -------------------------------------------------------------------------------------

    def columns(self) -> ColumnList:
        """Return how the columns of the training table were read: name, kind, number of distinct values, number of
        missing values, an example. Print the result. (Models from files of older versions may lack the counts.)"""
        from fasttree.tables.column_list import columns_of  # few ask for it

        self._check_fitted()
        return columns_of(self.tree_.schema)

    def fitted_model(self) -> FittedModel:
        """Return what `fit` has left in this estimator beside its parameters, as model files have it."""
        self._check_fitted()
        found: Any = {field: getattr(self, own, None) for field, own in FITTED.items()}
        return FittedModel(**found)

    def restore(self, fitted: FittedModel) -> None:
        """Be fitted, as another estimator of the same parameters is that returned this `fitted_model`."""
        for field, own in FITTED.items():
            self.__dict__.pop(own, None)
            if getattr(fitted, field) is not None:
                setattr(self, own, getattr(fitted, field))
        schema = fitted.tree.schema
        self.n_features_in_ = len(schema.attributes)
        self.__dict__.pop("feature_names_in_", None)
        if schema.named:
            self.feature_names_in_ = np.array(schema.names, dtype=object)

    def predict(self, X: Any) -> np.ndarray:
        raise NotImplementedError

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        raise NotImplementedError

    # -- to disk and back ------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a file that `fasttree.load` reads, in this version and later ones.

        The file is written completely or not at all; equal models make equal files.
        """
        from fasttree.persistence.model_file import save  # heavy, and few ask for it

        save(self, path)

    def check(self) -> None:
        """Refuse illegal parameters, and fitted attributes that do not fit together."""
        self._check_settings()
        if self.__sklearn_is_fitted__():
            self._check_restored()

    def _check_settings(self) -> None:
        """Are the parameters legal, as far as that can be said without the training rows?"""

    def _check_restored(self) -> None:
        """Does what a fitted estimator remembers fit together? Its tree is checked already."""

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_fasttree_version": __version__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        version = state.pop("_fasttree_version", None)
        with reading_pickle(type(self).__name__, version, __version__):
            self.__dict__.update(state)
            if "tree_" in state:
                self._check_restored()

    def _takes_missing(self) -> bool:
        return getattr(self, "missing", None) != "error"

    def _check_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise not_fitted(type(self).__name__)


class ClassifierMixin(Estimator):
    """An estimator that predicts classes."""

    _estimator_type = "classifier"

    tree_: Tree
    classes_: np.ndarray

    def restore(self, fitted: FittedModel) -> None:
        super().restore(fitted)
        self.classes_ = fitted.tree.schema.classes

    def predict_proba(self, X: Any) -> np.ndarray:
        raise NotImplementedError

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Return the logarithm of `predict_proba`."""
        return log(self.predict_proba(X))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy: the share of correctly classified rows."""
        predicted = self.predict(X)
        return accuracy(self.classes_, predicted, y, sample_weight)


class RegressorMixin(Estimator):
    """An estimator that predicts numbers."""

    _estimator_type = "regressor"

    tree_: RegressionTree

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return R2, the share of the variance of y that the predictions explain: 1 at best, 0 for the mean of y."""
        return r2_of(self.predict(X), y, sample_weight)


class NotFittedError(ValueError, AttributeError):
    """Asked something that only a fitted estimator knows."""


def not_fitted(name: str) -> Exception:
    """scikit-learn's NotFittedError where scikit-learn is in use, else our own with the same bases."""
    text = f"This {name} instance is not fitted yet: call 'fit' before using this method."
    exceptions = sys.modules.get("sklearn.exceptions")
    if exceptions is not None:
        error: Exception = exceptions.NotFittedError(text)
        return error
    return NotFittedError(text)
