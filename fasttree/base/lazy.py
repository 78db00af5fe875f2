# SPDX-License-Identifier: BSD-3-Clause
"""Packages whose names are imported on first use, so that importing the package costs next to nothing."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any


def lazy_names(
    package: str, namespace: dict[str, Any], homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a package; `homes` says which module each of its names is from.

    A name whose home is the module `package.name` stands for that module.
    """

    def load_name(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = importlib.import_module(homes[name])
        value = home if home.__name__ == f"{package}.{name}" else getattr(home, name)
        namespace[name] = value
        return value

    return load_name, lambda: sorted({*namespace, *homes})
