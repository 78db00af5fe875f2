# SPDX-License-Identifier: BSD-3-Clause
"""The only user of joblib: a team of threads that lives for one fit, or for one call of predict.

joblib waits for results in sleeps of 10 ms, so a call of `Parallel` a level would cost more than the work. Instead
one call starts helpers that stay; the caller leads, and hands out the tasks of every step through a counter. There
is no barrier: the leader takes tasks itself and waits only for those that a helper has begun, so it finishes alone
if joblib never starts the helpers (a sequential backend, threads within threads).

Ctrl-C strikes in the main thread, between any two instructions, and half of a pool that joblib was starting or ending
would stay for good. So joblib is called in a thread of its own, which Ctrl-C does not reach.

A call of predict may be over before joblib has started a thread. Its helpers are bare threads, and joblib only says
how many there may be.

joblib is imported when a team first asks it: that takes some 40 ms, and whoever loads a model to predict one row never
needs it.
"""

from __future__ import annotations

import _thread
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from joblib import Parallel

Task = Callable[[int, int], None]  # (worker, task number)

NO_THREAD = (RuntimeError, MemoryError)  # what Python raises where the system gives no more threads
CHUNKS_PER_THREAD = 4  # of the work of a step, so that a thread that is done early finds more to do


def portions(n: int, n_chunks: int) -> list[int]:
    """Where each of `n_chunks` about equal portions of n things begins, and the end."""
    return [n * i // n_chunks for i in range(n_chunks + 1)]


def _nothing(worker: int, task: int) -> None:
    pass


def count_threads(n_jobs: int | None) -> int:
    """How many threads `n_jobs` stands for, as joblib counts them."""
    from joblib import effective_n_jobs

    return max(1, effective_n_jobs(n_jobs))


class _Step:
    """The tasks of one step: handed out by a counter, done when none is left and no helper is at work.

    The leader's own task is not counted: Ctrl-C can strike it anywhere, and a count left behind would never fall.
    """

    def __init__(self, task: Task, n_tasks: int) -> None:
        self.task = task
        self.n_tasks = n_tasks
        self.next = 0
        self.running = 0
        self.error: BaseException | None = None


class ThreadTeam:
    """``with ThreadTeam(n_jobs) as team: team.run(task, n)`` calls task(worker, i) for i < n, on all the threads."""

    def __init__(self, n_jobs: int | None, most: int | None = None, brief: bool = False) -> None:
        """`most`: for so many threads there is work, whatever `n_jobs` allows."""
        # Where one will do joblib is not asked: it takes longer than the prediction of a row.
        if most is not None and most <= 1:
            self.size = 1
        else:
            self.size = allowed = count_threads(n_jobs)
            if most is not None and most < allowed:
                self.size = n_jobs = most
        if self.size == 1:  # nobody to wait for, and locks take longer than the prediction of a row
            return
        self._n_jobs = n_jobs
        self._brief = brief
        # The lock itself is what `with` takes: Ctrl-C can strike inside a Condition's own `__enter__`.
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)
        self._step: _Step | None = None
        self._closed = False
        self._present = 0
        self._host: threading.Thread | None = None
        self._engaged = False
        # Beside `_changed`, which would wake the host at every step.
        self._dismissed = threading.Event()

    def __enter__(self) -> ThreadTeam:
        if self.size == 1:
            return self
        try:
            with suppress(*NO_THREAD):  # those there are do it
                self._start()
        except BaseException:
            self._close()  # `__exit__` is not called then
            raise
        return self

    def _start(self) -> None:
        if self._brief:
            for worker in range(1, self.size):
                _thread.start_new_thread(self._help, (worker,))
            return
        from joblib import Parallel

        # Made here, because which backend is asked for is known to the calling thread only.
        parallel = Parallel(
            n_jobs=self._n_jobs, require="sharedmem", return_as="generator", pre_dispatch="all"
        )
        # By way of a bare thread: Ctrl-C within `Thread.start` leaves a thread on the books that never was.
        _thread.start_new_thread(self._engage, (parallel,))
        with self._lock:
            while not self._engaged:  # two threads of Python at once would be slower
                self._changed.wait()

    def _engage(self, parallel: Parallel) -> None:
        started = False
        try:
            self._host = threading.Thread(target=self._hold, args=(parallel,), daemon=True)
            self._host.start()
            started = True
        except NO_THREAD:
            pass
        finally:
            if not started:  # the leader waits for somebody to say so
                self._host = None
                self._be_engaged()

    def _be_engaged(self) -> None:
        with self._lock:
            self._engaged = True
            self._changed.notify_all()

    def _hold(self, parallel: Parallel) -> None:
        """Start joblib's threads, and see them off when the team is closed."""
        from joblib import delayed

        try:
            helpers = parallel(delayed(self._help)(worker) for worker in range(1, self.size))
        except Exception as error:
            # Some of joblib's threads may have been started: it then fails again while it cleans up.
            if isinstance(error, NO_THREAD) or isinstance(error.__context__, NO_THREAD):
                return
            raise
        finally:
            self._be_engaged()
        self._dismissed.wait()
        with self._lock:
            while self._present:
                self._changed.wait()
        # joblib sleeps for 10 ms if it has not yet noted that the helpers are done; that takes far less.
        patience = time.perf_counter() + 0.005
        while (
            getattr(parallel, "n_completed_tasks", self.size) < self.size - 1
            and time.perf_counter() < patience
        ):
            time.sleep(0.00005)
        for _ in helpers:
            pass

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.size == 1:
            return
        self._close()
        # A brief helper that has not begun yet will find the team closed.
        with self._lock:
            while self._present:
                self._changed.wait()
        if self._host is not None:
            self._host.join()

    def _close(self) -> None:
        with self._lock:
            self._closed = True
            self._changed.notify_all()
        self._dismissed.set()

    def run(self, task: Task, n_tasks: int, threaded: bool = True) -> None:
        """Do all the tasks; the first exception stops the rest and is raised here."""
        if self.size == 1 or n_tasks == 1 or not threaded:
            for i in range(n_tasks):
                task(0, i)
            return
        step = _Step(task, n_tasks)
        with self._lock:
            self._step = step
            self._changed.notify_all()
        try:
            self._work(0, step)
        finally:
            with self._lock:
                step.next = step.n_tasks
                self._step = None
                while step.running:
                    self._changed.wait()
                step.task = _nothing  # helpers hold on to the step; what its tasks worked on may go
        if step.error is not None:
            raise step.error

    def _work(self, worker: int, step: _Step) -> None:
        while True:
            with self._lock:
                if step.next >= step.n_tasks or self._closed:
                    return
                i = step.next
                step.next += 1
                step.running += worker > 0
            try:
                step.task(worker, i)
            except BaseException as error:
                with self._lock:
                    step.next = step.n_tasks
                    step.error = step.error or error
                if worker == 0 and not isinstance(error, Exception):
                    raise
            finally:
                if worker > 0:
                    with self._lock:
                        step.running -= 1
                        if not step.running:
                            self._changed.notify_all()

    def _help(self, worker: int) -> None:
        with self._lock:
            self._present += 1
        try:
            while True:
                with self._lock:
                    while self._step is None and not self._closed:
                        self._changed.wait()
                    if self._closed:
                        return
                    step = self._step
                assert step is not None
                self._work(worker, step)
                with self._lock:
                    # The step is exhausted for this helper; wait for the next one.
                    while self._step is step and not self._closed:
                        self._changed.wait()
        finally:
            with self._lock:
                self._present -= 1
                self._changed.notify_all()
