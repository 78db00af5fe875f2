# SPDX-License-Identifier: BSD-3-Clause
"""A PostgreSQL server for a test, if its programs are installed."""

from __future__ import annotations

import contextlib
import glob
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest


@contextlib.contextmanager
def server() -> Iterator[Callable[[str], str]]:
    """Gives a function that runs SQL in a new server, which listens to nothing but a file."""
    programs = {name: shutil.which(name) for name in ("initdb", "pg_ctl", "psql")}
    for name, path in programs.items():
        programs[name] = path or next(
            iter(sorted(glob.glob(f"/usr/lib/postgresql/*/bin/{name}"))), None
        )
    if None in programs.values():
        pytest.skip("PostgreSQL is not installed here")
    place = Path(tempfile.mkdtemp(prefix="pg"))  # the name of a socket is short
    user: dict[str, Any] = {}
    if os.geteuid() == 0:  # a server does not run as root
        account = pwd.getpwnam("nobody")
        os.chown(place, account.pw_uid, account.pw_gid)
        user = {"user": account.pw_uid, "group": account.pw_gid}

    def run(program: str, *arguments: str, text: str | None = None) -> str:
        done = subprocess.run(
            [str(programs[program]), *arguments],
            input=text,
            capture_output=True,
            encoding="utf-8",
            cwd=place,
            env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"},
            **user,
        )
        assert done.returncode == 0, done.stderr[-2000:]
        return done.stdout

    options = f"-c listen_addresses='' -c unix_socket_directories='{place}' -c fsync=off"
    run("initdb", "-D", f"{place}/data", "-U", "tester", "-A", "trust", "-E", "UTF8")
    run("pg_ctl", "-D", f"{place}/data", "-o", options, "-l", f"{place}/log", "-w", "start")
    try:
        yield lambda sql: run(
            "psql", "-h", str(place), "-U", "tester", "-d", "postgres", "-q", "-A", "-t", "-X",
            "-v", "ON_ERROR_STOP=1", "-f", "-", text=sql,
        )  # fmt: skip
    finally:
        run("pg_ctl", "-D", f"{place}/data", "-m", "immediate", "stop")
        shutil.rmtree(place)
