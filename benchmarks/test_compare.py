# SPDX-License-Identifier: BSD-3-Clause
"""The comparison compares the same work: run at its tiny sizes, it says who grew what."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable

import numpy as np
import pytest

from benchmarks import (
    claims,
    data,
    environment,
    measure,
    memory,
    plot,
    report,
    results,
    runs,
    table_runs,
    table_scenarios,
    tables,
)
from benchmarks.compare import main
from benchmarks.contestants import CONTESTANTS, Task, accuracy
from benchmarks.results import Entry, Record
from benchmarks.scenarios import EXACT, SCENARIOS

pytestmark = pytest.mark.filterwarnings("ignore")  # of peers we are no part of
pytest.importorskip("sklearn")

BINNED = ("snapml hist", "XGBoost hist", "LightGBM", "scikit-learn hist", "fasttree")


@pytest.fixture(scope="module")
def found() -> Callable[[str], Record]:
    """Each scenario's quick run, made once when first asked for."""
    records: dict[str, Record] = {}

    def record(name: str) -> Record:
        if name not in records:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                run = SCENARIOS[name].run(runs.Settings(repeats=2, quick=True))
            if run is None:
                pytest.skip(f"the data or libraries of {name} are not there")
            here = environment.current("test", 2).as_dict()
            records[name] = Record(name, run.data, True, here, run.entries)
        return records[name]

    return record


@pytest.fixture(scope="module")
def plain() -> data.Dataset:
    """Float32 values, many rows: the best split of every node near the root is unique."""
    dataset = data.classification(4_000, 50)
    return data.Dataset(dataset.name, dataset.X.astype(np.float32).astype(np.float64), dataset.y)


def grown(name: str, task: Task, dataset: data.Dataset):
    contestant = CONTESTANTS[name]
    if not contestant.installed:
        pytest.skip(f"{contestant.package} is not installed")
    return contestant.make(task).fit(dataset.X, dataset.y)


@pytest.mark.parametrize("name", EXACT)
def test_exact_contestants_grow_the_same_tree(name: str, plain: data.Dataset) -> None:
    task = Task(max_depth=5, threads=2)
    theirs, reference = grown(name, task, plain), grown("scikit-learn", task, plain)
    np.testing.assert_array_equal(theirs.predict(plain.X), reference.predict(plain.X))
    assert CONTESTANTS[name].shape(theirs).leaves == reference.get_n_leaves()


@pytest.mark.parametrize("name", BINNED)
def test_binned_contestants_grow_a_tree_as_large_and_good(name: str, plain: data.Dataset) -> None:
    task = Task(max_depth=5, binned=True, threads=2)
    theirs, reference = grown(name, task, plain), grown("scikit-learn", task, plain)
    shape = CONTESTANTS[name].shape(theirs)
    assert shape.leaves == pytest.approx(reference.get_n_leaves(), abs=4)
    assert shape.depth in (5, None)
    assert accuracy(theirs, plain.X, plain.y) == pytest.approx(
        accuracy(reference, plain.X, plain.y), abs=0.02
    )


@pytest.mark.parametrize("n_classes", [2, 5])
def test_snapml_number_of_leaves_is_worked_out_rightly(n_classes: int) -> None:
    dataset = data.classification(4_000, 30, n_classes)
    task = Task(max_depth=5)
    theirs, reference = grown("snapml exact", task, dataset), grown("scikit-learn", task, dataset)
    assert CONTESTANTS["snapml exact"].shape(theirs).leaves == reference.get_n_leaves()


FULL = ("gini-full", "entropy-full", "classes-26", "births")
RACES = tuple(n for n, s in SCENARIOS.items() if isinstance(s, runs.FitRace | runs.PredictRace))


@pytest.mark.parametrize("name", RACES)
def test_contestants_do_the_same_work(name: str, found: Callable[[str], Record]) -> None:
    record = found(name)
    assert {entry.contestant for entry in record.entries} == {
        n for n in SCENARIOS[name].contestants if CONTESTANTS[n].installed
    }
    leaves = [entry.leaves for entry in record.entries if entry.leaves]
    # Ties between equally good splits fall differently, in small nodes everywhere.
    assert max(leaves) <= 1.25 * min(leaves)
    for accuracies in (
        [entry.train_accuracy for entry in record.entries],
        [entry.held_out_accuracy for entry in record.entries],
    ):
        assert max(accuracies) - min(accuracies) < 0.06
    if name in FULL:
        assert min(entry.train_accuracy for entry in record.entries) > 0.999
    for entry in record.entries:
        assert len(entry.seconds) >= 2
        assert min(entry.seconds) > 0


@pytest.mark.parametrize("name", ["memory-exact", "growth", "import"])
def test_other_scenarios_give_figures(name: str, found: Callable[[str], Record]) -> None:
    for entry in found(name).entries:
        assert entry.seconds or entry.bytes_a_cell > 0


@pytest.mark.skipif(not memory.CLEAR_REFS.exists(), reason="the peak cannot be reset here")
def test_memory_is_the_peak_and_not_what_is_left() -> None:
    before = memory._baseline()
    held = np.ones(4_000_000)
    del held
    assert memory._peak() - before == pytest.approx(32e6, rel=0.1)
    assert memory._baseline() - before < 8e6


def test_interleaved_takes_turns_in_every_order_and_spares_the_slow(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(measure, "SLOW_SECONDS", -1.0)
    order: list[str] = []
    jobs = {name: lambda name=name: order.append(name) for name in "AB"}
    timings = measure.interleaved(jobs, repeats=5, settle=False)
    assert [len(timing.seconds) for timing in timings.values()] == [3, 3]
    monkeypatch.undo()
    order.clear()
    measure.interleaved(jobs, repeats=50, settle=False)
    rounds = {"".join(order[i : i + 2]) for i in range(0, 100, 2)}
    assert rounds == {"AB", "BA"}


HERE = {
    "machine": "a machine", "cores": 2, "threads": 2, "memory_gb": 4.0, "system": "Linux x86_64",
    "versions": {"Python": "3.11"}, "date": "2026-01-01", "command": "python -m x",
    "disturbance": 0.0,
}  # fmt: skip


def example() -> dict[str, Record]:
    times = {"fasttree": [1.0, 1.2, 9.0], "scikit-learn": [36.0], "snapml exact": [5.0, 4.0, 4.5]}
    entries = [Entry(name, seconds, cores=1.0, leaves=7) for name, seconds in times.items()]
    steps = [Entry(f"{n} rows", [0.1 * 2.5**i], rows=n) for i, n in enumerate((100, 200, 400))]
    memory_entries = [Entry("fasttree", bytes_a_cell=12.5)]
    return {
        "gini-full": Record("gini-full", "200,000 x 50 float64, 2 classes", False, HERE, entries),
        "growth": Record("growth", "100 to 400 x 50 float64", False, HERE, steps),
        "memory-exact": Record("memory-exact", "9 x 5 float64", False, HERE, memory_entries),
    }


def test_claims_are_judged_on_medians() -> None:
    records = example()
    race = records["gini-full"]
    faster = claims.Faster("scikit-learn", at_least=30).judge(race)
    assert (faster.value, faster.met) == (pytest.approx(30.0), True)
    fastest = claims.Faster(claims.FASTEST_OTHER, at_least=5).judge(race)
    assert (fastest.against, fastest.value, fastest.met) == (
        "snapml exact", pytest.approx(3.75), False,
    )  # fmt: skip
    assert claims.Faster("LightGBM", at_least=2).judge(race).met is None
    assert claims.MemoryAtMost(16).judge(records["memory-exact"]).met is True
    doubling = claims.DoublingAtMost(2.3).judge(records["growth"])
    assert (doubling.value, doubling.met) == (pytest.approx(2.5), False)


def test_results_survive_json_and_become_a_page(tmp_path) -> None:
    pytest.importorskip("matplotlib")
    file = tmp_path / "results.json"
    results.save(file, example())
    assert results.load(file) == example()
    assert main(["--render", "--results", str(file), "--out", str(tmp_path)]) == 0
    page = (tmp_path / "benchmarks.md").read_text()
    assert "| 1.20 s | 36.00 s | 30 x | >= 30 | yes |" in page
    assert "2 threads on a machine, 2 cores" in page
    first = (tmp_path / "benchmarks.svg").read_bytes()
    plot.draw(example(), tmp_path / "benchmarks.svg")
    assert (tmp_path / "benchmarks.svg").read_bytes() == first


def test_a_run_keeps_what_other_runs_measured(tmp_path, capsys) -> None:
    file = tmp_path / "results.json"
    results.save(file, {"growth": example()["growth"]})
    main(["--quick", "--only", "iris", "--repeats", "1", "--results", str(file)])
    assert {record["scenario"] for record in json.loads(file.read_text())} == {"iris", "growth"}
    assert "tiny: iris" in capsys.readouterr().out


def test_every_scenario_can_be_reported() -> None:
    nothing = {name: Record(name, "no data", True, HERE, []) for name in SCENARIOS}
    page = report.markdown(nothing, "command")
    assert all(f"`{name}`" in page for name in SCENARIOS)


# -- tables as they come ---------------------------------------------------------------------------

FRAME_RACES = tuple(n for n, s in SCENARIOS.items() if isinstance(s, table_runs.FrameRace))
TABLE_MEMORY = tuple(n for n, s in SCENARIOS.items() if isinstance(s, table_runs.TableMemory))


@pytest.mark.parametrize("name", FRAME_RACES)
def test_a_table_grows_one_tree_from_every_form(name: str, found: Callable[[str], Record]) -> None:
    entries = {entry.contestant: entry for entry in found(name).entries}
    assert set(entries) == set(SCENARIOS[name].contestants)
    ours = [entries[one].leaves for one in table_scenarios.FORMS if one in entries]
    assert len(set(ours)) == 1
    for entry in entries.values():
        assert min(entry.seconds) > 0
        if entry.train_accuracy is not None:
            assert entry.train_accuracy > 0.95


@pytest.mark.parametrize("form", tables.FORMS)
def test_forms_hold_the_same_table(form: str) -> None:
    pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    pyarrow = pytest.importorskip("pyarrow")
    arrow = pyarrow.table({"word": ["a", None, "b"], "number": [1, None, 3], "y": ["u", "v", "u"]})
    X, y = tables.TextTable("tiny", arrow, "y").repeated(6).as_form(form)
    assert list(y) == ["u", "v", "u"] * 2 or y.to_pylist() == ["u", "v", "u"] * 2
    if form == "pandas objects":
        assert X["word"].dtype == y.dtype == object
        X = X.astype({"word": "str"})
    frame = polars.DataFrame(X) if form != "Arrow" else polars.from_arrow(X)
    assert frame["word"].to_list() == ["a", None, "b"] * 2
    assert frame["number"].fill_nan(None).to_list() == [1, None, 3] * 2


def test_text_is_encoded_in_every_way(found: Callable[[str], Record]) -> None:
    assert len(found("encode-text").entries) == 5


@pytest.mark.parametrize("name", TABLE_MEMORY)
def test_memory_of_made_tables(name: str, found: Callable[[str], Record]) -> None:
    (entry,) = found(name).entries
    assert entry.rows > 0
    assert entry.bytes_in_all > 0
    assert entry.stopped is None


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (memory.Limits(0.1, 60), "no memory left"),
        (memory.Limits(64, 1), "not finished after 1 seconds"),
    ],
)
def test_a_fit_is_stopped_at_its_limits(limits: memory.Limits, reason: str) -> None:
    pytest.importorskip("resource")
    task = Task(missing="fractional")
    stopped = memory.of_fit("fasttree", task, 100_000, 20, "holed", limits).stopped
    assert stopped == reason


def test_claims_about_tables() -> None:
    times = {"fasttree": 2.0, "fasttree, polars": 3.0, "polars cast": 1.0, "slow": 9.0}
    entries = [Entry(name, [seconds]) for name, seconds in times.items()]
    record = Record("x", "", False, HERE, entries)
    slower = claims.TimesAtMost("fasttree", 1.6, ours="fasttree, polars").judge(record)
    assert (slower.value, slower.met) == (1.5, True)
    slower = claims.TimesAtMost(claims.FASTEST_OTHER, 1.6, ours="fasttree, polars").judge(record)
    assert (slower.value, slower.met) == (3.0, False)
    paired = {"fasttree": [1.0, 2.0, 4.0] * 9, "same": [0.995, 1.99, 3.98] * 9,
              "little": [1.03, 2.06, 4.12] * 9, "slower": [1.04, 2.08, 4.16] * 9,
              "noisy": [0.5, 2.0, 8.0] * 9, "short": [1.0]}  # fmt: skip
    record = Record("x", "", False, HERE, [Entry(name, s) for name, s in paired.items()])
    found = {n: claims.NotSlower("fasttree", ours=n).judge(record) for n in [*paired, "absent"]}
    assert {name: verdict.met for name, verdict in found.items()} == {
        "fasttree": True, "same": True, "little": True, "slower": False, "noisy": False, "short": None,
        "absent": None,
    }  # fmt: skip
    assert found["slower"].value == pytest.approx(1.04)
    record = Record("x", "", False, HERE, entries)
    assert claims.TimesAtMost("absent", 2).judge(record).met is None
    grown = [Entry("fasttree", rows=10, bytes_in_all=700.0, stopped="no memory left")]
    record = Record("x", "", False, HERE, grown)
    a_row = claims.BytesARowAtMost(60).judge(record)
    assert (a_row.value, a_row.met) == (70.0, False)
    assert claims.GigabytesAtMost(2).judge(record).met is True
    assert claims.GigabytesAtMost(2).judge(Record("x", "", False, HERE, [])).met is None
