# SPDX-License-Identifier: BSD-3-Clause
"""What an object works out when first asked, and keeps: `functools.cached_property` without its lock.

Up to Python 3.11 one lock stands for all objects of a class. A process that is forked while another thread holds it
waits for it for ever, and threads that work with different objects wait for one another.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class cached_property(Generic[T]):
    """The value is kept in the object's `__dict__`, where Python finds it before it asks here again.

    Two threads that ask at once may both work it out; both get what the first of them kept.
    """

    def __init__(self, work_out: Callable[[Any], T]) -> None:
        self._work_out = work_out
        self._name = work_out.__name__
        self.__doc__ = work_out.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> cached_property[T]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object | None, owner: type) -> cached_property[T] | T:
        if instance is None:
            return self
        value: T = instance.__dict__.setdefault(self._name, self._work_out(instance))
        return value
