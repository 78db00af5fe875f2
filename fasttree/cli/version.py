# SPDX-License-Identifier: BSD-3-Clause
"""``fasttree version``: what is installed, for bug reports."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed_version

from fasttree.cli import options
from fasttree.cli.terminal import print_json, stdout

HELP = "Show the installed versions, for bug reports."
LIBRARIES = ("numpy", "pyarrow", "pandas", "polars", "scikit-learn", "typer", "rich")


def version(json: options.Json = False) -> None:
    import fasttree

    found: dict[str, str | None] = {
        "fasttree": fasttree.__version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
    }
    found |= {name: _version(name) for name in LIBRARIES}
    if json:
        print_json(found)
        return
    for name, number in found.items():
        stdout().print(f"{name:<13} {number or 'not installed'}", markup=False, soft_wrap=True)


def _version(name: str) -> str | None:
    try:
        return installed_version(name)
    except PackageNotFoundError:
        return None
