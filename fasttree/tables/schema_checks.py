# SPDX-License-Identifier: BSD-3-Clause
"""Is this what a model must remember of its table? Asked of what comes from a file or a pickle."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from fasttree.base.errors import ModelFileError, require
from fasttree.base.times import UNITS
from fasttree.base.values import is_missing, short_repr, to_python
from fasttree.tables.schema import AttributeSchema, ClassPriors, Schema


def check_schema(schema: Any) -> None:
    require(isinstance(schema, Schema), "its schema is not a Schema object")
    require(
        type(schema.attributes) is tuple and len(schema.attributes) > 0,
        "its model has no attributes",
    )
    for attribute in schema.attributes:
        _check_attribute(attribute)
    require(len(set(schema.names)) == len(schema.names), "two of its attributes have the same name")
    require(type(schema.named) is bool, "it does not record whether the columns had names")
    classes = schema.classes
    is_list = (
        isinstance(classes, np.ndarray) and classes.ndim == 1 and classes.dtype.kind in "biufUOT"
    )
    require(is_list, "its classes are not a list of labels")
    if schema.predicts_numbers:
        alone = (
            not schema.tie_order
            and schema.priors.class_weight is None
            and schema.priors.cost_matrix is None
        )
        require(alone, "it predicts numbers, but says what classes count for")
    _check_labels("its classes", map(to_python, classes))
    order = schema.tie_order
    require(
        type(order) is tuple
        and all(type(number) is int for number in order)
        and sorted(order) in ([], list(range(len(classes)))),
        "its class order is not a permutation of the class numbers",
    )
    _check_priors(schema.priors, len(classes))
    _check_ranges(schema)
    _check_counted(schema)


def _check_attribute(attribute: Any) -> None:
    require(
        isinstance(attribute, AttributeSchema),
        "one of its attributes is not an AttributeSchema object",
    )
    name, categories, ordered = attribute.name, attribute.categories, attribute.ordered
    require(
        type(name) is str,
        f"one of its attributes has the name {short_repr(name)}, which is not a string",
    )
    require(
        type(ordered) is bool and (categories is not None or not ordered),
        f"the column {name!r} has the invalid setting ordered={short_repr(ordered)}",
    )
    time = attribute.time
    require(
        time is None or (type(time) is str and time in UNITS and categories is None),
        f"the column {name!r} has the invalid kind of time {short_repr(time)}",
    )
    if categories is not None:
        require(type(categories) is tuple, f"the categories of the column {name!r} are not a tuple")
        _check_labels(f"the categories of the column {name!r}", categories)
    others = attribute.others
    if others is not None:
        what = f"the rare categories of the column {name!r}"
        require(
            type(others) is tuple and len(others) > 0 and bool(categories) and not ordered,
            f"{what} are not a list of categories",
        )
        require(type(categories[-1]) is str, f"{what} have no common name")
        _check_labels(f"the categories of the column {name!r}", (*categories, *others))


def _check_labels(what: str, labels: Iterable[Any]) -> None:
    """Labels are told apart, and none is a missing value."""
    seen = set()
    for label in labels:
        try:
            twice = label in seen
            missing = is_missing(label)
        except (TypeError, ValueError):
            raise ModelFileError(
                f"{what} contain {short_repr(label)}, which is not a valid label"
            ) from None
        require(not missing, f"{what} contain a missing value")
        require(not twice, f"{what} hold {short_repr(label)} twice")
        seen.add(label)


def _check_priors(priors: Any, n_classes: int) -> None:
    require(
        isinstance(priors, ClassPriors),
        "its class weights and misclassification costs are not a Priors object",
    )
    weight, cost = priors.class_weight, priors.cost_matrix
    if weight is not None:
        require(_is_real(weight, (n_classes,)), "its class weights are not one number per class")
        require(bool((weight > 0).all()), "one of its class weights is not above 0")
    if cost is not None:
        require(
            _is_real(cost, (n_classes, n_classes)),
            "its misclassification costs are not one number per pair of classes",
        )
        require(
            bool((cost >= 0).all()) and not cost.diagonal().any(),
            "one of its misclassification costs is below 0, or its diagonal is not 0",
        )


def _check_ranges(schema: Schema) -> None:
    ranges = schema.ranges
    shapes = (0, 2), (len(schema.attributes), 2)
    require(
        isinstance(ranges, np.ndarray) and ranges.dtype == np.float64 and ranges.shape in shapes,
        "the ranges of its columns are not two numbers per column",
    )
    for attribute, (low, high) in zip(schema.attributes, ranges.tolist(), strict=False):
        is_known = low <= high and not attribute.is_categorical
        require(
            is_known or (low != low and high != high),  # both NaN
            f"the column {attribute.name!r} has the invalid range {low} to {high}",
        )


def _check_counted(schema: Schema) -> None:
    counted = schema.counted
    shapes = (0, 2), (len(schema.attributes), 2)
    require(
        isinstance(counted, np.ndarray)
        and counted.dtype == np.int64
        and counted.shape in shapes
        and bool((counted[:, 1] >= 0).all()),
        "its counts of distinct and missing values are not two counts per column",
    )


def _is_real(array: Any, shape: tuple[int, ...]) -> bool:
    return (
        isinstance(array, np.ndarray)
        and array.dtype == np.float64
        and array.shape == shape
        and bool(np.isfinite(array).all())
    )
