# SPDX-License-Identifier: BSD-3-Clause
"""Records to words: the table on the terminal and docs/benchmarks.md."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from benchmarks.contestants import CONTESTANTS
from benchmarks.environment import disturbed
from benchmarks.results import Entry, Record, Verdict
from benchmarks.scenarios import SCENARIOS

Row = list[str]
VERDICT_HEAD = ["work", "data", "against", "fasttree", "theirs", "ratio", "target", "met"]
ENTRY_HEAD = [
    "library", "median", "fastest to slowest", "rounds", "cores busy", "leaves", "depth",
    "accuracy, training", "accuracy, held out",
]  # fmt: skip

INTRODUCTION = """\
# Benchmarks

fasttree compared with other libraries that grow one decision tree, on the same data, with the same
number of threads, in one process. This page is generated: `{command}`.

![How many times longer the other libraries take](benchmarks.svg)
"""

METHOD = """\
## How it was measured

- **Time** is the wall time of `fit(X, y)` on a numpy array as a user calls it, including conversion,
  encoding and binning for every library. The libraries take turns, in a new random order in every
  round; the table shows medians; a library that takes more than 5 seconds is measured 3 times. "Cores busy" is
  CPU time over wall time. scikit-learn's `DecisionTreeClassifier` always uses one thread.
- **Data** are scikit-learn's `make_classification(n_samples=n, n_features=d, n_informative=d//2,
  n_redundant=d//5, flip_y=0.05, random_state=0)` in float64, C order. "Real births" are 57,811
  births of a public-domain file, categories as codes, missing values as -1.
- **Accuracy** on the training rows is that of the last timed model. On held-out rows it is that of
  the warm-up, a fit on a random 80 % of the rows, tested on the other 20 %. Accuracies and numbers
  of leaves show that the libraries did the same work: ties between equal gains may be broken
  differently, and float32 merges values that float64 distinguishes.
- **predict_proba**: float32 rows, all but the first 200,000 never seen by the tree. One row: the mean
  of 200 calls. onnxruntime scores scikit-learn's tree, in float32, and gives float32.
- **Memory** is the growth of a child process's peak resident set over one fit, X not included,
  divided by the number of cells of X, after a small fit that loads what a library loads.
- **Frames** are real tables whose categories are plain text, with missing values as nulls. The time
  covers everything from the frame to the fitted tree, including the encoding of text; the
  pipeline of scikit-learn is a `ColumnTransformer` with an `OrdinalEncoder` for the text columns.
  The trees differ there: an ordinal code is split by thresholds, ours by sets of categories. Formats
  of one table are compared round by round: the ratio is the median of the rounds' ratios, with its
  95 % bootstrap interval. "Not slower" means that the upper end of the interval of our time over
  the other is at most 1.03, with as many rounds as that needs; `python -m benchmarks.two_builds OLD
  NEW` makes the same comparison between two builds of this library, run alternately.
- **Limits**: where a fit is stopped because of its memory or time, what it used until then is shown.
- **Import**: the wall time of a new interpreter that imports the library and exits, minus that of one
  that does nothing.
- **Tiny** data sets: one thread, 40 times as many rounds, no pause between them.

Each library grows one tree, with nothing that penalises or forbids small leaves. Boosting libraries
take one step with learning rate 1 from probability 1/2: on two classes the gain of the logistic
loss is then a multiple of the gain of the gini index, so that the tree is the gini tree. They are
left out with more classes, where one step is a tree for each class.
"""


def terminal(records: Mapping[str, Record]) -> str:
    blocks = []
    for name, record in _known(records):
        head = f"{name}: {SCENARIOS[name].title} ({record.data})"
        columns, rows = _without_empty(ENTRY_HEAD, [_entry_row(entry) for entry in record.entries])
        blocks.append(f"{head}\n{_aligned([columns, *rows])}")
    rows = _verdict_rows(records)
    return "\n\n".join([*blocks, _aligned([VERDICT_HEAD, *rows])])


def markdown(records: Mapping[str, Record], command: str) -> str:
    rows = _verdict_rows(records)
    parts = [
        INTRODUCTION.format(command=command),
        "## Results\n\nThe ratio is the time of the other library divided by that of fasttree, medians of "
        "interleaved runs.\n",
        _table(VERDICT_HEAD, rows),
        _machines(records),
        METHOD,
        _settings(records),
        "## All figures\n",
    ]  # fmt: skip
    for name, record in _known(records):
        parts.append(f"### {SCENARIOS[name].title}, {size(record)}\n\n`{name}`: {record.data}.\n")
        head, body = _without_empty(ENTRY_HEAD, [_entry_row(entry) for entry in record.entries])
        parts.append(_table(head, body))
    return "\n".join(parts)


def _known(records: Mapping[str, Record]) -> list[tuple[str, Record]]:
    """In the order of the scenarios, whatever the order of measuring."""
    return [(name, records[name]) for name in SCENARIOS if name in records]


def _verdict_rows(records: Mapping[str, Record]) -> list[Row]:
    return [
        [SCENARIOS[name].title, size(record), *_verdict_cells(claim.judge(record))]
        for name, record in _known(records)
        for claim in SCENARIOS[name].claims
    ]


def size(record: Record) -> str:
    """Rows x columns, the first of what the description of the data says."""
    return re.split(" float| mixed", record.data)[0]


def _verdict_cells(verdict: Verdict) -> Row:
    sign = "<=" if verdict.at_most else ">="
    number = "-" if verdict.value is None else f"{verdict.value:.3g} {verdict.unit}"
    if verdict.interval is not None:
        number += " ({:.3f} to {:.3f})".format(*verdict.interval)
    target = "-" if verdict.target is None else f"{sign} {verdict.target:.3g}"
    met = {True: "yes", False: "NO", None: "-"}[verdict.met]
    ours, theirs = _duration(verdict.ours), _duration(verdict.theirs)
    return [verdict.against, ours, theirs, number, target, met]


def _entry_row(entry: Entry) -> Row:
    if entry.bytes_a_cell is not None:
        return [entry.contestant, f"{entry.bytes_a_cell:.2f} bytes a cell", *["-"] * 7]
    if entry.bytes_in_all is not None:
        bytes_found = f"{entry.bytes_in_all / 1e6:.0f} MB"
        if entry.stopped:
            bytes_found += f" and more, stopped: {entry.stopped}"
        return [entry.contestant, bytes_found, *["-"] * 7]
    spread = f"{_duration(min(entry.seconds))} to {_duration(max(entry.seconds))}"
    return [
        entry.contestant,
        _duration(entry.median_seconds),
        spread,
        str(len(entry.seconds)),
        "-" if entry.cores is None else f"{entry.cores:.1f}",
        "-" if entry.leaves is None else f"{entry.leaves:,}",
        "-" if entry.depth is None else str(entry.depth),
        "-" if entry.train_accuracy is None else f"{entry.train_accuracy:.4f}",
        "-" if entry.held_out_accuracy is None else f"{entry.held_out_accuracy:.4f}",
    ]


def _duration(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    return f"{seconds * 1000:.3g} ms" if seconds < 0.9995 else f"{seconds:.2f} s"


def _machines(records: Mapping[str, Record]) -> str:
    """One paragraph for each way in which rows were measured, as a rule a single one."""
    groups: dict[str, list[str]] = {}
    warnings = []
    for name, record in _known(records):
        seen = record.environment
        versions = ", ".join(f"{package} {number}" for package, number in seen["versions"].items())
        memory = f", {seen['memory_gb']} GB" if seen["memory_gb"] else ""
        how = (
            f"{seen['threads']} threads on {seen['machine']}, {seen['cores']} cores{memory}, "
            f"{seen['system']}; {versions}; {seen['date']}; `{seen['command']}`"
        )
        groups.setdefault(how, []).append(name)
        if record.quick:
            warnings.append(f"`{name}` was measured at a tiny size, which says nothing about speed")
        if disturbed(seen["disturbance"]):
            warnings.append(
                f"`{name}` was measured while other processes kept {seen['disturbance']} cores busy"
            )
    if len(groups) == 1:
        lines = [f"Measured with {next(iter(groups))}.", ""]
    else:
        lines = ["Measured with", ""]
        lines += [f"- {how} ({', '.join(names)})" for how, names in groups.items()] + [""]
    if warnings:
        lines += ["Interpret with care:", "", *(f"- {warning}" for warning in warnings), ""]
    return "\n".join(["", *lines])


def _settings(records: Mapping[str, Record]) -> str:
    taking_part = {entry.contestant for record in records.values() for entry in record.entries}
    rows = [
        [name, contestant.settings]
        for name, contestant in CONTESTANTS.items()
        if name in taking_part
    ]
    return _table(["library", "settings"], rows)


def _without_empty(head: Row, rows: list[Row]) -> tuple[Row, list[Row]]:
    keep = [i for i in range(len(head)) if any(row[i] != "-" for row in rows)]
    return [head[i] for i in keep], [[row[i] for i in keep] for row in rows]


def _table(head: Row, rows: Iterable[Row]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _aligned(rows: list[Row]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )
