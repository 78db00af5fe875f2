# SPDX-License-Identifier: BSD-3-Clause
"""A short form of the cesarean study: six tree methods against logistic regression, and its report as a web page."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from fasttree.studies import cesarean
from fasttree.studies.report import check_ending, write_report
from fasttree.studies.results import GroupResult, StudyResult

SHOWN = (
    ("AUC", "auc", ".3f"),
    ("errors", "error", ".1%"),
    ("leaves", "leaves", ",.0f"),
    ("attributes", "attributes", ".0f"),
)


def show(result: StudyResult, group: GroupResult) -> None:
    title = f"{group.name}: {group.n_rows:,} deliveries, {group.n_events:,} cesareans"
    print(f"\n{title}\n{'-' * len(title)}")
    print(f"{'':<12}" + "".join(f"{name:>12}" for name, _, _ in SHOWN))
    for method in result.methods:
        spreads = group.summary(method).spreads
        cells = [(spreads[measure].mean, form) for _, measure, form in SHOWN]
        texts = ["-" if value != value else format(value, form) for value, form in cells]
        print(f"{method:<12}" + "".join(f"{text:>12}" for text in texts))
    for tree in group.trees[:1]:
        print(f"\nThe {tree.method} tree:\n{tree.text}")


def progress(done: int, total: int) -> None:
    if sys.stderr.isatty():
        print(f"\rsplit {done} of {total}", end="\n" if done == total else "", file=sys.stderr)
    else:
        print(f"split {done} of {total}", file=sys.stderr)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--rows", type=int, default=None, help="rows of the synthetic cohort (default: 22,157)"
    )
    parser.add_argument("--seeds", type=int, default=3, help="number of splits")
    parser.add_argument("-o", "--output", type=Path, default=Path("build/cesarean-study.html"))
    arguments = parser.parse_args()
    check_ending(arguments.output)
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    print(f"\nPredicting cesarean delivery, {arguments.seeds} splits. The cohort is synthetic.")
    result = cesarean.run(n_rows=arguments.rows, seeds=arguments.seeds, progress=progress)
    for group in result.groups:
        show(result, group)
    write_report(result, arguments.output, overwrite=True)
    print(
        f"\n{result.seconds:.1f} s. The full report, with figures: {arguments.output.resolve().as_uri()}"
    )


if __name__ == "__main__":
    main()
