# SPDX-License-Identifier: BSD-3-Clause
"""Interleaved timing: everybody once a round, so that a slow minute of the machine strikes all.

The order is drawn anew for every round: who always follows the same one inherits his caches.
"""

from __future__ import annotations

import gc
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Any

# Someone that slow is measured no more often than this: his own noise is small beside his time.
SLOW_SECONDS = 5.0
SLOW_REPEATS = 3


@dataclass
class Timing:
    seconds: list[float] = field(default_factory=list)
    cpu_seconds: list[float] = field(default_factory=list)
    last_result: Any = None

    @property
    def cores(self) -> float:
        """How many cores were busy on the average: shows who used more threads than allowed."""
        return median(c / s for c, s in zip(self.cpu_seconds, self.seconds, strict=True))

    def divided(self, n: int) -> Timing:
        """The time of one of the `n` calls that each job was."""
        seconds, cpu_seconds = ([each / n for each in s] for s in (self.seconds, self.cpu_seconds))
        return Timing(seconds, cpu_seconds, self.last_result)


def interleaved(
    jobs: Mapping[str, Callable[[], Any]], repeats: int, settle: bool = True
) -> dict[str, Timing]:
    """Times every job once a round. The caller has warmed the jobs up.

    Settling collects garbage, and pauses so that another library's threads, which spin for a while
    after their work, go to sleep. Jobs of a millisecond without threads do better without.
    """
    timings = {name: Timing() for name in jobs}
    order, shuffle = list(jobs), random.Random(0).shuffle
    for _ in range(repeats):
        shuffle(order)
        for name in order:
            job, timing = jobs[name], timings[name]
            if len(timing.seconds) >= SLOW_REPEATS and median(timing.seconds) > SLOW_SECONDS:
                continue
            timing.last_result = None
            if settle:
                gc.collect()
                time.sleep(0.05)
            cpu, start = time.process_time(), time.perf_counter()
            timing.last_result = job()
            timing.seconds.append(time.perf_counter() - start)
            timing.cpu_seconds.append(time.process_time() - cpu)
    return timings
