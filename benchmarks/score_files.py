# SPDX-License-Identifier: BSD-3-Clause
"""How fast a large Parquet file is scored, and with how much memory; and what happens if that is killed.

    python benchmarks/score_files.py                  fasttree beside the usual loop over batches with scikit-learn
    python benchmarks/score_files.py --kill 20        SIGKILL at so many random moments, then --resume

The rows are drawn from the file `cohort_22157.parquet` of $FASTTREE_SHARED (else of `shared` beside the repository), or
from a made-up table with the same numbers of columns and levels. Each contestant runs in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

TARGET = "cesarean"
BATCH_ROWS = 65_536
GROUP_ROWS = 2**20
REPOSITORY = Path(__file__).resolve().parents[1]


def training_table() -> Any:
    shared = Path(os.environ.get("FASTTREE_SHARED", REPOSITORY.parent / "shared"))
    found = shared / "data" / "cohort_22157.parquet"
    return pq.read_table(found) if found.exists() else _made_up(22_157)


def _made_up(n_rows: int) -> Any:
    """16 columns of whole numbers and 14 of text with up to 7 levels, 2 % of the values missing."""
    rng = np.random.default_rng(0)
    columns: dict[str, Any] = {}
    for j in range(16):
        columns[f"number_{j}"] = pa.array(rng.poisson(20, n_rows), mask=rng.random(n_rows) < 0.02)
    for j in range(14):
        codes = pa.array(
            rng.integers(0, 2 + j % 6, n_rows), pa.int8(), mask=rng.random(n_rows) < 0.02
        )
        columns[f"text_{j}"] = pa.DictionaryArray.from_arrays(
            codes, [f"level {k}" for k in range(7)]
        )
    risk = rng.normal(size=n_rows)
    for j in range(4):
        risk += columns[f"number_{j}"].to_numpy(zero_copy_only=False) / 10 - 2
    columns[TARGET] = pa.array(np.where(np.nan_to_num(risk) > 0.5, "yes", "no"))
    return pa.table(columns)


def make_rows(table: Any, n_rows: int, path: Path) -> None:
    rng = np.random.default_rng(1)
    with pq.ParquetWriter(path, table.schema, compression="zstd") as writer:
        for start in range(0, n_rows, GROUP_ROWS):
            rows = rng.integers(0, len(table), min(GROUP_ROWS, n_rows - start))
            writer.write_table(table.take(pa.array(rows)))


# -- the contestants, each in a process of its own -----------------------------------------------------------------


def of_fasttree(source: str, target: str) -> dict[str, Any]:
    import fasttree
    from fasttree.batch import score_files

    model = fasttree.load(os.environ["MODEL"])
    busy = time.process_time()
    report = score_files(model, [source], target, proba=True, n_jobs=-1)
    return {"rows": report.rows, "seconds": report.seconds, "cpu": time.process_time() - busy}


def of_sklearn(source: str, target: str) -> dict[str, Any]:
    """What people write: a pipeline of one-hot columns and a tree, batch by batch through pandas."""
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder
    from sklearn.tree import DecisionTreeClassifier

    training = training_table().to_pandas()
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    text = make_column_selector(dtype_include=["category", "object", "string"])
    columns = make_column_transformer((encoder, text), remainder="passthrough")
    leaves = int(os.environ["LEAVES"])
    model = make_pipeline(columns, DecisionTreeClassifier(max_leaf_nodes=leaves, random_state=0))
    model.fit(training.drop(columns=TARGET), training[TARGET].astype(str))
    del training
    started, busy = time.perf_counter(), time.process_time()
    file = pq.ParquetFile(source)
    names = [name for name in file.schema_arrow.names if name != TARGET]
    writer, n_rows = None, 0
    for batch in file.iter_batches(BATCH_ROWS, columns=names):
        shares = model.predict_proba(batch.to_pandas())
        out = {"prediction": pa.array(model.classes_[shares.argmax(axis=1)].tolist())}
        out |= {f"proba_{label}": shares[:, k] for k, label in enumerate(model.classes_)}
        table = pa.table(out)
        writer = writer or pq.ParquetWriter(target, table.schema, compression="zstd")
        writer.write_table(table)
        n_rows += len(table)
    assert writer is not None
    writer.close()
    seconds, cpu = time.perf_counter() - started, time.process_time() - busy
    return {"rows": n_rows, "seconds": seconds, "cpu": cpu}


CONTESTANTS = {"fasttree": of_fasttree, "scikit-learn": of_sklearn}


def measure(name: str, source: Path, target: Path) -> dict[str, Any]:
    target.unlink(missing_ok=True)
    words = [sys.executable, __file__, "--child", name, str(source), str(target)]
    found = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True)
    measured: dict[str, Any] = json.loads(found.stdout.splitlines()[-1])
    return measured


def compare(source: Path, folder: Path, repeats: int) -> None:
    best: dict[str, dict[str, Any]] = {}
    for _ in range(repeats):
        for name in CONTESTANTS:
            found = measure(name, source, folder / "scored.parquet")
            if name not in best or found["seconds"] < best[name]["seconds"]:
                best[name] = found
    for name, found in best.items():
        speed = found["rows"] / found["seconds"]
        print(
            f"{name:<14} {found['rows']:>12,} rows {found['seconds']:8.1f} s {speed:>12,.0f} rows/s "
            f"processor {found['cpu']:6.1f} s   peak {found['megabytes']:6.0f} MB"
        )
    ratio = best["scikit-learn"]["seconds"] / best["fasttree"]["seconds"]
    print(f"throughput: {ratio:.1f} x")


# -- killed --------------------------------------------------------------------------------------------------------


def kill(inputs: list[Path], folder: Path, model: Path, n_times: int) -> None:
    """Never is there half an output; and what is left to do is done by the run that is not killed."""
    folder.mkdir()
    out, expected = folder / "out", folder / "expected"

    def words(target: Path) -> list[str]:
        command = [sys.executable, "-c", "from fasttree.cli import main; main()"]
        options = ["-o", f"{target}/", "--proba", "--resume", "--quiet"]
        return [*command, "score", str(model), *map(str, inputs), *options]

    started = time.perf_counter()
    subprocess.run(words(expected), check=True)
    seconds = time.perf_counter() - started
    n_killed = n_seen = 0
    while n_killed < n_times:
        child = subprocess.Popen(words(out))
        try:
            child.wait(random.uniform(0, seconds))
        except subprocess.TimeoutExpired:
            child.send_signal(signal.SIGKILL)
            n_killed += child.wait() == -signal.SIGKILL
        seen = list(out.glob("[!.]*"))
        for path in seen:
            assert pq.read_table(path).equals(pq.read_table(expected / path.name)), path
        n_seen += len(seen)
        for path in random.sample(seen, -(-len(seen) // 2)):
            path.unlink()  # so that there is something left to do
    subprocess.run(words(out), check=True)
    names = sorted(path.name for path in expected.iterdir())
    assert sorted(path.name for path in out.iterdir()) == names, "leftovers"
    for path in expected.glob("[!.]*"):
        assert pq.read_table(path).equals(pq.read_table(out / path.name)), path
    what = "one file" if len(inputs) == 1 else f"{len(inputs)} files"
    print(
        f"{what}: killed {n_killed} times; {n_seen} outputs seen, all whole; resumed to the end",
        flush=True,
    )


def row_groups(source: Path, folder: Path) -> list[Path]:
    """Each in a file of its own."""
    folder.mkdir()
    whole = pq.ParquetFile(source)
    paths = [folder / f"{number}.parquet" for number in range(whole.num_row_groups)]
    for number, path in enumerate(paths):
        pq.write_table(whole.read_row_group(number), path)
    return paths


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--kill", type=int, default=0, metavar="TIMES")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    said = parser.parse_args()
    if said.child:
        name, source, target = said.child
        found = CONTESTANTS[name](source, target)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        found["megabytes"] = peak / (2**20 if sys.platform == "darwin" else 2**10)
        print(json.dumps(found))
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table = training_table()
        make_rows(table, said.rows, folder / "rows.parquet")
        import fasttree

        model = fasttree.C45Classifier().fit(table.drop_columns([TARGET]), table[TARGET])
        model.save(folder / "tree.model")
        os.environ["MODEL"], os.environ["LEAVES"] = (
            str(folder / "tree.model"),
            str(model.get_n_leaves()),
        )
        size = (folder / "rows.parquet").stat().st_size / 1e6
        print(
            f"{said.rows:,} rows, {table.num_columns} columns, {size:.0f} MB; {model.get_n_leaves()} leaves"
        )
        if said.kill:
            parts = row_groups(folder / "rows.parquet", folder / "parts")
            kill([folder / "rows.parquet"], folder / "one", folder / "tree.model", said.kill)
            kill(parts, folder / "many", folder / "tree.model", said.kill)
        else:
            compare(folder / "rows.parquet", folder, said.repeats)


if __name__ == "__main__":
    main()
