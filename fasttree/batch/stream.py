# SPDX-License-Identifier: BSD-3-Clause
"""Batches are read, scored and written at the same time, in their order and in constant memory.

A thread reads ahead, a pool of threads scores, and the calling thread writes. All of them spend their time in code
that lets go of Python's lock. There are never more than a few batches between the source and the sink.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pyarrow as pa

from fasttree.base.checks import check_n_jobs
from fasttree.base.threads import count_threads
from fasttree.batch.models import scorer_of
from fasttree.batch.report import Report
from fasttree.batch.score_batch import Options, RowScorer, lay_out
from fasttree.files.errors import CellError, InputError
from fasttree.files.readers import ROWS_PER_BATCH

AHEAD = 2  # batches that are read before a thread asks for them

Locate = Callable[[int], str]  # a row of the source as messages call it


def score_batches(
    model: Any,
    source: Any,
    sink: Any,
    *,
    proba: bool = False,
    leaf: bool = False,
    explain: bool = False,
    columns: Sequence[str] | str = (),
    mode: str = "normal",
    n_jobs: int | None = None,
) -> Report:
    """Score record batches one after another, in constant memory.

    Parameters
    ----------
    model : a fitted classifier
    source : pyarrow.RecordBatchReader, or iterable of batches
        Batches of pyarrow, or of any library that implements Arrow's PyCapsule interface (polars, duckdb, ...). All
        must have the same columns, which are matched by name. The source is read in a separate thread.
    sink : function or writer
        Called with each batch of the output, a ``pyarrow.RecordBatch``, in the order of the source and in the calling
        thread. Of an object with a ``write_batch`` method, such as pyarrow's writers, that method is called.
    proba, leaf, explain : bool
        Whether to add columns to the output beside ``prediction``: ``proba_<class>`` for each class, ``leaf`` (the
        number of the leaf) and ``rule`` (the path to the leaf as text).
    columns : list of names or "all"
        Columns of the source to keep in the output.
    mode : {"normal", "strict", "lenient"}
        "strict" rejects columns that are neither needed nor kept, and categories that were not seen in training.
        "lenient" parses text as numbers or times and treats values that cannot be parsed as missing.
    n_jobs : int or None
        Number of scoring threads, with the meaning it has in joblib: None is 1, -1 is all cores.

    Returns
    -------
    Report
        The rows, their predicted classes, and what was missing, unseen or outside the training range in each column.
    """
    scorer = scorer_of(model)
    options = Options(proba, leaf, explain, columns, mode)
    started = time.perf_counter()
    batches = _batches(source)
    first = next(batches, None)
    if first is None:
        return Report()
    layout = lay_out(scorer, first.schema.names, options, "the source")
    rows = RowScorer(scorer, first.schema, layout, options)
    report = Report(ignored_columns=list(layout.ignored))
    stream(rows, _alike(first, batches), _writer(sink), report, lambda row: f"row {row}", n_jobs)
    report.seconds = time.perf_counter() - started
    return report


def _writer(sink: Any) -> Callable[[Any], Any]:
    write = getattr(sink, "write_batch", sink)
    if not callable(write):
        raise TypeError(
            f"sink must be a function or a writer with write_batch, got an object of type {type(sink).__name__}"
        )
    return write


def _batches(source: Any) -> Iterator[Any]:
    """The record batches of anything that has some."""
    if hasattr(source, "__arrow_c_stream__"):
        yield from pa.RecordBatchReader.from_stream(source)
    elif hasattr(source, "__arrow_c_array__"):
        yield pa.record_batch(source)
    elif isinstance(source, Iterable) and not isinstance(source, (str, bytes)):
        for item in source:
            if not (hasattr(item, "__arrow_c_stream__") or hasattr(item, "__arrow_c_array__")):
                raise TypeError(
                    f"source must yield Arrow record batches, got an object of type {type(item).__name__}"
                )
            yield from _batches(item)
    else:
        raise TypeError(
            f"source must be Arrow record batches or a reader of them, got an object of type {type(source).__name__}: "
            "for files, use fasttree.batch.score_files"
        )


def _alike(first: Any, others: Iterable[Any]) -> Iterator[Any]:
    """All the batches, which must have the columns of the first one in its order."""
    yield first
    for number, batch in enumerate(others, 1):
        if batch.schema.names != first.schema.names:
            raise InputError(
                f"batch {number} of the source has the columns {batch.schema.names}, but the first one has "
                f"{first.schema.names}: all batches must have the same columns."
            )
        yield batch


def stream(
    rows: RowScorer,
    batches: Iterable[Any],
    write: Callable[[Any], Any],
    report: Report,
    locate: Locate,
    n_jobs: int | None = None,
    on_rows: Callable[[int], Any] = lambda n_rows: None,
) -> None:
    """Score all the batches. `report` is added to, `on_rows` told how many rows have just been written."""
    n_threads = count_threads(check_n_jobs(n_jobs))
    with ThreadPoolExecutor(n_threads, "score") as pool, _ReadAhead(batches, AHEAD) as ahead:
        waiting: queue.SimpleQueue[Future[tuple[Any, Report]]] = queue.SimpleQueue()
        done = 0
        try:
            for batch in ahead:
                waiting.put(pool.submit(rows.score, batch))
                if waiting.qsize() > n_threads:
                    done += _finish(waiting.get(), write, report, locate, done, on_rows)
            while not waiting.empty():
                done += _finish(waiting.get(), write, report, locate, done, on_rows)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _finish(
    future: Future[tuple[Any, Report]],
    write: Callable[[Any], Any],
    report: Report,
    locate: Locate,
    first_row: int,
    on_rows: Callable[[int], Any],
) -> int:
    try:
        batch, seen = future.result()
    except CellError as error:
        raise error.at(locate(first_row + error.row)) from None
    write(batch)
    report.add(seen)
    on_rows(seen.rows)
    return seen.rows


class _ReadAhead:
    """Iterates over batches that a thread reads ahead, cut to size. No thread is left when the block ends."""

    def __init__(self, batches: Iterable[Any], n_ahead: int) -> None:
        self._batches = batches
        self._queue: queue.Queue[Any] = queue.Queue(n_ahead)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._read, name="read", daemon=True)

    def __enter__(self) -> _ReadAhead:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        while self._thread.is_alive():  # it may wait for room
            try:
                self._queue.get(timeout=0.01)
            except queue.Empty:
                continue

    def _read(self) -> None:
        end: BaseException | None = None
        try:
            for batch in self._batches:
                for start in range(0, batch.num_rows, ROWS_PER_BATCH):
                    if self._stop.is_set():
                        return
                    self._queue.put(batch.slice(start, ROWS_PER_BATCH))
        except BaseException as error:  # handed to the thread that writes
            end = error
        self._queue.put(_End(end))

    def __iter__(self) -> Iterator[Any]:
        while not isinstance(item := self._queue.get(), _End):
            yield item
        if item.error is not None:
            raise item.error


class _End:
    def __init__(self, error: BaseException | None) -> None:
        self.error = error
