# SPDX-License-Identifier: BSD-3-Clause
"""Save and load fitted models; the format is described in docs/model-format.md."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import numpy as np

from fasttree import pruning
from fasttree.base.atomic import atomic_file
from fasttree.base.checks import NAIVE
from fasttree.base.errors import ModelFileError, require
from fasttree.base.values import short_repr
from fasttree.growth.choosers.costs import Nunez, nunez
from fasttree.growth.params import SCHEMA
from fasttree.persistence.archive import (
    FORMAT_VERSION,
    KNOWN_VERSIONS,
    read_archive,
    read_open_archive,
    write_archive,
)
from fasttree.persistence.header import HeaderReader
from fasttree.persistence.json_values import CannotSave, Decoder, Encoder
from fasttree.persistence.parts import (
    ArrayStore,
    put_choice,
    put_choices,
    put_path,
    put_trace,
    take_choice,
    take_choices,
    take_path,
    take_trace,
)
from fasttree.persistence.registry import RULES, class_named, is_known
from fasttree.persistence.schema import decode_schema, encode_schema
from fasttree.rules import serialise
from fasttree.tables.schema import Schema
from fasttree.tables.schema_checks import check_schema
from fasttree.trees.tree import Tree
from fasttree.trees.validate import ARRAYS, check_tree
from fasttree.version import __version__

if TYPE_CHECKING:
    from fasttree.estimators import RuleClassifier, TreeClassifier
    from fasttree.estimators.protocol import Estimator

__all__ = ["ModelFileError", "load", "save"]

FORMAT = "fasttree model"
MOST_THREADS = 1024
# Parameters that format version 1 did not have, and the version that brought them. By default they change nothing
# (but see `_Unfitted`).
NEW_PARAMETERS = {
    "min_category_count": 2,
    "significance_test": 2,
    "simplify": 3,
    "verbose": 3,
    "ties": 3,
}


# -- save ----------------------------------------------------------------------------------------------------------


def save(model: Estimator, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator to a file that `fasttree.load` reads: before it gets its name it is read again and
    checked."""
    model._check_fitted()
    name = type(model).__name__
    if not is_known(model):
        raise TypeError(
            f"{name} is not one of fasttree's own estimators, and a model file does not store code: "
            "pickle it, or fit one of fasttree's"
        )
    _check_model(model)  # better an error now than a file that nobody can read
    encode, store = Encoder(_encode_object), ArrayStore()
    tree = model.tree_
    header: dict[str, Any] = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "fasttree_version": __version__,
        "class": name,
        "params": _encode_params(model, encode),
        "schema": encode_schema(tree.schema, encode),
        "fingerprint": tree.fingerprint(),
    }
    for one in ARRAYS:
        store.arrays[f"tree/{one}"] = getattr(tree, one)
    if name == RULES:
        header["rules"] = _put_rules(cast("RuleClassifier", model), store)
    else:
        header["fitted"] = _put_fitted(cast("TreeClassifier", model), store)
    for place, array in enumerate(encode.arrays):
        store.arrays[f"values/{place}"] = array
    header["n_values"] = len(encode.arrays)
    text = json.dumps(header, separators=(",", ":"), allow_nan=False).encode("ascii")
    with atomic_file(path) as file:
        write_archive(file, text, store.arrays)
        file.flush()
        with open(file.fileno(), "rb", closefd=False) as written:
            _check_written(written, path)


def _check_written(file: BinaryIO, path: str | os.PathLike[str]) -> None:
    """Refuses what `load` would refuse, while the file that stands under the name is still there."""
    try:
        header, arrays = read_open_archive(file)
        _model(_parsed(header), arrays)
    except ModelFileError as error:
        raise ModelFileError(
            f"{os.fsdecode(path)} was not written: the model could not be loaded again ({error}): fit it again, and do "
            "not change its fitted attributes"
        ) from None


def _encode_params(model: Estimator, encode: Encoder) -> dict[str, Any]:
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


def _encode_object(value: Any) -> tuple[str, Any] | None:
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


def _put_fitted(model: TreeClassifier, store: ArrayStore) -> dict[str, Any]:
    found: dict[str, Any] = {"missing": model._missing_policy}
    if model._choices is not None:
        found["choices"] = put_choices(model._choices, store)
    if hasattr(model, "pruning_trace_"):
        found["trace"] = put_trace(model.pruning_trace_, model.tree_, store)
    if hasattr(model, "pruning_path_"):
        found["path"] = put_path(model.pruning_path_, store)
    if hasattr(model, "pruning_choice_"):
        found["choice"] = put_choice(model.pruning_choice_, store)
    return found


def _put_rules(model: RuleClassifier, store: ArrayStore) -> dict[str, Any]:
    rules = model.rules_
    for name, array in serialise.arrays_of(rules).items():
        store.arrays[f"rules/{name}"] = array
    return {
        "estimate": rules.estimate,
        "default": int(rules.default),
        "uncovered": float(rules.uncovered),
        "training_weight": float(rules.training_weight),
        "shares_rows": rules.shares_rows,
        "unknown": rules.unknown,
        "allow_missing": rules.allow_missing,
        "substitutes": rules.conditions.substitutes is not None,
    }


# -- load ----------------------------------------------------------------------------------------------------------


def load(path: str | os.PathLike[str], *, mmap: bool = False) -> Any:
    """Load the fitted estimator that ``save`` wrote. No code in the file is executed, and nothing in it is used before
    the whole file has been checked; a file that is not a valid model raises `ModelFileError`.

    `mmap`: leave the arrays in the file, mapped into memory that is shared between processes. Such a file must not be
    modified in place; ``save`` replaces it, which is safe.
    """
    try:
        header, arrays = read_archive(path, mmap)
        return _model(_parsed(header), arrays)
    except ModelFileError as error:
        raise ModelFileError(f"{os.fsdecode(path)}: {error}") from None


def _parsed(header: bytes) -> Any:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        require(len(found) == len(pairs), "its header has a duplicate key")
        return found

    def constant(name: str) -> Any:
        raise ModelFileError(f"its header has the number {name}, which is not valid JSON")

    try:
        return json.loads(header, object_pairs_hook=once, parse_constant=constant)
    except ModelFileError:
        raise
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"its header is not valid JSON: {error}") from None


def _model(parsed: Any, arrays: dict[str, np.ndarray]) -> Estimator:
    header, store = HeaderReader("the top", parsed), ArrayStore(arrays)
    format_and_version = header.text("format"), header.integer("format_version")
    version = format_and_version[1]
    require(
        format_and_version[0] == FORMAT and version in KNOWN_VERSIONS,
        "the file changed while it was being read",
    )
    unfitted = _Unfitted(version)
    header.text("fasttree_version")
    name = header.text("class")
    require(
        class_named(name) is not None,
        f"it contains a {short_repr(name)}, which this version of fasttree does not have: upgrade fasttree",
    )
    n_values = header.integer("n_values")
    require(
        0 <= n_values <= len(arrays), f"it has the wrong number of arrays of values, {n_values}"
    )
    values = [store.pop(f"values/{place}") for place in range(n_values)]
    decode = Decoder(values, {"pruning": _pruning, "estimator": unfitted, "nunez": nunez})
    with _refusing("its schema"):
        schema = decode_schema(header.fields("schema"), decode, version)
        check_schema(schema)
    tree = _tree(schema, header.text("fingerprint"), store)
    with _refusing("its parameters"):
        model = unfitted([name, {k: decode(v) for k, v in _as_dict(header.any("params")).items()}])
    with _refusing("its description of the fit"):
        if name == RULES:
            _take_rules(model, tree, header.fields("rules"), store)
        else:
            _take_fitted(model, tree, header.fields("fitted"), store)
    header.check_all_taken()
    store.check_all_taken()
    with _refusing("its parameters"):
        _check_model(model)
    return model


def _check_model(model: Estimator) -> None:
    model._check_settings()
    model._check_restored()
    for one in (model, getattr(model, "base", None)):
        n_jobs = getattr(one, "n_jobs", None) or 1
        if n_jobs > MOST_THREADS:
            raise ValueError(
                f"n_jobs={n_jobs} is more than the limit of a model file, {MOST_THREADS}"
            )


@contextmanager
def _refusing(what: str) -> Iterator[None]:
    """What Python and the checks of parameters find wrong with values is the file's fault."""
    try:
        yield
    except ModelFileError:
        raise
    except (ValueError, TypeError, ArithmeticError, LookupError, RecursionError) as error:
        raise ModelFileError(f"{what} cannot be read: {type(error).__name__}: {error}") from None


def _as_dict(value: Any) -> dict[str, Any]:
    require(type(value) is dict, "a list of parameters in its header is not an object")
    found: dict[str, Any] = value
    return found


class _Unfitted:
    """Makes an estimator of its name and parameters, as a format version has them."""

    def __init__(self, version: int) -> None:
        self.version = version
        self.later = {name for name, since in NEW_PARAMETERS.items() if since > version}

    def __call__(self, content: Any) -> Any:
        name, params = content
        kind = class_named(name) if isinstance(name, str) else None
        require(
            kind is not None,
            f"it contains the estimator {short_repr(name)}, which this version of fasttree does not have",
        )
        assert kind is not None
        params = _as_dict(params)
        wanted = kind().get_params(deep=False).keys() - self.later
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


def _pruning(content: Any) -> Any:
    name, settings = content
    methods = {method.__name__: method for method in pruning.METHODS.values()}
    require(
        name in methods,
        f"it contains the pruning method {short_repr(name)}, which this version of fasttree does not have",
    )
    settings = _as_dict(settings)
    if name == "Significance" and "test" not in settings:
        settings = settings | {"test": NAIVE}  # the first files lack it
    return methods[name](**settings)


def _tree(schema: Schema, fingerprint: str, store: ArrayStore) -> Tree:
    arrays = {name: store.pop(f"tree/{name}") for name in ARRAYS}
    check_tree(schema, arrays)
    tree = Tree(schema=schema, **arrays)
    require(
        tree.fingerprint() == fingerprint, "its tree does not match its fingerprint: it was changed"
    )
    return tree


def _take_fitted(
    model: TreeClassifier, tree: Tree, header: HeaderReader, store: ArrayStore
) -> None:
    model._missing_policy = header.text("missing")
    model._describe(tree.schema)
    model.tree_ = tree
    model._choices = None
    if header.has("choices"):
        header.fields("choices").check_all_taken()
        model._choices = take_choices(tree, store)
    if header.has("trace"):
        of_trace = header.fields("trace")
        model.pruning_trace_ = take_trace(of_trace, tree, store)
        of_trace.check_all_taken()
    if header.has("path"):
        of_path = header.fields("path")
        model.pruning_path_ = take_path(of_path, store)
        of_path.check_all_taken()
    if header.has("choice"):
        of_choice = header.fields("choice")
        model.pruning_choice_ = take_choice(of_choice, store)
        of_choice.check_all_taken()
    header.check_all_taken()


def _take_rules(model: RuleClassifier, tree: Tree, header: HeaderReader, store: ArrayStore) -> None:
    names = serialise.names_of(header.truth("substitutes"))
    arrays = {name: store.pop(f"rules/{name}") for name in names}
    for name, array in arrays.items():
        dtype = serialise.TYPES[name.rpartition("/")[2]]
        require(
            array.dtype == np.dtype(dtype),
            f"the array 'rules/{name}' does not have the type {dtype}",
        )
    model.tree_ = tree
    model.rules_ = serialise.rules_from(
        arrays,
        tree.schema,
        estimate=header.text("estimate"),
        default=header.integer("default"),
        uncovered=header.number("uncovered"),
        training_weight=header.number("training_weight"),
        shares_rows=header.truth("shares_rows"),
        unknown=header.text("unknown"),
        allow_missing=header.truth("allow_missing"),
        reader_name=RULES,
    )
    header.check_all_taken()
    model.default_class_ = model.rules_.default_class
    model._describe(tree.schema)
