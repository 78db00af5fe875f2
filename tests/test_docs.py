# SPDX-License-Identifier: BSD-3-Clause
"""The examples in the documentation and in docstrings do what they say."""

from __future__ import annotations

import doctest
import importlib
import re
import shlex
import tomllib
from pathlib import Path

import pytest

import fasttree

pytestmark = pytest.mark.numeric

ROOT = Path(__file__).parents[1]
PAGES = sorted(p for p in [ROOT / "README.md", *ROOT.glob("docs/**/*.md")] if p.exists())
PACKAGE = Path(fasttree.__file__).parent
MODULES = [
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
    for path in sorted(PACKAGE.rglob("*.py"))
    if "\n    >>> " in path.read_text("utf-8")
]
FENCE = re.compile(r"^```(\w*)")


def examples_of(page: Path) -> str:
    """The page with everything blank but its python blocks, so that line numbers stay right."""
    lines, language = [], None
    for line in page.read_text("utf-8").splitlines():
        fence = FENCE.match(line)
        if fence:
            language = fence[1] if language is None else None
        inside = language in ("python", "pycon") and not fence
        lines.append(line if inside else "")
    return "\n".join(lines) + "\n"


def run(test: doctest.DocTest) -> None:
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    runner.run(test, out=report.append)
    assert runner.failures == 0, "".join(report)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages(page: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)  # an example may write a file
    run(doctest.DocTestParser().get_doctest(examples_of(page), {}, page.name, str(page), 0))


def test_the_area_under_the_roc_curve_has_one_name() -> None:
    """AUC, in tables, pictures, reports and on all pages."""
    other = re.compile(r"roc[ -]areas?\b|area under (the )?roc\b(?! curve)", re.IGNORECASE)
    for path in [*PAGES, *PACKAGE.rglob("*.py"), *(ROOT / "examples").glob("*.py")]:
        found = other.search(" ".join(path.read_text("utf-8").split()))
        assert found is None, (path, found)


def test_plus_and_minus_are_no_standard_deviation() -> None:
    """A standard deviation stands in brackets; what follows the sign is a standard error."""
    other = re.compile(r"(±|\{pm\})[^.;]{0,20}\b(standard deviation|sd)\b", re.IGNORECASE)
    for path in [*PAGES, *PACKAGE.rglob("*.py"), *(ROOT / "examples").glob("*.py")]:
        found = other.search(" ".join(path.read_text("utf-8").split()))
        assert found is None, (path, found)


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name: str) -> None:
    tests = doctest.DocTestFinder(exclude_empty=True).find(importlib.import_module(name))
    assert any(test.examples for test in tests)
    for test in tests:
        run(test)


def test_the_textbook_page_has_examples() -> None:
    parsed = doctest.DocTestParser().get_examples(examples_of(ROOT / "docs" / "textbook.md"))
    assert len(parsed) > 80


def test_the_map_shows_every_module() -> None:
    page = next((p for p in PAGES if p.name == "architecture.md"), None)
    if page is None:
        pytest.skip("no docs here")
    text = page.read_text("utf-8")
    names = {p.stem for kind in ("*.py", "*.pxd", "*.pxi") for p in PACKAGE.glob(kind)}
    absent = [name for name in sorted(names) if not re.search(rf"\b{name}\b", text)]
    assert absent == ["__init__", "__main__", "version"]
    named = re.findall(r"`((?:\w+/)?\w+\.py)`", text)
    assert [name for name in named if not any(PACKAGE.rglob(name))] == []


# -- installing ------------------------------------------------------------------------------------

INSTALLING = re.compile(r"pip install ([^`#\n]+)")
FROM_HERE = re.compile(
    r"\.(?:\[([\w,]+)\])?"
)  # the directory that holds pyproject.toml, with extras


def told_by(page: Path) -> list[str]:
    """What pip is told to install, on each line of the page that tells it."""
    return INSTALLING.findall(page.read_text("utf-8"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_install_from_the_source_and_name_extras_that_exist(page: Path) -> None:
    """No index has the package yet: who asks one for it by name is told that there is none."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    for line in told_by(page):
        for wanted in shlex.split(line):
            found = FROM_HERE.fullmatch(wanted)
            assert found, f"{page.name}: pip install {line}"
            extras = set(found[1].split(",")) if found[1] else set()
            assert extras <= set(project["optional-dependencies"]), line


def test_the_readme_tells_how_to_install_the_command() -> None:
    assert told_by(ROOT / "README.md") == ["'.[cli]'"]


def test_what_other_programs_printed_is_quoted_from_their_output() -> None:
    """Every line of a plain block about rpart stands in what its script printed."""
    page = (ROOT / "docs" / "differences.md").read_text("utf-8")
    printed = (ROOT / "tests" / "references" / "rpart_differences.txt").read_text("utf-8")
    lines = {line.strip() for line in printed.splitlines()}
    sections = [part for part in page.split("\n## ") if part.startswith("rpart")]
    assert len(sections) == 3
    for section in sections:
        quoted = section.split("```\n")[1].splitlines()
        assert len(quoted) > 4
        assert [line for line in quoted if line.strip() not in lines] == []
