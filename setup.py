# SPDX-License-Identifier: BSD-3-Clause
"""Builds the one extension; everything else about the package stands in pyproject.toml.

FASTTREE_DEBUG=1 builds with bounds checks and assertions on, and with an allocator that tests can make fail; the whole
test suite passes with it too.
FASTTREE_ONLY=1, 3 or 4 builds only one of the copies that the core has of its loops, see `fasttree/kernels/isa.h`.
FASTTREE_NO_CORE=1 leaves the extension out, for environments that are made first and compile it later.
"""

import os
import sys
from glob import glob

from Cython.Build import cythonize
from setuptools import Extension, setup


def is_set(name: str) -> bool:
    return os.environ.get(name, "0") not in ("", "0")


debug = is_set("FASTTREE_DEBUG")

if sys.platform == "win32":
    compile_args = ["/O2", "/fp:precise"]
else:
    # Contracting a*b+c into one fused instruction changes the last bit of a gain from CPU to CPU, and
    # a tie would then fall differently: the tree must not depend on the machine.
    compile_args = ["-O3", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"]
    # An enum constant that does not fit an int would silently be something else.
    compile_args += ["-Werror=shift-count-overflow"]

if debug:
    # One plain copy of every function: the suite then also shows that the clones for newer processors agree with it.
    defined = ["FT_NO_CLONES", "FT_FAILING_MEMORY"]  # the latter: tests can make an allocation fail
    compile_args += [("/D" if sys.platform == "win32" else "-D") + name for name in defined]
    if sys.platform != "win32":
        # What C leaves undefined, such as an overflow of signed integers, ends the process where it happens.
        compile_args += ["-fsanitize=undefined", "-fsanitize-undefined-trap-on-error"]

if is_set("FASTTREE_ONLY"):
    compile_args.append("-DFT_ONLY=" + os.environ["FASTTREE_ONLY"])

extension = Extension(
    "fasttree._core",
    ["fasttree/_core.pyx"],
    extra_compile_args=compile_args,
    depends=sorted(glob("fasttree/kernels/*.h") + glob("fasttree/kernels/*.px[di]")),
)

directives = {
    "language_level": 3,
    "boundscheck": debug,
    "initializedcheck": debug,
    "wraparound": False,
    "cdivision": True,
    "freethreading_compatible": True,
}

extensions = [] if is_set("FASTTREE_NO_CORE") else [extension]
setup(ext_modules=cythonize(extensions, compiler_directives=directives, force=debug))
