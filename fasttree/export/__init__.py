# SPDX-License-Identifier: BSD-3-Clause
"""A tree, or rules, in other forms: one file each.

The module of a format has a function ``export(model, **options)`` that returns text or bytes; its keyword-only
parameters are the options. It refuses with a ValueError what it cannot say exactly, and names the alternative.
"""

from __future__ import annotations

import importlib
import inspect
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fasttree.base.hints import check_choice
from fasttree.base.values import short_repr


@dataclass(frozen=True, slots=True)
class Exporter:
    """A format."""

    module: str  # loaded when it is asked for
    ending: str  # of file names
    help: str
    is_text: bool = True
    function: str = "export"
    numbers: bool = False  # also of regressors

    def load(self) -> Any:
        return getattr(importlib.import_module(self.module), self.function)

    def options(self) -> dict[str, Any]:
        """The options with their defaults."""
        parameters = list(inspect.signature(self.load()).parameters.values())
        return {p.name: p.default for p in parameters[1:]}

    def kinds(self) -> dict[str, str]:
        """What each option takes: "list" (of texts), "pairs" (a mapping from text to text), or one "value"."""
        parameters = list(inspect.signature(self.load()).parameters.values())
        return {p.name: _kind(p.annotation) for p in parameters[1:]}


def _kind(annotation: str) -> str:
    """By the type that an option is annotated with."""
    outer = annotation.partition("[")[0]
    return {"Mapping": "pairs", "Iterable": "list", "Sequence": "list"}.get(outer, "value")


EXPORTERS: dict[str, Exporter] = {
    "text": Exporter(
        "fasttree.draw.text", ".txt", "indented text, one line per branch", numbers=True
    ),
    "dot": Exporter("fasttree.draw.dot", ".dot", "a drawing for Graphviz", numbers=True),
    "svg": Exporter(
        "fasttree.draw.svg", ".svg", "a drawing for browsers and documents", numbers=True
    ),
    "json": Exporter(
        "fasttree.export.json", ".json", "the complete model for other programs", numbers=True
    ),
    "sql": Exporter("fasttree.export.sql", ".sql", "a query for a database", numbers=True),
    "python": Exporter(
        "fasttree.export.python", ".py", "a Python module without dependencies", numbers=True
    ),
    "c": Exporter("fasttree.export.c", ".c", "C99 source without dependencies", numbers=True),
    "onnx": Exporter("fasttree.export.onnx", ".onnx", "for ONNX runtimes", is_text=False),
    "pmml": Exporter("fasttree.export.pmml", ".pmml", "PMML 4.4 (XML)"),
    "treelite": Exporter(
        "fasttree.export.treelite", ".tl", "for treelite and nvForest", is_text=False
    ),
}

RULE_EXPORTERS: dict[str, Exporter] = {
    "text": Exporter("fasttree.rules.text", ".txt", "one rule per line", function="to_text"),
    "markdown": Exporter(
        "fasttree.rules.markdown", ".md", "a table, one row per rule", function="to_markdown"
    ),
    "json": Exporter("fasttree.rules.json", ".json", "the complete rules", function="to_json"),
    "python": Exporter("fasttree.rules.python", ".py", "a Python function", function="to_python"),
}


def export(
    model: Any,
    exporters: Mapping[str, Exporter],
    format: str,
    path: str | os.PathLike[str] | None,
    options: Mapping[str, Any],
) -> str | bytes:
    """The model in a format of the table `exporters`; also written to `path`, if that is given."""
    exporter = exporters[check_choice("format", format, exporters)]
    if getattr(model, "predicts_numbers", False) and not exporter.numbers:
        able = [name for name, one in exporters.items() if one.numbers]
        raise ValueError(
            f"the format {format!r} is for classifiers only: export a regressor as {_listed(able)}, or save it with "
            "model.save"
        )
    allowed = exporter.options()
    for name in options:
        if name not in allowed:
            known = f"its options are {_listed(allowed)}" if allowed else "it has no options"
            raise TypeError(f"the format {format!r} has no option {name!r}: {known}")
    try:
        content: str | bytes = exporter.load()(model, **options)
        if path is not None:
            from fasttree.base.atomic import write_whole

            write_whole(path, content)
    except UnicodeEncodeError as error:
        there = error.object[max(error.start - 20, 0) : error.end + 20]
        raise ValueError(
            f"the format {format!r} cannot write an incomplete character (half of a surrogate pair), as in "
            f"{short_repr(there)}: rename the column, "
            'category or class, or use format="python" or "json"'
        ) from None
    return content


def _listed(names: Any) -> str:
    return ", ".join(map(repr, names))
