# SPDX-License-Identifier: BSD-3-Clause
"""A schema as JSON, and back: names, kinds, labels with their types, and what classes count for."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from fasttree.base.errors import ModelFileError, require
from fasttree.base.values import short_repr
from fasttree.persistence.header import HeaderReader
from fasttree.persistence.json_values import CannotSave, Encoder, number_type
from fasttree.tables.schema import AttributeSchema, ClassPriors, Schema

NUMBER = "number"  # what a regressor predicts
MOST_CLASS_BYTES = 2**28  # of their text, which may be wider than any of them
_CLASS_TYPES: dict[str, np.dtype[Any]] = {
    "|O": np.dtype(object),
    "text": np.dtypes.StringDType(),
}


def encode_schema(schema: Schema, encode: Encoder) -> dict[str, Any]:
    attributes = []
    ranges, counted = (dict(enumerate(a.tolist())) for a in (schema.ranges, schema.counted))
    for place, attribute in enumerate(schema.attributes):
        entry: dict[str, Any] = {"name": attribute.name, "kind": "numeric"}
        if attribute.categories is None:
            low, high = ranges.get(place, (math.nan, math.nan))
            if low <= high:
                entry["range"] = [encode(low), encode(high)]
            if attribute.time is not None:
                entry["time"] = attribute.time
        else:
            entry["kind"] = "categorical"
            entry["ordered"] = attribute.ordered
            with _labels_of(f"the column {attribute.name!r}"):
                entry["categories"] = [encode(label) for label in attribute.categories]
                if attribute.others is not None:
                    entry["others"] = [encode(label) for label in attribute.others]
        if place in counted:
            entry["distinct"], entry["missing"] = counted[place]
        attributes.append(entry)
    if schema.predicts_numbers:
        return {"named": schema.named, "attributes": attributes, "target": NUMBER}
    classes = schema.classes
    kind = "text" if classes.dtype.kind == "T" else classes.dtype.str
    if classes.dtype.kind == "U" and classes.nbytes > MOST_CLASS_BYTES:
        raise ValueError(
            f"the classes take {classes.nbytes} bytes as {classes.dtype}, but a model file can store at most "
            f"{MOST_CLASS_BYTES}: fit with y.astype(object)"
        )
    with _labels_of("y"):
        labels = [encode(label) for label in classes.tolist()]
    return {
        "named": schema.named,
        "attributes": attributes,
        "classes": {"dtype": kind, "labels": labels},
        "tie_order": list(schema.tie_order),
        "class_weight": encode(schema.priors.class_weight),
        "cost": encode(schema.priors.cost_matrix),
    }


@contextmanager
def _labels_of(where: str) -> Iterator[None]:
    try:
        yield
    except CannotSave as error:
        raise TypeError(
            f"{where} has the label {error}, which a model file cannot store: fit with text or numbers instead, "
            "or pickle the model"
        ) from None


def decode_schema(header: HeaderReader, decode: Callable[[Any], Any], version: int) -> Schema:
    attributes, ranges, counted = [], [], []
    for entry in header.list("attributes"):
        of_one = HeaderReader("an attribute", entry)
        name, kind = of_one.text("name"), of_one.text("kind")
        require(
            kind in ("numeric", "categorical"),
            f"the column {short_repr(name)} has the unknown kind {short_repr(kind)}",
        )
        low = high = math.nan
        if kind == "numeric":
            if of_one.has("range"):
                low, high = _range(name, decode(of_one.any("range")))
            time = of_one.text("time") if of_one.has("time") else None
            attributes.append(AttributeSchema(name, time=time))
        else:
            ordered = of_one.truth("ordered")
            categories = tuple(decode(label) for label in of_one.list("categories"))
            others = None
            if version > 1 and of_one.has("others"):
                others = tuple(decode(label) for label in of_one.list("others"))
            attributes.append(AttributeSchema(name, categories, ordered, others=others))
        ranges.append((low, high))
        if version > 1 and of_one.has("distinct"):
            counted.append((of_one.integer("distinct"), of_one.integer("missing")))
        of_one.check_all_taken()
    named = header.truth("named")
    classes, priors, tie_order = np.empty(0), ClassPriors(), ()
    if version > 3 and header.has("target"):
        target = header.text("target")
        require(target == NUMBER, f"its target is of the unknown kind {short_repr(target)}")
    else:
        classes = _classes(header.fields("classes"), decode)
        priors = ClassPriors(decode(header.any("class_weight")), decode(header.any("cost")))
        tie_order = tuple(header.list("tie_order"))
    noted = np.array(ranges, dtype=np.float64).reshape(len(ranges), 2)
    require(len(counted) in (0, len(attributes)), "only some of its columns have counts of values")
    counts = np.array(counted, dtype=np.int64).reshape(len(counted), 2)
    schema = Schema(tuple(attributes), classes, named, tie_order, priors, noted, counts)
    header.check_all_taken()
    return schema


def _range(name: str, ends: Any) -> tuple[float, float]:
    require(
        type(ends) is list and len(ends) == 2 and all(type(end) is float for end in ends),
        f"the range of the column {short_repr(name)} is not two numbers",
    )
    low, high = ends
    require(low <= high, f"the column {short_repr(name)} has the invalid range {low} to {high}")
    return low, high


def _classes(header: HeaderReader, decode: Callable[[Any], Any]) -> np.ndarray:
    name, labels = header.text("dtype"), [decode(label) for label in header.list("labels")]
    header.check_all_taken()
    require(len(labels) > 0, "its classes are not a list of labels")
    dtype = _CLASS_TYPES.get(name) or number_type(name)
    if dtype is None and re.fullmatch("[<>]U[1-9][0-9]{0,8}", name):
        dtype = np.dtype(name)
        size = dtype.itemsize * len(labels)
        require(
            size <= MOST_CLASS_BYTES,
            f"its classes would take {size} bytes, more than {MOST_CLASS_BYTES}",
        )
    if dtype is None:
        raise ModelFileError(f"its classes have the unknown type {short_repr(name)}")
    classes = np.empty(len(labels), dtype=dtype)
    for place, label in enumerate(labels):  # one by one: a label may be a sequence
        classes[place] = label
    require(
        classes.tolist() == labels, f"its classes are not values of the type {short_repr(name)}"
    )
    return classes
