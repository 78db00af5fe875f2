# SPDX-License-Identifier: BSD-3-Clause
"""Is a build of this library slower than another? Two processes, run by run in turns.

    python -m benchmarks.two_builds main .                    a revision, and this checkout
    python -m benchmarks.two_builds OLD NEW --only births     some scenarios
    python -m benchmarks.two_builds OLD NEW --list            which there are

OLD and NEW are checkouts, revisions that git knows here, wheels, built extensions (.so) or
directories with an installed package. A checkout is built elsewhere, and stays as it is.

A round is old, new, new, old, so that a machine that slows down steadily favours nobody; it gives one
ratio of the times, new over old. "Not slower" means that the bootstrap interval of 95 % of the
median ratio ends at 1.03 or below, "slower" that it begins above that. Rounds go on, each stage in
two fresh processes, as long as neither is so.

The exit code is 0 if nothing is slower, 1 if something is, 3 if something stayed undecided.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import builds, data
from benchmarks.environment import Disturbance, disturbed
from benchmarks.intervals import FEWEST, of_median, verdict
from benchmarks.runs import Scenario
from benchmarks.scenarios import SCENARIOS

FIRST_ROUNDS = 10
LONG_ENOUGH = 0.05  # seconds: shorter jobs are called several times in one run
TIMED = {
    name: scenario
    for name, scenario in SCENARIOS.items()
    if type(scenario).own_jobs is not Scenario.own_jobs
}


class Worker:
    """A process that imports one build."""

    def __init__(self, site: Path, scenario: str, options: argparse.Namespace) -> None:
        # The package of the build comes before the one beside these benchmarks.
        paths = os.pathsep.join([str(site), str(data.REPOSITORY)])
        size = "quick" if options.quick else "full"
        self._process = subprocess.Popen(
            [
                sys.executable,
                "-P",
                "-m",
                "benchmarks.one_build",
                scenario,
                str(options.threads),
                size,
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=data.REPOSITORY,
            env=os.environ | {"PYTHONPATH": paths, "OMP_NUM_THREADS": str(options.threads)},
        )
        self.hello = self._read()
        imported = Path(self.hello["file"]).parents[1]
        if imported.resolve() != site.resolve():
            raise builds.BuildError(f"the process for {site} imported fasttree from {imported}")

    def seconds(self, job: str, calls: int) -> float:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps([job, calls]) + "\n")
        self._process.stdin.flush()
        return self._read() / calls

    def _read(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise builds.BuildError(
                f"a process ended with code {self._process.wait()}: {self._process.args}"
            )
        return json.loads(line)

    def close(self) -> None:
        self._process.communicate()  # closes its input, which ends it


@dataclass
class Race:
    """One job, and the times of both builds: two in every round."""

    name: str
    old: list[float] = field(default_factory=list)
    new: list[float] = field(default_factory=list)
    ratios: list[float] = field(default_factory=list)

    def round(self, old: Worker, new: Worker, calls: int) -> None:
        times = [worker.seconds(self.name, calls) for worker in (old, new, new, old)]
        self.old += [times[0], times[3]]
        self.new += [times[1], times[2]]
        self.ratios.append(math.sqrt(times[1] * times[2] / (times[0] * times[3])))

    @property
    def verdict(self) -> str:
        return verdict(self.ratios)

    def line(self) -> str:
        if not self.ratios:
            return f"{self.name}: undecided, no time for a round"
        low, high = of_median(self.ratios) if len(self.ratios) >= FEWEST else (0.0, math.inf)
        return (
            f"{self.name}: {self.verdict}, {median(self.ratios):.3f} x the time "
            f"({low:.3f} to {high:.3f}), {1000 * median(self.old):.4g} and "
            f"{1000 * median(self.new):.4g} ms, {len(self.ratios)} rounds"
        )


def stages(most: int) -> Iterator[int]:
    """Rounds until the interval is looked at again: each time as many as there were."""
    done = 0
    while done < most:
        rounds = min(max(done, FIRST_ROUNDS), most - done)
        done += rounds
        yield rounds


def measure(scenario: str, old: Path, new: Path, options: argparse.Namespace) -> list[Race] | None:
    """All that is timed of a scenario; None if its data are not there."""
    races: list[Race] = []
    end = time.monotonic() + options.max_seconds
    for number, rounds in enumerate(stages(options.rounds)):
        # Looked at between stages alone: who stops at the first good moment is wrong more often.
        still_open = [race for race in races if race.verdict == "undecided"]
        if number > 0 and not still_open:
            break
        # Where a process has its memory makes a difference of its own, so every stage has fresh ones; and
        # the two are started in turns.
        workers: dict[str, Worker] = {}
        try:
            for side in ("old", "new") if number % 2 == 0 else ("new", "old"):
                workers[side] = Worker(old if side == "old" else new, scenario, options)
            hello = workers["old"].hello
            if hello["jobs"] is None:
                return None
            if number == 0:
                races = [Race(name) for name in hello["jobs"]]
                still_open = races
                for side in ("old", "new"):
                    said = workers[side].hello
                    _say(f"{scenario}, {side}: fasttree {said['version']}, {said['core']}")
            for _ in range(rounds):
                for race in still_open:
                    calls = math.ceil(LONG_ENOUGH / max(hello["jobs"][race.name], 1e-6))
                    race.round(workers["old"], workers["new"], calls)
                if time.monotonic() > end:
                    return races
        finally:
            for worker in workers.values():
                worker.close()
    return races


def main(arguments: list[str] | None = None) -> int:
    options = _parse(arguments)
    if options.list:
        for name, scenario in TIMED.items():
            print(f"{name:20} {scenario.title}")
        return 0
    try:
        sites = [builds.site_of(what) for what in (options.old, options.new)]
        return _compare(*sites, options)
    except builds.BuildError as error:
        _say(f"Error: {error}")
        return 2


def _compare(old: Path, new: Path, options: argparse.Namespace) -> int:
    for side, given, site in (("old", options.old, old), ("new", options.new, new)):
        print(f"{side}: {given}, imported from {site}", flush=True)
    verdicts = []
    for name in options.only:
        disturbance = Disturbance()
        races = measure(name, old, new, options)
        if races is None:
            print(f"{name}: left out, its data are not there", flush=True)
            continue
        for race in races:
            print(f"{name}, {race.line()}", flush=True)
        verdicts += [race.verdict for race in races]
        if disturbed(busy := disturbance.cores()):
            _say(f"{name}: others kept {busy} cores busy")
    counts = {what: verdicts.count(what) for what in ("not slower", "slower", "undecided")}
    print(", ".join(f"{count} {what}" for what, count in counts.items()))
    return 1 if counts["slower"] else 3 if counts["undecided"] else 0


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.two_builds",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("old", nargs="?", help="checkout, revision, wheel, extension or directory")
    add("new", nargs="?", help="the same of the build that is judged")
    add("--only", nargs="+", choices=TIMED, default=list(TIMED), metavar="NAME",
        help="scenarios to run (see --list)")  # fmt: skip
    add("--list", action="store_true", help="list the scenarios")
    add("--rounds", type=int, default=160, help="at most so many")
    add("--max-seconds", type=float, default=300.0, help="at most so many, for each scenario")
    add("--threads", type=int, default=2, help="threads for both")
    add("--quick", action="store_true", help="tiny sizes")
    options = parser.parse_args(arguments)
    for name in ("rounds", "threads", "max_seconds"):
        if getattr(options, name) <= 0:
            parser.error(
                f"--{name.replace('_', '-')} must be above 0, not {getattr(options, name)}"
            )
    if not options.list and options.new is None:
        parser.error("OLD and NEW are needed: what should be compared?")
    return options


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
