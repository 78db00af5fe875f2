# SPDX-License-Identifier: BSD-3-Clause
"""The command as a process of its own: start-up, streams, signals."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from commands import data, ok

import fasttree

__all__ = ["data"]

ROOT = Path(fasttree.__file__).parents[1]
needs_full = pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="needs /dev/full")


def environment(**more: str) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR", "FORCE_COLOR")}
    path = os.pathsep.join(filter(None, [str(ROOT), kept.get("PYTHONPATH")]))
    return kept | {"PYTHONPATH": path, "PYTHONIOENCODING": "utf-8"} | more


def python(
    *args: object, cwd: Path | None = None, **more: str
) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, *map(str, args)]
    return subprocess.run(
        command, capture_output=True, cwd=cwd, env=environment(**more), timeout=120
    )


def test_python_m_fasttree(data: Path) -> None:
    model = data.with_suffix(".model")
    done = python("-m", "fasttree", "train", data, "-t", "outcome", "--drop", "id", "-o", model)
    assert done.returncode == 0, done.stderr
    assert done.stderr == b""
    assert b"\x1b" not in done.stdout  # no colour, no progress where there is no terminal
    shown = python("-m", "fasttree", "show", model)
    assert shown.stdout.decode().replace("\r\n", "\n") == ok("show", model).out
    failed = python("-m", "fasttree", "show", data)
    assert failed.returncode == 4
    assert failed.stdout == b""
    assert failed.stderr.startswith(b"Error: ")


def test_the_entry_point() -> None:
    import tomllib

    project = ROOT / "pyproject.toml"
    if not project.exists():
        pytest.skip("an installed package: its metadata are those of the wheel")
    scripts = tomllib.loads(project.read_text("utf-8"))["project"]["scripts"]
    assert scripts == {"fasttree": "fasttree.cli:main"}


@pytest.mark.parametrize("absent", ["typer", "rich", "pyarrow"])
def test_without_the_extra(absent: str) -> None:
    code = (
        f"import sys; sys.modules[{absent!r}] = None; import runpy; "
        "sys.argv = ['fasttree', 'demo']; runpy.run_module('fasttree', run_name='__main__')"
    )
    done = python("-c", code)
    assert done.returncode == 1
    message = f"Error: the command line needs {absent}: pip install 'fasttree[cli]'\n"
    assert done.stderr.decode().replace("\r\n", "\n") == message


def test_help_does_not_wait_for_the_library() -> None:
    code = (
        "import sys; sys.argv = ['fasttree', '--help']\n"
        "from fasttree.cli import main\n"
        "try:\n    main()\nexcept SystemExit as stop:\n    assert not stop.code\n"
        "heavy = {'numpy', 'pyarrow', 'pandas', 'polars', 'sklearn', 'joblib', 'narwhals'}\n"
        "assert not heavy & sys.modules.keys(), heavy & sys.modules.keys()"
    )
    done = python("-c", code)
    assert done.returncode == 0, done.stderr.decode()


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_terminal_without_the_signs(data: Path, encoding: str) -> None:
    model = data.with_suffix(".model")
    ok("train", data, "-t", "outcome", "--drop", "id", "-o", model)
    done = python("-m", "fasttree", "show", model, PYTHONIOENCODING=encoding)
    assert done.returncode == 0, done.stderr
    assert b"|- " in done.stdout
    assert done.stdout.isascii()


def test_a_reader_that_goes_away(data: Path) -> None:
    command = [sys.executable, "-m", "fasttree", "export", "--list", "--json"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    code = process.wait(60)
    assert code == 141 or os.name == "nt"  # as of a program that a broken pipe has ended
    assert b"Traceback" not in errors
    assert b"Error" not in errors


def to_a_full_disk(*words: object, stream: str) -> tuple[int, str]:
    """The exit code, and what the other stream got."""
    with open("/dev/full", "wb") as full:
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | {stream: full}
        done = subprocess.run(
            [sys.executable, "-m", "fasttree", *map(str, words)], **streams, env=environment()
        )
    return done.returncode, ((done.stdout or b"") + (done.stderr or b"")).decode()


@needs_full
def test_output_without_room(data: Path) -> None:
    """Little is written when the process ends, much before; bytes and text."""
    model, many = data.with_suffix(".model"), data.with_name("many.csv")
    ok("train", data, "-t", "outcome", "--drop", "id", "-o", model)
    many.write_text("x,y\n" + "".join(f"{n},{n * n % 7}\n" for n in range(3000)))
    ok("train", many, "-t", "y", "-o", data.with_name("many.model"))
    expected = "Error: the output cannot be written: No space left on device\n"
    for words in (
        ("--version",),
        ("show", model),
        ("show", data.with_name("many.model")),
        ("export", model, "--to", "json"),
        ("export", model, "--to", "onnx"),
        ("export", data.with_name("many.model"), "--to", "json"),
        ("export", "--list"),
        ("rank", data, "-t", "outcome", "--json"),
        ("score", model, data, "-o", data.with_name("o.csv"), "--json", "-q", "--force"),
    ):
        assert to_a_full_disk(*words, stream="stdout") == (5, expected), words


@needs_full
def test_errors_without_room(data: Path) -> None:
    """The exit code is all that is left."""
    assert to_a_full_disk("show", "none.model", stream="stderr") == (4, "")
    assert to_a_full_disk("show", "--depth", "x", "none.model", stream="stderr") == (2, "")


@pytest.mark.skipif(shutil.which("sh") is None, reason="there is no shell")
def test_streams_that_are_closed(data: Path) -> None:
    model = data.with_suffix(".model")
    ok("train", data, "-t", "outcome", "--drop", "id", "-o", model)
    for words, code in ((f"show {model} >&-", 0), ("show none.model 2>&-", 4)):
        line = f"{shlex.quote(sys.executable)} -m fasttree {words}"
        done = subprocess.run(["sh", "-c", line], capture_output=True, env=environment())
        assert (done.returncode, done.stdout, done.stderr) == (code, b"", b"")


@pytest.mark.skipif(os.name == "nt", reason="signals of another kind")
def test_ctrl_c() -> None:
    """In the middle of work that takes many seconds."""
    command = [sys.executable, "-u", "-m", "fasttree", "demo", "--rows", "4000000"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    )
    assert process.stdout is not None
    assert process.stderr is not None
    for line in process.stdout:
        if line.startswith(b"3. "):
            break
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 130
    assert b"Traceback" not in errors
    assert b"Interrupted." in errors


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("fasttree tr", "train"),
        ("fasttree train x.csv --method c4", "c45"),
        ("fasttree train x.csv --prune err", "error_based"),
        ("fasttree evaluate x.csv --methods ba", "bayes"),
        ("fasttree rank x.csv --criterion gain", "gain_ratio"),
        ("fasttree rules x.model --format mark", "markdown"),
        ("fasttree export x.model --to tex", "text"),
    ],
)
def test_completion(words: str, expected: str) -> None:
    done = python(
        "-m",
        "fasttree",
        _FASTTREE_COMPLETE="complete_bash",
        COMP_WORDS=words,
        COMP_CWORD=str(len(words.split()) - 1),
    )
    assert expected in done.stdout.decode().split()


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_completion_can_be_installed() -> None:
    # For the shell that it is called from: one that is still there meanwhile.
    command = f"{shlex.quote(sys.executable)} -m fasttree --show-completion; exit $?"
    done = subprocess.run(["bash", "-c", command], capture_output=True, env=environment())
    assert b"_FASTTREE_COMPLETE" in done.stdout
