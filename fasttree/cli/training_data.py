# SPDX-License-Identifier: BSD-3-Clause
"""A data file taken apart: the attributes, the classes and the weights that a model is made from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fasttree.base.wording import plural
from fasttree.cli import lists
from fasttree.cli.errors import DataError, UsageError, blame
from fasttree.cli.terminal import waiting
from fasttree.files.csv_tables import check_decimals
from fasttree.files.tables import CSV, columns_named, line_of, read_table, suffix

if TYPE_CHECKING:
    import numpy as np

    from fasttree.files.csv_style import CsvStyle
    from fasttree.tables.schema import Schema


@dataclass(frozen=True, slots=True)
class Data:
    """What a file gives: columns of Arrow, and a weight for each row if asked for."""

    path: Path
    X: Any
    y: Any
    weights: Any
    target: str
    groups: Any = None

    @property
    def n_rows(self) -> int:
        return int(self.X.num_rows)

    def take(self, rows: np.ndarray) -> Data:
        """Some rows, by mask."""
        import pyarrow as pa

        kept = pa.array(rows)
        weights = None if self.weights is None else self.weights[rows]
        groups = None if self.groups is None else self.groups.filter(kept)
        X, y = self.X.filter(kept), self.y.filter(kept)
        return replace(self, X=X, y=y, weights=weights, groups=groups)

    def split(self, share: float, of_numbers: bool = False) -> tuple[Data, Data]:
        """Rows to train on, and a share of each class, or of each part of the target's range, to judge by. A row of
        whole weight w is drawn like w rows, so some of its weight may be in both."""
        from fasttree.encoding.folds import hold_out, strata_of, value_hashes, with_classes
        from fasttree.tables.training import read_groups, read_numbers, read_target, read_weights
        from fasttree.tables.training import read_table as read_columns

        with blame(DataError, self.prefix):
            table = read_columns(self.X)
            weights = read_weights(self.weights, self.n_rows)
            groups = read_groups(self.groups, self.n_rows)
            hashes = value_hashes(table.values(), self.n_rows)
            if of_numbers:
                numbers = read_numbers(self.y, self.n_rows).values
                hashes, codes = with_classes(hashes, numbers), strata_of(numbers, weights)
            else:
                codes = read_target(self.y, self.n_rows).codes
        held = hold_out(hashes, codes, share, weights, groups)
        if not held.any():
            part = "part of the target's range" if of_numbers else "class"
            raise DataError(
                f"{self.path}: a fraction of {share:g} of each {part} is less than one row: "
                "there are too few rows to hold any out"
            )
        if weights is None:
            return self.take(held == 0), self.take(held > 0)
        kept = weights - held
        train, judges = replace(self, weights=kept), replace(self, weights=held)
        return train.take(kept > 0), judges.take(held > 0)

    @property
    def prefix(self) -> str:
        """In front of the library's messages, which call the target y."""
        return f"{self.path} (target {self.target!r}): "


def read_data(
    path: Path,
    target: str,
    drop: Sequence[str] | None = None,
    categorical: Sequence[str] | None = None,
    weights: str | None = None,
    check_classes: bool = True,
    style: CsvStyle | None = None,
    group: str | None = None,
    ignored: str | None = None,
) -> Data:
    """Read a file and check all that the command line says about it; `drop` and `categorical` are lists as users write
    them. A column that is `ignored` is no attribute, if it is there."""
    drop, categorical = drop or (), categorical or ()
    _check_names(target, drop, categorical, weights, group)
    with waiting(f"Reading {path.name}"):
        table = read_table(path, lists.possible([*categorical, *drop]), style)
    drop = lists.columns(drop, table.column_names, "--drop")
    categorical = lists.columns(categorical, table.column_names, "--categorical")
    for option, named in (
        ("--target", [target]),
        ("--drop", drop),
        ("--categorical", categorical),
        ("--weights", [weights] if weights else []),
        ("--group", [group] if group else []),
    ):
        columns_named(table, named, option, path)
    not_attributes = {target, *drop, *(name for name in (weights, group, ignored) if name)}
    names = [name for name in table.column_names if name not in not_attributes]
    if not names:
        raise DataError(
            f"{path}: no attribute is left to predict {target!r} from: keep at least one column"
        )
    y = table[target]
    _check_target(path, target, y, check_classes)
    if suffix(path) in CSV:
        check_decimals(table.select(names), categorical, style, path)
    X = _as_categories(table.select(names), categorical, path)
    groups = None if group is None else _groups(path, table, group)
    return Data(path, X, y, _weights(path, table, weights), target, groups)


def read_held_out(
    path: Path, target: str, schema: Schema, style: CsvStyle | None, weights: str | None = None
) -> Data:
    """The columns of a model, and classes to judge it by; the file may have further columns."""
    for option, name in (("--target", target), ("--weights", weights)):
        if name is not None and name in schema.names:
            raise UsageError(
                f"{option} names {name!r}, which is an attribute of the model: name another column"
            )
    words = [
        a.name for a in schema.attributes if any(isinstance(x, str) for x in a.categories or ())
    ]
    with waiting(f"Reading {path.name}"):
        table = read_table(path, words, style)
    columns_named(table, [target], "--target", path)
    columns_named(table, [weights] if weights else [], "--weights", path)
    y = table[target]
    _check_target(path, target, y, several=False)
    if schema.named:
        columns_named(table, schema.names, "of the model", path)
        X = table.select(list(schema.names))
    else:
        X = table.drop_columns([name for name in (target, weights) if name is not None])
    return Data(path, X, y, _weights(path, table, weights), target)


def check_holdout(share: float) -> None:
    """Refuses a share of rows that leaves none to train on, or none to judge by."""
    if not 0 < share < 1:
        raise UsageError(
            f"--holdout must be a fraction of the rows, above 0 and below 1, got {share:g}"
        )


def style_of(delimiter: str | None, decimal: str) -> CsvStyle:
    """What the command line says about CSV files."""
    from fasttree.files.csv_style import CsvStyle

    with blame(UsageError, "--"):
        return CsvStyle(delimiter, decimal)


def _check_names(
    target: str,
    drop: Sequence[str],
    categorical: Sequence[str],
    weights: str | None,
    group: str | None,
) -> None:
    roles = [("--drop", name) for name in lists.possible(drop)]
    roles += [("--categorical", name) for name in lists.possible(categorical)]
    roles += [("--weights", weights)] if weights else []
    roles += [("--group", group)] if group else []
    for option, name in roles:
        if name == target:
            raise UsageError(f"{option} names {name!r}, which is the target: leave it out")


def _check_target(path: Path, target: str, y: Any, several: bool) -> None:
    if y.null_count:
        raise DataError(
            f"{path}: the target {target!r} {_is_missing(path, y)}: fill in the missing values, or leave such rows out"
        )
    with blame(DataError, f"{path}, target {target!r}: "):
        classes = y.unique()
    if several and len(classes) == 1:
        raise DataError(
            f"{path}: the target {target!r} has only one class, {classes[0].as_py()!r}, but at least two are needed: "
            "check that it is the right column"
        )


def _as_categories(X: Any, categorical: Sequence[str], path: Path) -> Any:
    """Columns that were named as categories become dictionaries, whatever they hold."""
    import pyarrow as pa
    import pyarrow.compute as pc

    def as_category(column: Any) -> Any:
        if pa.types.is_dictionary(column.type):
            return column
        if not (pa.types.is_integer(column.type) or pa.types.is_string(column.type)):
            column = pc.cast(column, pa.string())
        levels = pc.drop_null(column.unique()).sort()
        codes = pc.index_in(column, levels).combine_chunks()
        return pa.DictionaryArray.from_arrays(codes, levels)

    names, named = X.column_names, set(categorical)
    if named.isdisjoint(names):
        return X
    columns = [
        as_category(column) if name in named else column
        for name, column in zip(names, X.columns, strict=True)
    ]
    return pa.table(columns, names=names)


def _groups(path: Path, table: Any, name: str) -> Any:
    column = table[name]
    if column.null_count:
        raise DataError(
            f"{path}: column {name!r} (--group) {_is_missing(path, column)}: give each row a group, its own one if it "
            "belongs with no other row"
        )
    return column


def _is_missing(path: Path, column: Any) -> str:
    """In how many rows a column has no value, and the first of these."""
    import pyarrow.compute as pc

    first = int(pc.index(pc.is_null(column), True).as_py())
    return f"is missing in {plural(column.null_count, 'row')}, first in {line_of(path, first)}"


def _weights(path: Path, table: Any, name: str | None) -> Any:
    if name is None:
        return None
    import pyarrow as pa

    column = table[name]
    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        raise DataError(
            f"{path}: column {name!r} (--weights) is of type {column.type}, but weights must be numbers"
        )
    if column.null_count:
        raise DataError(
            f"{path}: column {name!r} (--weights) is missing in {plural(column.null_count, 'row')}: "
            "give each row a weight, 0 to leave it out"
        )
    return column.to_numpy()
