# SPDX-License-Identifier: BSD-3-Clause
"""The parameters of estimators in a model file, as each version of the format has them."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from fasttree import pruning
from fasttree.base.checks import NAIVE
from fasttree.base.errors import require
from fasttree.base.values import short_repr
from fasttree.growth.choosers.costs import Nunez
from fasttree.growth.params import SCHEMA
from fasttree.persistence.json_values import CannotSave, Encoder
from fasttree.persistence.registry import RULES, class_named, is_known

if TYPE_CHECKING:
    from fasttree.estimators.protocol import Estimator

# Parameters that format version 1 did not have, and the version that brought them. By default they change nothing
# (but see `Unfitted`).
NEW_PARAMETERS = {
    "min_category_count": 2,
    "significance_test": 2,
    "simplify": 3,
    "verbose": 3,
    "ties": 3,
}
NEW_OF_ONE = {"CARTClassifier": {"compat": 4}}  # which another estimator had before


def encode_params(model: Estimator, encode: Encoder) -> dict[str, Any]:
    """The parameters of an estimator as JSON has them."""
    encoded = {}
    for name, value in model.get_params(deep=False).items():
        try:
            encoded[name] = encode(value)
        except CannotSave as error:
            remedy = (
                "pass the name of one of fasttree's own functions, or remove it from the fitted model, which does not "
                "need it to predict"
                if callable(value)
                else "remove it from the fitted model, which does not need it to predict"
            )
            raise TypeError(
                f"{name} contains {error}, which a model file cannot store: {remedy}: "
                f"model.set_params({name}=None).save(...)"
            ) from None
    return encoded


def encode_object(value: Any) -> tuple[str, Any] | None:
    """Pruning objects, estimators and Núñez's function among the parameters."""
    name = type(value).__name__
    if type(value) is Nunez:
        return "nunez", value.w
    if type(value) in pruning.METHODS.values():
        settings = {part.name: getattr(value, part.name) for part in fields(value)}
        return "pruning", [name, settings]
    if is_known(value):
        return "estimator", [name, value.get_params(deep=False)]
    return None


def as_dict(value: Any) -> dict[str, Any]:
    """Parameters by their names, as the header has them."""
    require(type(value) is dict, "a list of parameters in its header is not an object")
    found: dict[str, Any] = value
    return found


class Unfitted:
    """Makes an estimator of its name and parameters, as a format version has them."""

    def __init__(self, version: int) -> None:
        self.version = version
        self.later = self._later(NEW_PARAMETERS)

    def _later(self, parameters: dict[str, int]) -> set[str]:
        """Those that this version does not have."""
        return {name for name, since in parameters.items() if since > self.version}

    def __call__(self, content: Any) -> Any:
        name, params = content
        kind = class_named(name) if isinstance(name, str) else None
        require(
            kind is not None,
            f"it contains the estimator {short_repr(name)}, which this version of fasttree does not have",
        )
        assert kind is not None
        params = as_dict(params)
        later = self.later | self._later(NEW_OF_ONE.get(name, {}))
        wanted = kind().get_params(deep=False).keys() - later
        tests = params.get("significance") is not None
        require(
            params.keys() == wanted,
            f"its parameters are not those of {name}: {sorted(map(str, params.keys() ^ wanted))} are missing or "
            "unknown",
        )
        old = {}
        # What a test was before there was a choice; of those that do not test, the choice means nothing.
        if tests and "significance_test" in self.later:
            old["significance_test"] = NAIVE
        # All took the first column, and what grew so is to say so.
        if "ties" in self.later and name != RULES:
            old["ties"] = SCHEMA
        if self.version < 3 and params.get("pruning") == "reduced_error":
            params = params | {"pruning": pruning.ReducedError(method="greedy")}
        return kind(**params, **old)


def pruning_named(content: Any) -> Any:
    """A pruning method of its name and settings."""
    name, settings = content
    methods = {method.__name__: method for method in pruning.METHODS.values()}
    require(
        name in methods,
        f"it contains the pruning method {short_repr(name)}, which this version of fasttree does not have",
    )
    settings = as_dict(settings)
    if name == "Significance" and "test" not in settings:
        settings = settings | {"test": NAIVE}  # the first files lack it
    return methods[name](**settings)
