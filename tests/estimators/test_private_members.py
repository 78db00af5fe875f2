# SPDX-License-Identifier: BSD-3-Clause
"""No package uses private members of another: estimators are known by their public ones and by `FittedModel`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import fasttree

PACKAGE = Path(fasttree.__file__).parent
OF_OTHERS = {
    "_asdict",
    "_core",
    "_exit",
    "_fields",
    "_getframe",
    "_replace",
}  # of Python; the extension module


def is_private(name: object) -> bool:
    is_name = isinstance(name, str) and name.isidentifier() and name not in OF_OTHERS
    return is_name and name.startswith("_") and not name.endswith("__") and name != "_"


def private_members(source: str) -> set[str]:
    """What modules and classes define of the kind, or set in themselves."""
    found: set[object] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            found.add(node.attr)
    return set(filter(is_private, found))


def uses(source: str, own: set[str], members: set[str]) -> Iterator[str]:
    """Private members that a module asks others for though its own package has none of the name, also by ``getattr``,
    and those that it imports."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and is_private(node.attr):
            is_self = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
            if not is_self and node.attr not in own:
                yield node.attr
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from {node.value} & members - own
        elif isinstance(node, ast.ImportFrom):
            yield from (a.name for a in node.names if is_private(a.name) and a.name not in own)


def sources(package: str) -> dict[Path, str]:
    return {path: path.read_text("utf-8") for path in (PACKAGE / package).rglob("*.py")}


PACKAGES = sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py"))
MEMBERS = {
    package: set().union(*map(private_members, sources(package).values())) for package in PACKAGES
}


@pytest.mark.parametrize("package", PACKAGES)
def test_no_private_member_of_another_package_is_used(package: str) -> None:
    assert {"_choices", "_missing_policy", "_check_fitted"} <= MEMBERS["estimators"]
    members = set().union(*MEMBERS.values())
    found = {
        path.name: names
        for path, source in sources(package).items()
        if (names := [*uses(source, MEMBERS[package], members)])
    }
    assert not found


def test_such_a_use_is_found() -> None:
    source = """
from fasttree.estimators.message_length import _Private
class Own:
    def _shared(self): return self._choices, __name__
def other(model): return model._choices, getattr(model, "_choices", None), model._shared(), model.__dict__
"""
    own = private_members(source)
    assert own == {"_shared"}
    assert sorted(uses(source, own, {"_choices"})) == ["_Private", "_choices", "_choices"]
