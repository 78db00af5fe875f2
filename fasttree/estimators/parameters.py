# SPDX-License-Identifier: BSD-3-Clause
"""The parameters of estimators: the keyword arguments of ``__init__``, by name, and as text."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import wraps
from pprint import pformat
from typing import Any, TypeVar

from fasttree.base.hints import instead, unknown_parameter
from fasttree.base.values import short_repr

LINE = 88
# Of a value: a dict of prices may be long.
LINES = 8
LONGEST = 200

_defaults: dict[type, dict[str, Any]] = {}  # the look-up takes longer than all the checks of a fit


def defaults_of(kind: type) -> dict[str, Any]:
    """The parameters in the order of the signature, with their defaults."""
    if kind not in _defaults:
        catch_all = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
        parameters = inspect.signature(kind).parameters.values()
        _defaults[kind] = {p.name: p.default for p in parameters if p.kind not in catch_all}
    return _defaults[kind]


def changed(estimator: Any) -> dict[str, Any]:
    """The parameters that are not at their defaults."""
    return {
        name: getattr(estimator, name)
        for name, default in defaults_of(type(estimator)).items()
        if not _same(getattr(estimator, name), default)
    }


def call(estimator: Any, width: int = LINE) -> str:
    """The call that makes such an estimator, in several lines if it is long."""
    name = type(estimator).__name__
    margin = len(name) + 1
    lines = [""]
    for parameter, value in changed(estimator).items():
        item = f"{parameter}={shortened(value, width - margin - len(parameter) - 1)}"
        item = item.replace("\n", "\n" + " " * (len(parameter) + 1))
        room = width - margin - len(lines[-1]) - len(", ,")
        if lines[-1] and ("\n" in lines[-1] + item or len(item) > room):
            lines.append(item)
        else:
            lines[-1] += f", {item}" if lines[-1] else item
    arguments = ",\n".join(lines).replace("\n", "\n" + " " * margin)
    return f"{name}({arguments})"


def shortened(value: Any, width: int = LINE) -> str:
    """A value as text, broken into lines, of a long one the first."""
    if hasattr(value, "get_params") and not isinstance(value, type):
        return call(value, width)
    text = pformat(value, width=max(width, 40), compact=True, sort_dicts=False)
    lines = text.split("\n")
    if len(lines) > LINES:
        lines[LINES - 1 :] = ["..."]
    return "\n".join(
        line if len(line) <= LONGEST else f"{line[: LONGEST - 3]}..." for line in lines
    )


def _same(value: Any, default: Any) -> bool:
    if value is default:
        return True
    if not isinstance(value, (str, int, float, bool)):
        return False
    return type(value) is type(default) and bool(value == default)


Init = TypeVar("Init", bound=Callable[..., None])


def own_parameters(init: Init) -> Init:
    """An ``__init__`` of parameters by name, with an error that says what to write instead of others. Its signature
    stays as it is written."""
    names = tuple(inspect.signature(init).parameters)[1:]

    @wraps(init)
    def __init__(self: Any, *unnamed: Any, **parameters: Any) -> None:
        _check_names(self, unnamed, parameters, names)
        init(self, **parameters)

    return __init__  # type: ignore[return-value]


def _check_names(
    estimator: Any, unnamed: Sequence[Any], parameters: Mapping[str, Any], names: Sequence[str]
) -> None:
    owner = type(estimator).__name__
    if unnamed:
        raise TypeError(
            f"{owner} accepts keyword arguments only, got the positional argument {short_repr(unnamed[0])}: write "
            f"name=..."
        )
    for name in parameters:
        if name not in names:
            raise unknown_parameter(owner, name, estimator._instead(name, names))


def parts_of(value: Any) -> dict[str, Any] | None:
    """The parameters of a parameter that has some, as an estimator or a way of pruning; None for any other."""
    if isinstance(value, type):
        return None
    if hasattr(value, "get_params"):
        found: dict[str, Any] = value.get_params()
        return found
    if is_dataclass(value) and hasattr(value, "__post_init__"):  # which checks them
        return {field.name: getattr(value, field.name) for field in fields(value) if field.init}
    return None


def with_parts(value: Any, changes: Mapping[str, Any]) -> Any:
    """The value with some of its `parts_of` changed: an estimator itself, as in scikit-learn, else a copy."""
    if hasattr(value, "set_params"):
        return value.set_params(**changes)
    names = tuple(parts_of(value) or ())
    for name in changes:
        if name not in names:
            raise ValueError(f"Invalid parameter {name!r} for {value}: {instead(name, names)}")
    return replace(value, **changes)


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

    names = tuple(signature.parameters)[1:]

    def __init__(self: Any, *unnamed: Any, **parameters: Any) -> None:
        # The binding would refuse these as well, but does not know whose parameters they are.
        _check_names(self, unnamed, parameters, names)
        bound = signature.bind(self, **parameters)
        bound.apply_defaults()
        for name, value in bound.arguments.items():
            if name != "self":
                setattr(self, name, value)

    __init__.__signature__ = signature  # type: ignore[attr-defined]
    return __init__
