# SPDX-License-Identifier: BSD-3-Clause
"""Repeats the tests that have the marker `numeric` as other processors than this one would run them.

    python tests/as_other_processors.py ORDINARY COPIES [--only NAME ...] [arguments of pytest]

ORDINARY is a directory with the package as it is used, COPIES holds one for each copy of the core's loops (see
`fasttree/kernels/isa.h`), named 1, 3 and 4 as FASTTREE_ONLY was when it was built. It runs in a directory that has the
tests and no package. What numpy, OpenBLAS and the C library would take on another processor is chosen by environment
variables, which none of them takes amiss if it does not know the name in it: so every process of the tests asks them
what they really took (`check`, called by conftest.py).
"""

from __future__ import annotations

import ctypes
import os
import platform
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

MARKER = "numeric"
# This one starts processes for other processors itself.
LEFT_OUT = "tests/test_processors.py::test_other_processors_compute_the_same"
CHOSEN, EXPECTED = "FASTTREE_PROCESSOR", "FASTTREE_FINGERPRINTS"
V3 = frozenset({"abm", "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe"})
V4 = V3 | {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}


@dataclass(frozen=True)
class Processor:
    """What its users get. Names in `needs` are those of /proc/cpuinfo; those of a v4 are in that of every later one."""

    copy: int  # of the core's loops: the one for x86-64-v1, v3 or v4
    blas: str  # the name that OpenBLAS has for it
    also_blas: tuple[str, ...]  # other names under which the same kernels may be reported
    numpy_without: str  # the pattern of the names, in numpy, of what it has not
    libc_without: tuple[str, ...] = ()
    needs: frozenset[str] = frozenset()

    @property
    def level(self) -> str:
        return "x86-64" if self.copy == 1 else f"x86-64-v{self.copy}"

    def numpy_names(self) -> list[str]:
        """What numpy can use on this machine and could not on that one."""
        return [
            name
            for name in __cpu_dispatch__
            if __cpu_features__.get(name) and re.fullmatch(self.numpy_without, name)
        ]

    def variables(self) -> dict[str, str]:
        # Releases of glibc before 2.33 have other names for the same; one that it does not know it passes over.
        words = [f"-{name}{end}" for name in self.libc_without for end in ("", "_Usable")]
        chosen = {
            "NPY_DISABLE_CPU_FEATURES": " ".join(self.numpy_names()),
            "OPENBLAS_CORETYPE": self.blas,
            "GLIBC_TUNABLES": f"glibc.cpu.hwcaps={','.join(words)}" if words else "",
        }
        return {name: value for name, value in chosen.items() if value}


PROCESSORS = {
    "any x86-64": Processor(1, "Prescott", ("Katmai",), r".*", ("AVX2", "FMA")),
    "Haswell": Processor(3, "Haswell", (), r"AVX512.*|X86_V4", (), V3),
    "Zen": Processor(3, "Zen", ("Haswell",), r"AVX512.*|X86_V4", (), V3),
    "SkylakeX": Processor(4, "SkylakeX", (), r"AVX512_(?!SKX).*", (), V4),
}


# -- in a process of the tests -----------------------------------------------------------------------------------------


def check(environment: Mapping[str, str] = os.environ) -> None:
    """Fails if this process should run as another processor would and does not."""
    name = environment.get(CHOSEN)
    if name is not None and (wrong := differences(PROCESSORS[name])):
        raise RuntimeError(f"this process does not run as on {name}: {'; '.join(wrong)}")


def differences(processor: Processor) -> list[str]:
    import fasttree._core as core

    found = [f"numpy uses {name}" for name in processor.numpy_names()]
    found += [f"the C library uses {name}" for name in processor.libc_without if libc_uses(name)]
    blas = openblas()
    if blas is not None and blas not in (processor.blas, *processor.also_blas):
        found.append(f"OpenBLAS takes the kernels of {blas}")
    if processor.level != core.COPIES:
        found.append(f"the core {core.__file__} has the loops of {core.COPIES or 'no processor'}")
    return found


# Where the instruction that names a feature tells it: leaf, register (a, b, c, d), bit.
FEATURES = {"FMA": (0, 2, 12), "AVX2": (1, 1, 5)}


def libc_uses(name: str) -> bool:
    """Whether this process's C library chose its functions as on a processor with that feature."""
    leaf, register, bit = FEATURES[name]
    ask = getattr(ctypes.CDLL(None), "__x86_get_cpuid_feature_leaf", None)
    if ask is None:  # before glibc 2.33 nobody could ask, so it stays unchecked
        return False
    ask.restype = ctypes.POINTER(ctypes.c_uint32 * 8)  # four registers as they are, four as used
    return bool(ask(ctypes.c_uint(leaf)).contents[4 + register] >> bit & 1)


def openblas() -> str | None:
    """The processor whose kernels OpenBLAS took; None if numpy's BLAS is another."""
    from threadpoolctl import threadpool_info

    return next(
        (p["architecture"] for p in threadpool_info() if p["internal_api"] == "openblas"), None
    )


# -- the runs ----------------------------------------------------------------------------------------------------------


def capabilities() -> frozenset[str]:
    """Of this machine; nothing where no other processor can be imitated."""
    if platform.system() != "Linux" or platform.machine() != "x86_64":
        return frozenset()
    return frozenset(
        re.findall(r"^flags\s*:(.*)$", Path("/proc/cpuinfo").read_text(), re.M)[0].split()
    )


def ordinary() -> dict[str, str]:
    """The environment without what anybody has chosen about processors."""
    chosen = ("NPY_DISABLE_CPU_FEATURES", "OPENBLAS_CORETYPE", "GLIBC_TUNABLES", CHOSEN, EXPECTED)
    return {name: value for name, value in os.environ.items() if name not in chosen}


def run(name: str, copies: Path, fingerprints: Path, arguments: list[str]) -> int | None:
    """How many tests passed; None if not all of them did."""
    processor = PROCESSORS[name]
    variables = processor.variables() | {
        "PYTHONPATH": str(copies / str(processor.copy)),
        CHOSEN: name,
        EXPECTED: str(fingerprints),
    }
    print(f"--- as on {name}:", " ".join(f"{k}='{v}'" for k, v in variables.items()), flush=True)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-m",
        MARKER,
        f"--deselect={LEFT_OUT}",
        *arguments,
    ]
    with subprocess.Popen(
        command, env=ordinary() | variables, stdout=subprocess.PIPE, text=True
    ) as tests:
        assert tests.stdout is not None
        last = ""
        for line in tests.stdout:
            print(line, end="", flush=True)
            last = line.strip() or last
    # That no test was selected is pytest's exit code 5, and so a failure, too.
    passed = re.search(r"(\d+) passed", last)
    return int(passed[1]) if tests.returncode == 0 and passed else None


def main(arguments: list[str]) -> int:
    ordinary_package, copies = (Path(each).resolve() for each in arguments[:2])
    rest, names = arguments[2:], list(PROCESSORS)
    while rest[:1] == ["--only"]:
        names, rest = ([] if names == list(PROCESSORS) else names) + [rest[1]], rest[2:]
    here = capabilities()
    if not here:
        print("No other processor can be imitated on this machine.")
        return 0
    results: dict[str, str] = {}
    with TemporaryDirectory() as directory:
        fingerprints = Path(directory) / "fingerprints.json"
        subprocess.run(
            [sys.executable, Path(__file__).with_name("fingerprints.py"), fingerprints],
            env=ordinary() | {"PYTHONPATH": str(ordinary_package)},
            check=True,
        )
        for name in names:
            missing = PROCESSORS[name].needs - here
            if missing:
                results[name] = f"left out, this machine lacks {', '.join(sorted(missing))}"
                continue
            passed = run(name, copies, fingerprints, rest)
            results[name] = "FAILED" if passed is None else f"{passed} tests"
    print("--- " + "; ".join(f"{name}: {result}" for name, result in results.items()))
    return int("FAILED" in results.values())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
