# SPDX-License-Identifier: BSD-3-Clause
"""The comparison of two builds: what it says of times, and that each process has the build it should have."""

from __future__ import annotations

import math
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pytest

import fasttree
import fasttree._core as core
from benchmarks import builds, data, intervals, two_builds
from benchmarks.claims import OURS
from benchmarks.runs import Settings
from benchmarks.scenarios import SCENARIOS
from benchmarks.two_builds import TIMED, Race, main, stages

pytest.importorskip("sklearn")

# -- verdicts --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ratios", "verdict"),
    [
        ([1.0] * 10, "not slower"),
        ([1.02, 1.03] * 5, "not slower"),  # at most 1.03, also if it is certainly above 1
        ([0.5] * 10, "not slower"),
        ([1.04] * 10, "slower"),
        ([0.9, 1.1] * 10, "undecided"),
        ([1.02, 1.06] * 10, "undecided"),
        ([0.5] * (intervals.FEWEST - 1), "undecided"),
        ([], "undecided"),
    ],
)
def test_the_end_of_the_interval_decides(ratios: list[float], verdict: str) -> None:
    assert intervals.verdict(ratios) == verdict


def test_the_interval_holds_the_median_in_about_95_of_100_cases() -> None:
    draw = np.random.default_rng(0)
    held = 0
    for _ in range(300):
        low, high = intervals.of_median(np.exp(draw.normal(scale=0.1, size=20)))
        held += low <= 1 <= high
    assert 0.91 <= held / 300 <= 0.99


def test_rounds_double_up_to_their_limit() -> None:
    assert list(stages(160)) == [10, 10, 20, 40, 80]
    assert list(stages(25)) == [10, 10, 5]
    assert list(stages(3)) == [3]


class Clock:
    """A build whose runs take so much longer each time that anybody asks it or the other."""

    def __init__(self, name: str, factor: float, asked: list[str]) -> None:
        self.name, self.factor, self.asked = name, factor, asked
        self.hello = {"jobs": {"work": 1.0}, "version": "0", "core": "none"}

    def seconds(self, job: str, calls: int) -> float:
        self.asked.append(self.name)
        return self.factor * 1.01 ** len(self.asked)

    def close(self) -> None:
        pass


def test_a_machine_that_slows_down_steadily_favours_nobody() -> None:
    asked: list[str] = []
    old, new = Clock("old", 1.0, asked), Clock("new", 1.5, asked)
    race = Race("work")
    for _ in range(10):
        race.round(old, new, 1)
    assert asked[:8] == ["old", "new", "new", "old"] * 2
    assert race.ratios == pytest.approx([1.5] * 10)
    assert race.line().startswith("work: slower, 1.500 x the time (1.500 to 1.500)")


@pytest.mark.parametrize(
    ("factor", "noise", "rounds", "verdict"),
    [
        (1.0, 0.01, 10, "not slower"),
        (1.3, 0.01, 10, "slower"),
        (1.0, 3.0, 40, "undecided"),
    ],
)
def test_rounds_go_on_until_something_is_certain(
    factor: float, noise: float, rounds: int, verdict: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = np.random.default_rng(1)

    class Noisy(Clock):
        def __init__(self, site: Path, scenario: str, options: object) -> None:
            super().__init__(str(site), factor if str(site) == "new" else 1.0, [])

        def seconds(self, job: str, calls: int) -> float:
            return self.factor * math.exp(noise * draw.normal())

    monkeypatch.setattr(two_builds, "Worker", Noisy)
    options = two_builds._parse(["old", "new", "--rounds", "40"])
    (race,) = two_builds.measure("iris", Path("old"), Path("new"), options) or []
    assert (race.verdict, len(race.ratios)) == (verdict, rounds)


# -- builds ----------------------------------------------------------------------------------------

SETUP = """
import pathlib, sys
(there,) = (a.removeprefix("--build-lib=") for a in sys.argv if a.startswith("--build-lib="))
package = pathlib.Path(there) / "fasttree"
package.mkdir(parents=True)
(package / "__init__.py").write_text(", ".join(sorted(p.name for p in pathlib.Path("fasttree").iterdir())))
print(1 / pathlib.Path("fasttree/one.py").read_text().count("one"))
"""


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "cache").mkdir()
    monkeypatch.setattr(data, "cache_directory", lambda: tmp_path / "cache")
    package = tmp_path / "checkout" / "fasttree"
    package.mkdir(parents=True)
    (package.parent / "setup.py").write_text(SETUP)
    for name in ("__init__.py", "one.py", "_core.c", "_core.abi3.so"):
        (package / name).write_text("one")
    return package.parent


def test_a_checkout_is_built_elsewhere_and_once(checkout: Path) -> None:
    before = {file: file.read_bytes() for file in checkout.rglob("*") if file.is_file()}
    site = builds.site_of(str(checkout))
    assert (site / "fasttree" / "__init__.py").read_text() == "__init__.py, one.py"
    assert {f: f.read_bytes() for f in checkout.rglob("*") if f.is_file()} == before
    (site / "kept").touch()
    assert (builds.site_of(str(checkout)) / "kept").exists()
    (checkout / "fasttree" / "one.py").write_text("one more")
    assert builds.site_of(str(checkout)) != site


def test_what_cannot_be_built_leaves_nothing_behind(checkout: Path) -> None:
    (checkout / "fasttree" / "one.py").write_text("nothing")
    with pytest.raises(builds.BuildError, match=r"checkout cannot be built:[\s\S]*ZeroDivision"):
        builds.site_of(str(checkout))
    assert list((data.cache_directory() / "builds").iterdir()) == []


def test_wheels_extensions_and_installed_packages(checkout: Path, tmp_path: Path) -> None:
    wheel = tmp_path / "fasttree-0.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("fasttree/__init__.py", "")
    assert (builds.site_of(str(wheel)) / "fasttree" / "__init__.py").exists()
    extension = checkout / "fasttree" / "_core.abi3.so"
    assert builds.site_of(str(extension)) == checkout
    (checkout / "setup.py").unlink()
    assert builds.site_of(str(checkout)) == checkout


def test_a_word_that_means_nothing_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["no-such-revision", core.__file__]) == 2
    assert "'no-such-revision' is no checkout, wheel, extension" in capsys.readouterr().err


# -- everything together, at tiny sizes ------------------------------------------------------------


def test_all_that_is_timed_of_this_library_is_there() -> None:
    memory = {name for name in SCENARIOS if name.startswith("memory")}
    assert set(TIMED) == set(SCENARIOS) - memory


@pytest.mark.parametrize("name", TIMED)
def test_jobs_are_our_own(name: str) -> None:
    jobs = TIMED[name].own_jobs(Settings(quick=True))
    if jobs is None:
        pytest.skip(f"the data of {name} are not there")
    if name != "growth":  # whose jobs are named after sizes
        own = [one for one in TIMED[name].contestants if one.startswith(OURS)]
        assert list(jobs) == own
    for job in jobs.values():
        job()


def test_two_processes_with_a_build_each(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    here = Path(core.__file__).parent
    site = tmp_path / "site"
    shutil.copytree(here, site / "fasttree", ignore=shutil.ignore_patterns("*.c", "__pycache__"))
    (site / "fasttree" / "version.py").write_text('__version__ = "9.9.9"\n')
    with (site / "fasttree" / "estimators" / "classifier.py").open("a") as file:
        file.write(
            "\nimport time\nfit = TreeClassifier.fit\n"
            "TreeClassifier.fit = lambda *given, **named: time.sleep(0.2) or fit(*given, **named)\n"
        )
    arguments = ["--only", "iris", "--quick", "--rounds", "6"]
    assert main([str(site), core.__file__, *arguments]) == 0
    found = capfd.readouterr()
    assert f"old: {site}, imported from {site}\n" in found.out
    assert f"imported from {here.parent}\n" in found.out
    assert "iris, fasttree: not slower, 0." in found.out
    assert found.out.endswith("1 not slower, 0 slower, 0 undecided\n")
    assert f"iris, old: fasttree 9.9.9, {site}" in found.err
    assert f"iris, new: fasttree {fasttree.__version__}, {core.__file__}" in found.err


def test_a_scenario_without_its_data_is_left_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FASTTREE_SHARED", str(tmp_path))
    arguments = ["--only", "births", "--quick", "--rounds", "1"]
    assert main([core.__file__, core.__file__, *arguments]) == 0
    assert "births: left out, its data are not there" in capsys.readouterr().out
