# SPDX-License-Identifier: BSD-3-Clause
"""Values that an object works out once: kept, one for all threads, and no thread waits for another object's."""

from __future__ import annotations

import ast
import threading
from pathlib import Path

import fasttree
from fasttree.base.cached import cached_property

ROOT = Path(fasttree.__file__).parent


class Slow:
    def __init__(self) -> None:
        self.begun, self.may_end = threading.Event(), threading.Event()
        self.n_worked = 0

    @cached_property
    def value(self) -> object:
        """What it is."""
        self.n_worked += 1
        self.begun.set()
        assert self.may_end.wait(30)
        return object()


def test_it_is_worked_out_once() -> None:
    asked = Slow()
    asked.may_end.set()
    assert asked.value is asked.value
    assert asked.n_worked == 1
    assert Slow.value.__doc__ == "What it is."


def test_objects_do_not_wait_for_one_another() -> None:
    """With one lock for the class the second waits for the first, in a fork for ever."""
    first, second = Slow(), Slow()
    second.may_end.set()
    at_work = threading.Thread(target=lambda: first.value)
    at_work.start()
    assert first.begun.wait(30)
    other = threading.Thread(target=lambda: second.value, daemon=True)
    other.start()
    other.join(10)
    held_up = other.is_alive()
    first.may_end.set()
    at_work.join()
    assert not held_up


def test_two_threads_get_the_same_object() -> None:
    asked, got = Slow(), []
    threads = [threading.Thread(target=lambda: got.append(asked.value)) for _ in range(4)]
    for thread in threads:
        thread.start()
    asked.may_end.set()
    for thread in threads:
        thread.join()
    assert len(got) == 4
    assert len({id(value) for value in got}) == 1


def test_the_library_uses_no_other() -> None:
    for file in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module == "functools":
                assert "cached_property" not in {name.name for name in node.names}, file
            assert not (isinstance(node, ast.Attribute) and node.attr == "cached_property"), file
