# SPDX-License-Identifier: BSD-3-Clause
"""A build of this library from whatever somebody has: a checkout, a revision, a wheel.

A checkout is built from a copy in the cache of the benchmarks, and only once for the same sources.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

from benchmarks import data

SOURCES = ("setup.py", "pyproject.toml", "README.md", "LICENSE", "MANIFEST.in")
MADE = (".so", ".pyd", ".pyc", ".html")


class BuildError(Exception):
    """What was named is no build, and none can be made of it."""


def site_of(what: str) -> Path:
    """A directory to import fasttree from."""
    path = Path(what)
    if path.suffix == ".whl" and path.is_file():
        return _kept(_hash([path]), lambda site: zipfile.ZipFile(path).extractall(site))
    if path.suffix in (".so", ".pyd") and path.is_file():
        return path.resolve().parents[1]
    if (path / "setup.py").is_file():
        return _built(path.resolve())
    if (path / "fasttree" / "__init__.py").is_file():
        return path.resolve()
    return _built_revision(what)


def _built_revision(revision: str) -> Path:
    command = ["git", "-C", str(data.REPOSITORY), "archive", "--format=zip", revision]
    with tempfile.TemporaryDirectory() as directory:
        archive = Path(directory) / "source.zip"
        with archive.open("wb") as file:
            found = subprocess.run(command, stdout=file, stderr=subprocess.PIPE, text=True)
        if found.returncode:
            raise BuildError(
                f"{revision!r} is no checkout, wheel, extension or directory with fasttree, and git "
                f"knows no such revision: {found.stderr.strip()}"
            )
        zipfile.ZipFile(archive).extractall(Path(directory) / "source")
        return _built(Path(directory) / "source")


def _built(checkout: Path) -> Path:
    package = sorted(p for p in (checkout / "fasttree").rglob("*") if p.is_file() and _written(p))
    files = [*(p for name in SOURCES if (p := checkout / name).exists()), *package]

    def build(site: Path) -> None:
        print(f"building {checkout}, about a minute", file=sys.stderr, flush=True)
        with tempfile.TemporaryDirectory() as directory:
            source = Path(directory)
            for file in files:
                copy = source / file.relative_to(checkout)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file, copy)
            command = [sys.executable, "setup.py", "--quiet", "build", f"--build-lib={site}"]
            environment = {k: v for k, v in os.environ.items() if not k.startswith("FASTTREE_")}
            made = subprocess.run(
                command, cwd=source, env=environment, capture_output=True, text=True
            )
            if made.returncode:
                raise BuildError(f"{checkout} cannot be built:\n{made.stderr}")

    return _kept(_hash(files, checkout), build)


def _written(file: Path) -> bool:
    """By people, that is: not what an earlier build left beside it."""
    return file.suffix not in MADE and file.name != "_core.c" and "__pycache__" not in file.parts


def _hash(files: list[Path], root: Path | None = None) -> str:
    digest = hashlib.sha256(f"{sys.implementation.cache_tag} {sys.platform}".encode())
    for file in files:
        digest.update(f"\0{file.relative_to(root) if root else ''}\0".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def _kept(key: str, make: Callable[[Path], None]) -> Path:
    """The site of that key, made if it is not there; never half of one."""
    builds = data.cache_directory() / "builds"
    builds.mkdir(exist_ok=True)
    site = builds / key
    if not site.exists():
        with tempfile.TemporaryDirectory(dir=builds) as directory:
            part = Path(directory) / "site"
            make(part)
            try:
                part.rename(site)
            except OSError:  # somebody else has made it meanwhile
                if not site.exists():
                    raise
    return site
