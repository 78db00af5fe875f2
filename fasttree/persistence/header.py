# SPDX-License-Identifier: BSD-3-Clause
"""The fields of a model file's header, asked for one by one."""

from __future__ import annotations

from typing import Any, TypeVar

from fasttree.base.errors import ModelFileError, require
from fasttree.base.values import short_repr

Value = TypeVar("Value")


class HeaderReader:
    """An object of the header: its values by key and type. Each is there, and no other."""

    def __init__(self, where: str, value: Any) -> None:
        require(type(value) is dict, f"{where} of its header is missing or not an object")
        self._where = where
        self._values = dict(value)

    def any(self, key: str) -> Any:
        require(key in self._values, f"{self._where} of its header does not have {key!r}")
        return self._values.pop(key)

    def _of(self, key: str, *kinds: type[Value]) -> Value:
        value: Value = self.any(key)
        require(
            type(value) in kinds,
            f"{self._where} of its header has the wrong type for {key!r}: {short_repr(value)}",
        )
        return value

    def text(self, key: str) -> str:
        return self._of(key, str)

    def truth(self, key: str) -> bool:
        return self._of(key, bool)

    def integer(self, key: str) -> int:
        return self._of(key, int)

    def number(self, key: str) -> float:
        return float(self._of(key, int, float))

    def list(self, key: str) -> list[Any]:
        return self._of(key, list)

    def fields(self, key: str) -> HeaderReader:
        return HeaderReader(f"{key!r} in {self._where}", self.any(key))

    def has(self, key: str) -> bool:
        return key in self._values

    def check_all_taken(self) -> None:
        for key in self._values:
            raise ModelFileError(
                f"{self._where} of its header has {short_repr(key)}, which is unknown"
            )
