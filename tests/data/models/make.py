# SPDX-License-Identifier: BSD-3-Clause
"""Writes the golden files of this version: models, and what they say about some rows.

    python tests/data/models/make.py

Once for each format version. Files of earlier versions stay as they are: later ones must read them.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1]), str(HERE.parents[2])]

from fuzz.seeds import models, rows_for  # noqa: E402

import fasttree  # noqa: E402
from fasttree.persistence.archive import FORMAT_VERSION  # noqa: E402


def main() -> None:
    folder = HERE / f"{fasttree.__version__}-format-{FORMAT_VERSION}"
    if folder.exists():
        sys.exit(f"{folder} is there: the files of a version are written once")
    folder.mkdir()
    for place, model in enumerate(models(n_rows=40)):
        name = f"{place:02d}-{type(model).__name__}"
        model.save(folder / f"{name}.fasttree")
        text = json.dumps(expected(model), indent=1, ensure_ascii=True)
        (folder / f"{name}.json").write_text(text + "\n", "utf-8")


def expected(model: Any) -> dict[str, Any]:
    schema = model.tree_.schema
    X = rows_for(schema)
    columns = X if schema.named else dict(zip(schema.names, X.T, strict=True))
    rows = {}
    for attribute in schema.attributes:
        column = columns[attribute.name]
        if attribute.time is not None:
            rows[attribute.name] = [attribute.time, list(map(repr, column.values.tolist()))]
        elif attribute.categories is None:
            rows[attribute.name] = ["numeric", list(map(repr, column.tolist()))]
        else:
            rows[attribute.name] = ["labels", column.tolist()]
    are_rules = isinstance(model, fasttree.RuleClassifier)
    return {
        "model": repr(model),
        "text": model.to_text() if are_rules else model.to_text(exact=True),
        "named": schema.named,
        "rows": rows,
        "predict": model.predict(X).tolist(),
    } | ({"predict_proba": model.predict_proba(X).tolist()} if hasattr(model, "classes_") else {})


if __name__ == "__main__":
    main()
