# SPDX-License-Identifier: BSD-3-Clause
"""Save and load fitted models; the format is described in docs/model-format.md."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from fasttree.base.atomic import atomic_file
from fasttree.base.errors import ModelFileError, require
from fasttree.base.values import short_repr
from fasttree.growth.choosers.costs import nunez
from fasttree.persistence.archive import (
    FORMAT_VERSION,
    KNOWN_VERSIONS,
    read_archive,
    read_open_archive,
    write_archive,
)
from fasttree.persistence.header import HeaderReader
from fasttree.persistence.json_values import Decoder, Encoder
from fasttree.persistence.parameters import (
    Unfitted,
    as_dict,
    encode_object,
    encode_params,
    pruning_named,
)
from fasttree.persistence.parts import ArrayStore, FittedModel, put_parts, take_parts
from fasttree.persistence.registry import RULES, class_named, is_known
from fasttree.persistence.schema import decode_schema, encode_schema
from fasttree.rules import serialise
from fasttree.tables.schema import Schema
from fasttree.tables.schema_checks import check_schema
from fasttree.trees.regression_tree import RegressionTree
from fasttree.trees.structure import TreeStructure
from fasttree.trees.tree import Tree
from fasttree.trees.validate import arrays_of, check_tree
from fasttree.version import __version__

if TYPE_CHECKING:
    from fasttree.estimators.protocol import Estimator
    from fasttree.rules import RuleList

__all__ = ["ModelFileError", "load", "save"]

FORMAT = "fasttree model"
MOST_THREADS = 1024

# -- save ----------------------------------------------------------------------------------------------------------


def save(model: Estimator, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator to a file that `fasttree.load` reads: before it gets its name it is read again and
    checked."""
    fitted = model.fitted_model()
    name = type(model).__name__
    if not is_known(model):
        raise TypeError(
            f"{name} is not one of fasttree's own estimators, and a model file does not store code: "
            "pickle it, or fit one of fasttree's"
        )
    _check_model(model)  # better an error now than a file that nobody can read
    encode, store = Encoder(encode_object), ArrayStore()
    tree = fitted.tree
    header: dict[str, Any] = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "fasttree_version": __version__,
        "class": name,
        "params": encode_params(model, encode),
        "schema": encode_schema(tree.schema, encode),
        "fingerprint": tree.fingerprint(),
    }
    for array_name in arrays_of(tree.schema):
        store.arrays[f"tree/{array_name}"] = getattr(tree, array_name)
    if fitted.rules is not None:
        header["rules"] = _put_rules(fitted.rules, store)
    else:
        header["fitted"] = {"missing": fitted.missing, **put_parts(fitted, store)}
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


def _put_rules(rules: RuleList, store: ArrayStore) -> dict[str, Any]:
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
    format_name, version = header.text("format"), header.integer("format_version")
    require(
        format_name == FORMAT and version in KNOWN_VERSIONS,
        "the file changed while it was being read",
    )
    unfitted = Unfitted(version)
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
    decode = Decoder(values, {"pruning": pruning_named, "estimator": unfitted, "nunez": nunez})
    with _refusing("its schema"):
        schema = decode_schema(header.fields("schema"), decode, version)
        check_schema(schema)
    tree = _tree(schema, header.text("fingerprint"), store)
    with _refusing("its parameters"):
        model = unfitted([name, {k: decode(v) for k, v in as_dict(header.any("params")).items()}])
    with _refusing("its description of the fit"):
        if name == RULES:
            model.restore(_take_rules(tree, header.fields("rules"), store))
        else:
            model.restore(_take_fitted(tree, header.fields("fitted"), store))
    header.check_all_taken()
    store.check_all_taken()
    with _refusing("its parameters"):
        _check_model(model)
    return model


def _check_model(model: Estimator) -> None:
    model.check()
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


def _tree(schema: Schema, fingerprint: str, store: ArrayStore) -> TreeStructure:
    arrays: dict[str, Any] = {name: store.pop(f"tree/{name}") for name in arrays_of(schema)}
    check_tree(schema, arrays)
    kind = RegressionTree if schema.predicts_numbers else Tree
    tree = kind(schema=schema, **arrays)
    require(
        tree.fingerprint() == fingerprint, "its tree does not match its fingerprint: it was changed"
    )
    return tree


def _take_fitted(tree: TreeStructure, header: HeaderReader, store: ArrayStore) -> FittedModel:
    missing = header.text("missing")
    fitted = FittedModel(tree, missing=missing, **take_parts(header, tree, store))
    header.check_all_taken()
    return fitted


def _take_rules(tree: TreeStructure, header: HeaderReader, store: ArrayStore) -> FittedModel:
    names = serialise.names_of(header.truth("substitutes"))
    arrays = {name: store.pop(f"rules/{name}") for name in names}
    for name, array in arrays.items():
        dtype = serialise.TYPES[name.rpartition("/")[2]]
        require(
            array.dtype == np.dtype(dtype),
            f"the array 'rules/{name}' does not have the type {dtype}",
        )
    rules = serialise.rules_from(
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
    return FittedModel(tree, rules=rules)
