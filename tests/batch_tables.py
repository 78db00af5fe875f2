# SPDX-License-Identifier: BSD-3-Clause
"""Tables, models and files for the tests of batch scoring."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

import fasttree

LEVELS = ("red", "grün", "blue, or so", 'a "quoted" one', "two\nlines")
NEW_LEVEL = "never seen"


def table_of(n_rows: int, seed: int = 0, holes: float = 0.1, new_levels: float = 0.0) -> Any:
    """Numbers, whole numbers and text with signs that are special in CSV, under such names; the class comes last."""
    rng = np.random.default_rng(seed)
    size = np.round(rng.normal(size=n_rows), 3)
    count = rng.integers(0, 50, n_rows)
    colour = rng.choice(LEVELS, n_rows).astype(object)
    site = rng.choice(["north", "south"], n_rows).astype(object)
    y = np.where((size > 0.2) ^ (colour == "red") ^ (count > 25), "yes", "nö")
    y[rng.random(n_rows) < 0.1] = "yes"
    colour[rng.random(n_rows) < new_levels] = NEW_LEVEL

    def holed(values: Any, kind: Any) -> Any:
        return pa.array(values, kind, mask=rng.random(n_rows) < holes)

    return pa.table(
        {
            "size": holed(size, pa.float64()),
            "count, whole": holed(count, pa.int64()),
            "Färbung": holed(colour, pa.string()),
            "site": holed(site, pa.string()),
            "id": pa.array(np.arange(n_rows)),
            "class": pa.array(y.tolist(), pa.string()),
        }
    )


def attributes_of(table: Any) -> Any:
    return table.drop_columns(["id", "class"])


def fitted(table: Any, model: Any = None) -> Any:
    model = fasttree.TreeClassifier(max_depth=6) if model is None else model
    return model.fit(attributes_of(table), table["class"].to_pylist())


def write(table: Any, path: Path, batch_rows: int = 1000) -> Path:
    """In the format that the ending says."""
    if path.suffix == ".parquet":
        pq.write_table(table, path, row_group_size=batch_rows)
    elif path.suffix == ".arrows":
        with pa.ipc.new_stream(path, table.schema) as writer:
            writer.write_table(table, batch_rows)
    elif path.suffix in (".arrow", ".feather"):
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table, batch_rows)
    else:
        pyarrow.csv.write_csv(table, path)
    return path


def read(path: Path) -> Any:
    """With text as plain text, whatever the format."""
    if path.suffix == ".parquet":
        table = pq.read_table(path)
    elif path.suffix in (".arrow", ".feather"):
        table = pa.ipc.open_file(path).read_all()
    else:
        options = pyarrow.csv.ParseOptions(newlines_in_values=True)
        table = pyarrow.csv.read_csv(path, parse_options=options)
    kinds = [
        f.with_type(f.type.value_type) if pa.types.is_dictionary(f.type) else f
        for f in table.schema
    ]
    return table.cast(pa.schema(kinds))
