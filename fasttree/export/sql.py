# SPDX-License-Identifier: BSD-3-Clause
"""A tree as a query that gives the predictions for the rows of a table."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from fasttree.base.hints import check_choice
from fasttree.base.values import short_repr
from fasttree.export.sql_case import Cases, unknown_flag
from fasttree.export.sql_dialects import DIALECTS, Dialect
from fasttree.export.sql_walk import walk
from fasttree.trees.view import Exportable

_PLAIN = re.compile(r"[A-Za-z0-9_]{1,40}")


def export(
    model: Exportable,
    *,
    dialect: str = "ansi",
    table: str | Sequence[str] = "data",
    columns: Mapping[str, str] | None = None,
    keep: Iterable[str] | None = None,
    proba: bool = False,
    leaf: bool = False,
) -> str:
    """A SELECT with the column "prediction", the class or the number.

    `dialect`: "ansi", "duckdb", "postgres" or "sqlite". `table` has the rows, also as ("schema", "table"); `columns`
    says what attributes are called there, if they have other names; `keep` names the columns of the table that come
    along (None: the attributes). `proba` adds the share of each class, `leaf` the number of the node. Rows that the
    model refuses get NULL.
    """
    check_choice("dialect", dialect, DIALECTS)
    for name, value in ("proba", proba), ("leaf", leaf):
        if not isinstance(value, bool):
            raise TypeError(f"{name} must be True or False, got {short_repr(value)}")
    if proba and model.predicts_numbers:
        raise ValueError(
            "proba adds the shares of classes, but a regressor predicts numbers: leave it out"
        )
    query = Query(model, DIALECTS[dialect], table, columns or {}, keep, proba, leaf)
    return query.text()


class Query:
    """The parts of one query."""

    def __init__(
        self,
        model: Exportable,
        dialect: Dialect,
        table: str | Sequence[str],
        columns: Mapping[str, str],
        keep: Iterable[str] | None,
        proba: bool,
        leaf: bool,
    ) -> None:
        self.model = model
        self.dialect = dialect
        self.sources = _sources(model, columns, dialect)
        self._table = ".".join(map(dialect.name_of, [table] if isinstance(table, str) else table))
        self._kept = [*self.sources] if keep is None else _kept(keep)
        self._proba = proba
        self._leaf = leaf
        for place in model.used:
            attribute = model.attributes[place]
            if attribute.time is not None:
                dialect.check_time(attribute.name, attribute.time)
        # In the query attributes have numbers, so that nothing can be mistaken for its own columns.
        self.attributes = tuple(_short(place, name) for place, name in enumerate(model.names))
        self.kept = [f"k{place}" for place in range(len(self._kept))]

    # -- reading ---------------------------------------------------------------------------------------------------

    def reading(self, numbered: bool = False) -> str:
        """A query for the rows as the tree needs them."""
        d = self.dialect
        items = ["ROW_NUMBER() OVER () AS place"] if numbered and d.name != "ansi" else []
        if numbered and d.name == "ansi":
            items = ["ROW_NUMBER() OVER (ORDER BY 1) AS place"]
        items += [f"t.{d.name_of(c)} AS {k}" for c, k in zip(self._kept, self.kept, strict=True)]
        items += [f"{self._read(place)} AS {self.attributes[place]}" for place in self.model.used]
        items += [f"{self._is_unknown(p)} AS {unknown_flag(p)}" for p in self.flagged]
        if self.refusals:
            whens = " ".join(f"WHEN {condition} THEN 1" for condition in self.refusals)
            items.append(f"CASE {whens} ELSE 0 END AS refused")
        listed = ",\n    ".join(items) or "1 AS nothing"
        return f"SELECT\n    {listed}\n  FROM {self._table} AS t"

    def _read(self, place: int) -> str:
        column = f"t.{self.dialect.name_of(self.sources[place])}"
        attribute = self.model.attributes[place]
        if attribute.is_categorical:
            return self.dialect.level_column(column, tuple(self._seen(place)))
        if attribute.time is not None:
            return column
        return self.dialect.number_column(column)

    def _seen(self, place: int) -> list[Any]:
        return [level for level, _ in self.model.codes(place)]

    @property
    def flagged(self) -> list[int]:
        """The attributes whose unknown levels end the way of a row."""
        used = self.model.used if self.model.stops_at_unknown else ()
        return [place for place in used if self.model.levels(place)]

    def _is_unknown(self, place: int) -> str:
        column, levels = self._read(place), self._seen(place)
        known = f"WHEN {self.dialect.is_among(column, levels)} THEN 0"
        return f"CASE WHEN {column} IS NULL THEN 0 {known} ELSE 1 END"

    @property
    def refusals(self) -> list[str]:
        """Conditions of rows that the model refuses."""
        found = []
        for place, attribute in enumerate(self.model.attributes):
            read = self._read(place)
            if not self.model.allow_missing:
                found.append(f"{read} IS NULL")
            if attribute.is_categorical and self.model.unknown == "error":
                levels = ", ".join(map(self.dialect.literal, self._seen(place)))
                found.append(f"{read} NOT IN ({levels})" if levels else f"{read} IS NOT NULL")
            is_number = not attribute.is_categorical and attribute.time is None
            if self.dialect.name == "sqlite" and is_number:
                found.append(f"typeof({read}) IN ('text', 'blob')")
        return found

    # -- the answer ------------------------------------------------------------------------------------------------

    def text(self) -> str:
        if self.model.shares_rows:
            return walk(self)
        cases = Cases(self.model, self.dialect, self.attributes)
        stages = list(cases.roots())
        if len(stages) <= 1 and not self._proba and not self._leaf:
            expression = cases.piece(0, self.label_of)
            if self.refusals:
                expression = f"CASE WHEN refused = 1 THEN NULL ELSE {expression} END"
            selected = ",\n".join([*self.kept_columns(), f'{expression} AS "prediction"'])
            return (
                f"WITH rows_read AS (\n  {self.reading()}\n)\nSELECT\n{selected}\nFROM rows_read;\n"
            )
        parts = [("rows_read", self.reading())]
        carried = [*self.kept, *(["refused"] if self.refusals else [])]
        tested = [*(self.attributes[p] for p in self.model.used), *map(unknown_flag, self.flagged)]
        for number, roots in enumerate(stages):
            node = cases.stage(roots, "node") if number else cases.piece(0, str)
            asked = tested if number < len(stages) - 1 else []
            listed = ", ".join([*carried, *asked, f"{node} AS node"])
            parts.append((f"stage{number}", f"SELECT {listed}\n  FROM {parts[-1][0]}"))
        recursive = self.dialect.expects_few_rows
        if recursive:
            never = "UNION ALL SELECT * FROM found WHERE 1 = 0"
            found = ", ".join([*carried, "node"])
            parts.append((f"found({found})", f"SELECT {found} FROM {parts[-1][0]} {never}"))
        source = parts[-1][0].split("(")[0]
        parts.append((f"ends{self.end_columns()}", f"VALUES\n    {self.ends_listed()}"))
        on = "e.node = s.node" + (" AND s.refused = 0" if self.refusals else "")
        selected = ",\n".join(f"  {item}" for item in self.answer("e.label", "e.node", "e.p"))
        joined = f"FROM {source} AS s LEFT JOIN ends AS e ON {on}"
        return f"{self.with_parts(parts, recursive)}\nSELECT\n{selected}\n{joined};\n"

    def answer(self, label: str, leaf: str, share: str) -> list[str]:
        """What the query gives, from the expressions for it."""
        items = [*self.kept_columns(), f'{label} AS "prediction"']
        if self._proba:
            names = self._proba_names()
            items += [f"{share}{c} AS {names[c]}" for c in range(self.model.n_classes)]
        if self._leaf:
            items.append(f'{leaf} AS "leaf"')
        return items

    def kept_columns(self) -> list[str]:
        names = map(self.dialect.name_of, self._kept)
        return [f"{k} AS {name}" for k, name in zip(self.kept, names, strict=True)]

    def _proba_names(self) -> list[str]:
        labels = [str(label) for label in self.model.classes]
        plain = all(map(_PLAIN.fullmatch, labels))
        if not plain or len({label.lower() for label in labels}) < len(labels):
            labels = [str(number) for number in range(len(labels))]
        return [f'"proba_{label}"' for label in labels]

    def label_of(self, node: int) -> str:
        if self.model.predicts_numbers:
            return self.dialect.number(float(self.model.tree.prediction[node]))
        return self.label(int(self.model.decision[node]))

    def label(self, number: int) -> str:
        return self.dialect.literal(self.model.classes[number])

    def end_columns(self) -> str:
        return f"({', '.join(['node', 'label', *(f'p{c}' for c in range(self.model.n_classes))])})"

    def ends_listed(self) -> str:
        rows = []
        for node in np.flatnonzero(self.model.ends).tolist():
            shares = () if self.model.predicts_numbers else self.model.tree.proba[node].tolist()
            items = [str(node), self.label_of(node), *map(self.dialect.number, shares)]
            rows.append(f"({', '.join(items)})")
        return ",\n    ".join(rows)

    def with_parts(self, parts: list[tuple[str, str]], recursive: bool = False) -> str:
        word = "WITH RECURSIVE" if recursive else "WITH"
        said = [f"{head} AS {self.dialect.materialized}(\n  {body}\n)" for head, body in parts]
        return f"{word} " + ",\n".join(said)


def _sources(model: Exportable, columns: Mapping[str, str], dialect: Dialect) -> list[str]:
    """What the attributes are called in the table."""
    known = set(model.names)
    for name in columns:
        if name not in known:
            raise ValueError(
                f"columns contains {name!r}, which is not an attribute of the model: its attributes are "
                f"{short_repr(list(model.names))}"
            )
    sources = [columns.get(name, name) for name in model.names]
    seen: dict[str, str] = {}
    for name, source in zip(model.names, sources, strict=True):
        key = source.casefold() if dialect.folds_case else source
        if key in seen:
            raise ValueError(
                f"{dialect.name} treats the columns {seen[key]!r} and {name!r} as the same: rename one in "
                f"the table, and give its new name, columns={{{name!r}: ...}}"
            )
        seen[key] = name
    return sources


def _short(place: int, name: str) -> str:
    """An attribute inside the query; its name is for people."""
    return f"a{place}_{name}" if _PLAIN.fullmatch(name) else f"a{place}"


def _kept(keep: Any) -> list[str]:
    if isinstance(keep, str) or not all(isinstance(name, str) for name in keep):
        raise TypeError(f"keep must be a list of column names, got {short_repr(keep)}")
    return list(dict.fromkeys(keep))
