# SPDX-License-Identifier: BSD-3-Clause
"""scikit-learn's estimator protocol, without scikit-learn: parameters, cloning, tags, representation."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Collection, Mapping
from typing import Any, Self

from fasttree.refusals import reading_pickle
from fasttree.version import __version__


class Estimator:
    """Parameters are the keyword arguments of ``__init__``, kept under their own names and checked by ``fit``."""

    _estimator_type = "classifier"

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _parameter_names(type(self))}

    def set_params(self, **params: Any) -> Self:
        names = _parameter_names(type(self))
        for name, value in params.items():
            if name not in names:
                raise ValueError(
                    f"Invalid parameter {name!r} for estimator {type(self).__name__}. "
                    f"Valid parameters are: {names!r}."
                )
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        parameters = inspect.signature(type(self)).parameters
        changed = [
            f"{name}={getattr(self, name)!r}"
            for name, parameter in parameters.items()
            if not _same(getattr(self, name), parameter.default)
        ]
        return f"{type(self).__name__}({', '.join(changed)})"

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "tree_")

    def __sklearn_tags__(self) -> Any:
        # Only scikit-learn asks for tags, so it is there to be imported.
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

        return Tags(
            estimator_type="classifier",
            target_tags=TargetTags(required=True),
            classifier_tags=ClassifierTags(),
            input_tags=InputTags(
                categorical=True, allow_nan=getattr(self, "missing", "error") != "error"
            ),
        )

    # -- to disk and back ------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a file that `fasttree.load` reads, in this version and later ones.

        The file appears under its name when it is whole; equal models make equal files.
        """
        from fasttree.model_file import save  # heavy, and few ask for it

        save(self, path)

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

    def _check_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise not_fitted(type(self).__name__)


_names: dict[type, list[str]] = {}  # the look-up takes longer than all the checks of a small fit


def _parameter_names(kind: type) -> list[str]:
    if kind not in _names:
        _names[kind] = sorted(inspect.signature(kind).parameters)
    return _names[kind]


class NotFittedError(ValueError, AttributeError):
    """Asked something that only a fitted estimator knows."""


def not_fitted(name: str) -> Exception:
    """scikit-learn's NotFittedError where scikit-learn is in use, else our own with the same bases."""
    import sys

    text = f"This {name} instance is not fitted yet: call 'fit' before using this method."
    exceptions = sys.modules.get("sklearn.exceptions")
    if exceptions is not None:
        error: Exception = exceptions.NotFittedError(text)
        return error
    return NotFittedError(text)


def _same(value: Any, default: Any) -> bool:
    if value is default:
        return True
    if not isinstance(value, (str, int, float, bool)):
        return False
    return type(value) is type(default) and bool(value == default)


def preset(
    base: type,
    extra: Mapping[str, Any] | None = None,
    without: Collection[str] = (),
    **defaults: Any,
) -> Callable[..., None]:
    """An ``__init__`` with the parameters of `base` but for `without`, other defaults, and `extra` ones behind them.

    It has a signature of its own, for scikit-learn's protocol and for those who ask for help.
    """
    inherited = [p for p in inspect.signature(base).parameters.values() if p.name not in without]
    parameters = [p.replace(default=defaults.get(p.name, p.default)) for p in inherited]
    keyword = inspect.Parameter.KEYWORD_ONLY
    added = [inspect.Parameter(n, keyword, default=d) for n, d in (extra or {}).items()]
    *others, n_jobs = parameters  # stays the last
    myself = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    signature = inspect.Signature([myself, *others, *added, n_jobs], return_annotation=None)

    def __init__(self: Any, **parameters: Any) -> None:
        bound = signature.bind(self, **parameters)
        bound.apply_defaults()
        for name, value in bound.arguments.items():
            if name != "self":
                setattr(self, name, value)

    __init__.__signature__ = signature  # type: ignore[attr-defined]
    return __init__
