# SPDX-License-Identifier: BSD-3-Clause
"""One record batch of input becomes one of output."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from fasttree.base.hints import check_choice
from fasttree.base.values import short_repr, to_python
from fasttree.batch.models import Scorer
from fasttree.batch.read_columns import AttributeReader, Reading
from fasttree.batch.report import Report
from fasttree.files.csv_style import CsvStyle, other_delimiter
from fasttree.files.errors import ArgumentError, InputError, check_names
from fasttree.tables.fitted import are_shuffled
from fasttree.tables.training import Table

MODES = ("normal", "strict", "lenient")
PREDICTION, LEAF, RULE, SHARE = "prediction", "leaf", "rule", "proba_"


@dataclass(frozen=True, slots=True)
class Options:
    """What to write, and how to read.

    "strict" refuses columns that the model does not need and levels that it has not seen; "lenient" takes what cannot
    be read for missing, and leaves out broken rows; "normal" does neither.
    """

    proba: bool = False
    leaf: bool = False
    explain: bool = False
    columns: Sequence[str] | str = ()  # those of the input to be kept; "all"
    mode: str = "normal"

    def __post_init__(self) -> None:
        check_choice("mode", self.mode, MODES, error=ArgumentError)
        if isinstance(self.columns, str):
            if self.columns != "all":
                raise ArgumentError(
                    f'columns must be a list of names or "all", got {self.columns!r}: to keep one column, write '
                    f"[{self.columns!r}]"
                )
        else:
            object.__setattr__(self, "columns", tuple(self.columns))

    @property
    def strict(self) -> bool:
        return self.mode == "strict"

    @property
    def lenient(self) -> bool:
        return self.mode == "lenient"


@dataclass(frozen=True, slots=True)
class Layout:
    """Which columns of a table the model reads, which are kept, and which nobody asked for."""

    attributes: tuple[str, ...]  # in the order of the model
    kept: tuple[str, ...]
    ignored: tuple[str, ...]

    @property
    def needed(self) -> list[str]:
        return list(dict.fromkeys(self.attributes + self.kept))


def lay_out(scorer: Scorer, names: Sequence[str], options: Options, where: str) -> Layout:
    """Find the columns by name. A model without names goes by position if the names say nothing."""
    check_names(names, where)
    expected = scorer.schema.names
    if not scorer.schema.named and not set(expected) <= set(names):
        if len(names) != len(expected):
            raise InputError(
                f"{where} has {len(names)} columns, but the model was trained without column names on {len(expected)}: "
                "pass exactly these columns in the same order, or train with column names."
            )
        if are_shuffled(names):
            raise InputError(
                f"the columns of {where} are labelled {short_repr(list(names))}, but the model was trained without "
                f"column "
                "names and matches columns by position: reorder them as 0, 1, ..., or rename them."
            )
        expected = tuple(names)
    _check_present(expected, names, where, "which the model needs")
    kept = tuple(names) if options.columns == "all" else tuple(options.columns)
    _check_present(kept, names, where, "which was requested for the output")
    known = {*expected, *kept}
    ignored = tuple(name for name in names if name not in known)
    if ignored and options.strict:
        raise InputError(
            f"{where} has the column {ignored[0]!r}, which the model does not use: leave it out, keep it in the "
            "output (--columns), or do not use --strict."
        )
    return Layout(expected, kept, ignored)


def _check_present(wanted: Sequence[str], names: Sequence[str], where: str, why: str) -> None:
    present = set(names)
    missing = [name for name in wanted if name not in present]
    if not missing:
        return
    n_others = len(missing) - 1
    others = f" (and {n_others} other{'s' * (n_others > 1)})" if n_others else ""
    by_lower = {name.lower(): name for name in names}
    close = [by_lower[name] for name in difflib.get_close_matches(missing[0].lower(), by_lower, 1)]
    remedy = (
        f"did you mean {close[0]!r}?" if close else f"its columns are {short_repr(list(names))}."
    )
    if other := other_delimiter(names):
        remedy = f"{other}."
    raise InputError(f"{where} has no column {missing[0]!r}{others}, {why}: {remedy}")


class RowScorer:
    """Scores the batches of one table. Threads share it."""

    def __init__(
        self,
        scorer: Scorer,
        schema: Any,
        layout: Layout,
        options: Options,
        style: CsvStyle | None = None,
    ) -> None:
        """`style`: that of a CSV file, which has text alone."""
        self.scorer, self.layout, self.options = scorer, layout, options
        self.of_numbers = scorer.schema.predicts_numbers
        self._check_options()
        self._places = [schema.get_field_index(name) for name in layout.attributes]
        self._kept = [schema.get_field_index(name) for name in layout.kept]
        self._readers = self._make_readers(style)
        classes = [to_python(label) for label in scorer.schema.classes]
        self._classes, self._class_names = pa.array(classes), [str(label) for label in classes]
        self.output_schema = self._output_schema(schema)

    def _check_options(self) -> None:
        if self.of_numbers and self.options.proba:
            raise ArgumentError(
                "proba adds the probabilities of classes, but this model predicts numbers: leave it out"
            )

    def _make_readers(self, style: CsvStyle | None) -> list[AttributeReader]:
        schema, policy = self.scorer.schema, self.scorer.policy
        reading = Reading(
            textual=style is not None,
            decimal="." if style is None else style.decimal,
            lenient=self.options.lenient,
            allow_missing=policy.allow_missing,
            allow_unseen=self.scorer.unknown != "error" and not self.options.strict,
            merges_unseen=self.scorer.unknown == "missing",
        )
        ranges = schema.ranges
        if not len(ranges):
            ranges = np.full((len(schema.attributes), 2), np.nan)
        # Messages name the columns of the table, which may be others than those of a model without names.
        return [
            AttributeReader(replace(attribute, name=name), low, high, reading)
            for attribute, name, (low, high) in zip(
                schema.attributes, self.layout.attributes, ranges.tolist(), strict=True
            )
        ]

    def _output_schema(self, schema: Any) -> Any:
        kind = pa.float64() if self.of_numbers else self._classes.type
        if pa.types.is_string(kind):
            kind = pa.dictionary(pa.int32(), kind)
        fields = [schema.field(place).remove_metadata() for place in self._kept]
        fields.append(pa.field(PREDICTION, kind))
        if self.options.proba:
            fields += [pa.field(SHARE + name, pa.float64()) for name in self._class_names]
        if self.options.leaf:
            fields.append(pa.field(LEAF, pa.int64()))
        if self.options.explain:
            fields.append(pa.field(RULE, pa.dictionary(pa.int32(), pa.string())))
        for name, count in Counter(field.name for field in fields).items():
            if count > 1:
                raise InputError(
                    f"the output would have {count} columns named {name!r}: rename the input column, or "
                    "do not keep it."
                )
        return pa.schema(fields)

    def score(self, batch: Any) -> tuple[Any, Report]:
        report = Report(rows=batch.num_rows)
        columns = []
        for place, reader in zip(self._places, self._readers, strict=True):
            column, report.columns[reader.attribute.name] = reader.read(batch.column(place))
            columns.append(column)
        schema = self.scorer.schema
        table = Table(batch.num_rows, schema.names, schema.named, columns=tuple(columns))
        found = self.scorer.score(table, self.options.proba)
        out = [batch.column(place) for place in self._kept]
        if found.numbers is not None:
            report.predicted.note(found.numbers)
            out.append(pa.array(found.numbers))
        else:
            counts = np.bincount(found.classes, minlength=len(self._class_names)).tolist()
            report.predictions = dict(zip(self._class_names, counts, strict=True))
            out.append(self._predictions(found.classes))
        if found.shares is not None:
            out += [pa.array(np.ascontiguousarray(share)) for share in found.shares.T]
        if self.options.leaf:
            out.append(pa.array(found.leaves.astype(np.int64)))
        if self.options.explain:
            place, texts = self.scorer.reasons(table, found)
            out.append(pa.DictionaryArray.from_arrays(place, pa.array(texts, pa.string())))
        return pa.RecordBatch.from_arrays(out, schema=self.output_schema), report

    def _predictions(self, classes: np.ndarray) -> Any:
        codes = pa.array(classes.astype(np.int32))
        if pa.types.is_string(self._classes.type):
            return pa.DictionaryArray.from_arrays(codes, self._classes)
        return self._classes.take(codes)
