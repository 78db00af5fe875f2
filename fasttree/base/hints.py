# SPDX-License-Identifier: BSD-3-Clause
"""What to write instead: for names that are almost right, and for the names that other libraries have."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from functools import wraps
from typing import Any, TypeVar

from fasttree.base.values import short_repr

Function = TypeVar("Function", bound=Callable[..., Any])
Kind = TypeVar("Kind")

_BY_FOLDS = (
    "write pruning=fasttree.pruning.CostComplexity(), which chooses alpha by cross-validation "
    "(for a fixed alpha: fasttree.pruning.cost_complexity_path and prune_at)"
)
_ONE_ALPHA = "alpha is chosen by se=...; for a fixed alpha use fasttree.pruning.cost_complexity_path and prune_at"
# Parameters of other libraries: what there is instead, each where a function has the parameter in front.
_FOREIGN: dict[str, tuple[tuple[str | None, str], ...]] = {
    "alpha": (("se", _ONE_ALPHA),),
    "ccp_alpha": (("pruning", _BY_FOLDS), ("se", _ONE_ALPHA)),
    "cf": (("pruning", "write pruning=fasttree.pruning.ErrorBased(confidence=...)"),),
    "confidence": (("pruning", "write pruning=fasttree.pruning.ErrorBased(confidence=...)"),),
    "confidence_factor": (("confidence", "write confidence=..."),),
    "cp": (("pruning", _BY_FOLDS),),
    "cv": (
        ("folds", "write folds=..."),
        (
            "pruning",
            "write pruning=fasttree.pruning.CostComplexity(folds=...); for cross-validated scores use "
            "fasttree.compare_methods",
        ),
        (None, "for cross-validated scores use fasttree.compare_methods"),
    ),
    "estimators": (("methods", "write methods={name: estimator, ...}"),),
    "max_features": ((None, "every split considers all columns: leave it out"),),
    "max_leaf_nodes": (("max_leaves", "write max_leaves=..."),),
    "maxdepth": (("max_depth", "write max_depth=..."),),
    "min_impurity_decrease": (
        (
            "min_gain",
            "write min_gain=..., the minimum score of a split at its node (not multiplied by the node's share of "
            "the rows)",
        ),
    ),
    "min_impurity_split": (("min_gain", "write min_gain=..., the minimum score of a split"),),
    "minbucket": (("min_samples_leaf", "write min_samples_leaf=..."),),
    "minsplit": (("min_samples_split", "write min_samples_split=..."),),
    "models": (("methods", "write methods={name: estimator, ...}"),),
    "monotonic_cst": ((None, "monotonicity constraints are not supported: leave it out"),),
    "n_estimators": ((None, "a model is a single tree: leave it out"),),
    "n_splits": (("folds", "write folds=..."),),
    "presort": ((None, "columns are always sorted once: leave it out"),),
    "prior": (("class_weight", "write class_weight={class: factor, ...}"),),
    "priors": (("class_weight", "write class_weight={class: factor, ...}"),),
    "sample_weight": (("n_jobs", "pass it to fit"), ("base", "pass it to fit")),
    "scoring": (
        ("methods", "all measures are computed: choose one when you print or read the comparison"),
    ),
    "seed": (("random_state", "write random_state=..."),),
    "splitter": ((None, "every split is the best split: leave it out"),),
    "unpruned": (("pruning", "write pruning=None"),),
    "usesurrogate": (("missing", 'write missing="surrogate"'),),
}
# Values under the names that they have elsewhere; the first that is allowed is meant.
_SYNONYMS: dict[str, tuple[str, ...]] = {
    "binary": ("subset",),
    "c45": ("C4.5",),
    "c5.0": ("C4.5",),
    "ccp": ("cost_complexity",),
    "cv": ("cross_validated", "cost_complexity"),
    "deviance": ("entropy",),
    "error": ("misclassification",),
    "gain": ("entropy",),
    "gini_impurity": ("gini",),
    "gini_index": ("gini",),
    "ig": ("entropy",),
    "igr": ("gain_ratio",),
    "info_gain": ("entropy",),
    "infogain": ("entropy",),
    "information": ("entropy",),
    "information_gain": ("entropy",),
    "information_gain_ratio": ("gain_ratio",),
    "j48": ("C4.5",),
    "log_loss": ("entropy",),
    "mdl": ("message_length",),
    "mml": ("message_length",),
    "mutual_information": ("entropy",),
    "pep": ("error_based",),
    "pessimistic": ("error_based",),
    "rep": ("reduced_error",),
    "rpart": ("CART",),
    "shannon": ("entropy",),
}


def check_choice(
    name: str,
    value: Any,
    allowed: Iterable[str],
    others: str = "",
    error: type[Exception] = ValueError,
) -> str:
    """`value`, if it is one of the words that are allowed. `others`: what else is, as the message goes on."""
    words = tuple(allowed)
    if not isinstance(value, str) or value not in words:
        names = ", ".join(map(repr, words)) + others
        raise error(f"{name} must be one of {names}, got {short_repr(value)}{meant(value, words)}")
    return value


def meant(value: Any, allowed: Iterable[str]) -> str:
    """``: did you mean ...?`` behind a word that is not allowed, or nothing."""
    if not isinstance(value, str):
        return ""
    plain = {_plain(word): word for word in reversed(list(allowed))}
    said = _plain(value)
    for other in _SYNONYMS.get(said, ()):
        if _plain(other) in plain:
            return f": did you mean {other!r}?"
    close = get_close_matches(said, plain, n=1)
    return f": did you mean {plain[close[0]]!r}?" if close else ""


def _plain(word: str) -> str:
    return word.strip().lower().replace("-", "_").replace(" ", "_")


def foreign(name: str, known: Sequence[str]) -> str | None:
    """What to write instead of a parameter of other libraries, where there are the `known` ones."""
    found = _FOREIGN.get(name, ())
    return next((remedy for needed, remedy in found if needed is None or needed in known), None)


def instead(name: str, known: Sequence[str]) -> str:
    """What to write instead of a parameter that does not exist."""
    remedy = foreign(name, known)
    if remedy is not None:
        return remedy
    close = get_close_matches(name, known, n=1)
    return (
        f"did you mean {close[0]!r}?"
        if close
        else f"its parameters are {', '.join(map(repr, known))}"
    )


def unknown_parameter(owner: str, name: str, remedy: str) -> TypeError:
    return TypeError(f"{owner} has no parameter {name!r}: {remedy}")


def knowing_its_parameters(function: Function) -> Function:
    """The function, with an error that says what to write instead of a keyword that it does not know. What others read
    of it, signature and docstring, stays."""
    known = tuple(name for name in inspect.signature(function).parameters if name != "self")
    is_method = function.__name__ == "__init__"

    @wraps(function)
    def checked(*positional: Any, **named: Any) -> Any:
        for name in named:
            if name not in known:
                owner = type(positional[0]).__name__ if is_method else function.__name__
                raise unknown_parameter(owner, name, instead(name, known))
        return function(*positional, **named)

    return checked  # type: ignore[return-value]


def settings(kind: type[Kind]) -> type[Kind]:
    """A dataclass whose constructor is `knowing_its_parameters`."""
    kind.__init__ = knowing_its_parameters(kind.__init__)  # type: ignore[method-assign]
    return kind
