# SPDX-License-Identifier: BSD-3-Clause
"""fasttree beside its peers, in one process, interleaved.

    python -m benchmarks.compare                          every scenario (a quarter of an hour)
    python -m benchmarks.compare --only gini-full births  some of them
    python -m benchmarks.compare --write                  and write docs/benchmarks.md and .svg
    python -m benchmarks.compare --render                 write them from the last --write's results
    python -m benchmarks.compare --quick                  tiny sizes: does it all work?

Run it from the repository, and with nothing else running on the machine.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from dataclasses import replace
from pathlib import Path

from benchmarks import data, environment, plot, report, results
from benchmarks.results import Record
from benchmarks.runs import Settings
from benchmarks.scenarios import SCENARIOS

MODULE = "benchmarks.compare"
KEPT_RESULTS = Path(__file__).with_name("results.json")


def main(arguments: list[str] | None = None) -> int:
    options = _parse(arguments)
    if options.list:
        for name, scenario in SCENARIOS.items():
            print(f"{name:15} {scenario.title}")
        return 0
    records = results.load(options.results)
    if not options.render:
        measure(options, records)
    shown = {name: r for name, r in records.items() if options.render or name in options.only}
    print(report.terminal(shown))
    if options.write or options.render:
        write(options.out, records)
    return 0


def measure(options: argparse.Namespace, records: dict[str, Record]) -> None:
    """Adds to the records, and saves them after every scenario: an interruption loses one only."""
    # Read by the OpenMP libraries that have no parameter for it, when they are first imported.
    os.environ.setdefault("OMP_NUM_THREADS", str(options.threads))
    warnings.filterwarnings("ignore", category=FutureWarning)
    here = environment.current(MODULE, options.threads)
    for name in options.only:
        settings = Settings(
            threads=options.threads,
            repeats=options.repeats,
            quick=options.quick,
            say=lambda text, name=name: _say(f"{name}: {text}"),
        )
        disturbance = environment.Disturbance()
        found = SCENARIOS[name].run(settings)
        if found is None:
            _say(f"{name}: skipped, its data or libraries are not there")
            continue
        there = replace(here, disturbance=disturbance.cores())
        if environment.disturbed(there.disturbance):
            _say(f"{name}: others kept {there.disturbance} cores busy, do not trust its figures")
        records[name] = Record(name, found.data, options.quick, there.as_dict(), found.entries)
        results.save(options.results, records)


def write(directory: Path, records: dict[str, Record]) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    page = directory / "benchmarks.md"
    page.write_text(report.markdown(records, f"python -m {MODULE} --write"))
    plot.draw(records, directory / "benchmarks.svg")
    _say(f"written: {page}")


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog=f"python -m {MODULE}",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--only", nargs="+", choices=SCENARIOS, default=list(SCENARIOS), metavar="NAME",
        help="scenarios to run (see --list)")  # fmt: skip
    add("--list", action="store_true", help="list the scenarios")
    add("--repeats", type=int, default=5, help="rounds (more where a round is short)")
    add("--threads", type=int, default=2, help="threads for everybody")
    add("--quick", action="store_true", help="tiny sizes")
    add("--write", action="store_true", help="write the page and the plot")
    add("--render", action="store_true", help="measure nothing, write the page and the plot")
    add("--out", type=Path, default=data.REPOSITORY / "docs", help="where the page goes")
    add("--results", type=Path, help="JSON file that the results are merged into")
    options = parser.parse_args(arguments)
    for name in ("repeats", "threads"):
        if getattr(options, name) < 1:
            parser.error(f"--{name} must be at least 1, not {getattr(options, name)}")
    if options.results is None:
        if options.quick:
            options.results = data.cache_directory() / "results-quick.json"
        elif options.write or options.render:
            options.results = KEPT_RESULTS
        else:
            options.results = data.cache_directory() / "results.json"
    if options.quick and options.write and options.out == parser.get_default("out"):
        parser.error("--quick figures do not belong into docs: choose another place with --out")
    return options


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
