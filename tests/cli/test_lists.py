# SPDX-License-Identifier: BSD-3-Clause
"""Options that take a list: every one of every command repeats, takes commas, and quotes names that hold some."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from commands import Result, ok, patients, run, write_csv

import fasttree

ODD = 'last, "first"'  # a name with a comma and quotes
QUOTED = '"last, ""first"""'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Patients with a column of an odd name, and models of them."""
    monkeypatch.chdir(tmp_path)
    table = patients(120).append_column(ODD, pa.array([k % 5 for k in range(120)]))
    write_csv(Path("p.csv"), table)
    pq.write_table(table, "p.parquet")
    model = fasttree.TreeClassifier(max_depth=3)
    model.fit(table.select(["age", "pulse", "ward"]), table["outcome"]).save("m.model")
    return tmp_path


# -- every option ------------------------------------------------------------------------------------------------------


def commands() -> Iterator[tuple[str, Any]]:
    from typer.main import get_command

    from fasttree.cli.app import app

    waiting = [("", get_command(app))]
    while waiting:
        name, command = waiting.pop()
        inside = getattr(command, "commands", {})
        if not inside:
            yield name, command
        waiting += [(f"{name} {key}".strip(), inner) for key, inner in inside.items()]


def list_options() -> set[tuple[str, str]]:
    found = set()
    for name, command in commands():
        for parameter in command.params:
            if parameter.param_type_name == "option" and parameter.multiple:
                found.add((name, max(parameter.opts, key=len)))
    return found


class Case(NamedTuple):
    """`words` call the command; `seen` is what came of the list, by which the ways to write it are compared."""

    words: tuple[str, ...]
    names: tuple[str, str]  # as they are written in a list
    seen: Callable[[Result], Any]
    wrong: str  # part of what is said of a name that does not exist, close to the first one


def attributes_of(_: Result) -> Any:
    names = [attribute.name for attribute in fasttree.load("o.model").tree_.schema.attributes]
    Path("o.model").unlink()
    return names


def categories_of(_: Result) -> Any:
    attributes = fasttree.load("o.model").tree_.schema.attributes
    Path("o.model").unlink()
    return [(attribute.name, attribute.is_categorical) for attribute in attributes]


def settings_of(_: Result) -> Any:
    model = fasttree.load("o.model")
    Path("o.model").unlink()
    return model.max_depth, model.min_samples_leaf


def ranked(result: Result) -> Any:
    return [one["attribute"] for one in result.json["attributes"]]


def judged(result: Result) -> Any:
    kept = ("method", "accuracy", "leaves", "depth")
    return [{key: one[key] for key in kept} for one in result.json["methods"]]


def compared(result: Result) -> Any:
    return [(one["model"], one["accuracy"], one["leaves"]) for one in result.json["models"]]


def scored(_: Result) -> Any:
    names = pq.read_table("o.parquet").column_names
    Path("o.parquet").unlink()
    return names


def studied(_: Result) -> Any:
    found = json.loads(Path("s.json").read_text())
    Path("s.json").unlink()
    return [
        (group["attributes"], [fit["method"] for fit in group["fits"]]) for group in found["groups"]
    ]


def reported(_: Result) -> Any:
    found = sorted(path.name for path in Path().glob("r*.*"))
    for name in found:
        Path(name).unlink()
    return found


TRAIN = ("train", "p.csv", "-t", "outcome", "-o", "o.model")
EVALUATE = ("evaluate", "p.csv", "-t", "outcome", "--folds", "2", "--json")
ONE = (*EVALUATE, "-m", "id3", "--drop", "id")
COMPARE = ("compare", "p.csv", "-t", "outcome", "--json")
STUDY = (
    "study",
    "cesarean",
    "--data",
    "p.csv",
    "-t",
    "outcome",
    "--seeds",
    "1",
    "--json",
    "s.json",
)
COLUMNS = ("id", QUOTED)
NEAR_COLUMN = "no column 'iid' ({}): did you mean 'id'?"
SETTINGS = ("max_depth=2", "min_samples_leaf=7")
NEAR_SETTING = "did you mean 'max_depth'?"
CASES = {
    ("train", "--drop"): Case(TRAIN, COLUMNS, attributes_of, NEAR_COLUMN),
    ("train", "--categorical"): Case(TRAIN, COLUMNS, categories_of, NEAR_COLUMN),
    ("train", "--set"): Case(TRAIN, SETTINGS, settings_of, NEAR_SETTING),
    ("rank", "--drop"): Case(
        ("rank", "p.csv", "-t", "outcome", "--json"), COLUMNS, ranked, NEAR_COLUMN
    ),
    ("rank", "--categorical"): Case(
        ("rank", "p.csv", "-t", "outcome", "--json"), COLUMNS, lambda r: r.json, NEAR_COLUMN
    ),
    ("evaluate", "--drop"): Case((*EVALUATE, "-m", "id3"), COLUMNS, judged, NEAR_COLUMN),
    ("evaluate", "--categorical"): Case((*EVALUATE, "-m", "id3"), COLUMNS, judged, NEAR_COLUMN),
    ("evaluate", "--set"): Case(ONE, SETTINGS, judged, NEAR_SETTING),
    ("evaluate", "--methods"): Case(
        (*EVALUATE, "--drop", "id"), ("id3", '"smml"'), judged, "did you mean 'id3'?"
    ),
    ("compare", "--drop"): Case(COMPARE, COLUMNS, compared, NEAR_COLUMN),
    ("compare", "--categorical"): Case(COMPARE, COLUMNS, compared, NEAR_COLUMN),
    ("compare", "--set"): Case((*COMPARE, "--drop", "id"), SETTINGS, compared, NEAR_SETTING),
    ("score", "--columns"): Case(
        ("score", "m.model", "p.parquet", "-o", "o.parquet"),
        COLUMNS,
        scored,
        "has no column 'iid', which was requested for the output: did you mean 'id'?",
    ),
    ("export", "--set"): Case(
        ("export", "m.model", "--to", "sql"),
        ("dialect=duckdb", 'table="a, ""b"""'),
        lambda result: result.out,
        "did you mean 'dialect'?",
    ),
    ("study cesarean", "--drop"): Case((*STUDY, "-m", "SMML"), COLUMNS, studied, NEAR_COLUMN),
    ("study cesarean", "--methods"): Case(
        (*STUDY, "--drop", "id"), ("ID3", '"SMML"'), studied, "did you mean 'ID3'?"
    ),
    ("study cesarean", "--output"): Case(
        (*STUDY, "--drop", "id", "-m", "SMML", "--force"),
        ("r1.md", '"r, 2.html"'),
        reported,
        "must end in .html or .md",
    ),
}


def test_no_list_is_forgotten() -> None:
    """An option that may be repeated has a case; and none asks for several names without being one."""
    assert list_options() == set(CASES)
    for name, command in commands():
        for parameter in command.params:
            words = f"{getattr(parameter, 'help', '')} {parameter.metavar}"
            if parameter.param_type_name == "option" and re.search("commas|A,B|repeatable", words):
                assert parameter.multiple, (name, parameter.name)


@pytest.mark.parametrize(("command", "option"), sorted(CASES))
def test_every_way_to_write_a_list(command: str, option: str, folder: Path) -> None:
    words, (first, second), seen, _ = CASES[command, option]
    if command == "compare":
        pytest.importorskip("sklearn")
    repeated = seen(ok(*words, option, first, option, second))
    assert seen(ok(*words, option, f"{first},{second}")) == repeated
    if option != "--set":  # where a name stands for one value, and twice is an error
        assert seen(ok(*words, option, f" {first} , {second}", option, second)) == repeated
    only = [seen(ok(*words, option, one)) for one in (first, second)]
    assert only[0] != repeated or only[1] != repeated
    assert only[0] != only[1] or "--categorical" in option


@pytest.mark.parametrize(("command", "option"), sorted(CASES))
def test_a_name_that_does_not_exist(command: str, option: str, folder: Path) -> None:
    words, (first, second), _, wrong = CASES[command, option]
    if command == "compare":
        pytest.importorskip("sklearn")
    odd = {"--output": "r.xls"}.get(option, first[0] + first)
    result = run(*words, option, f"{second},{odd}")
    assert result.code in (2, 3)
    assert wrong.format(option) in result.err
    result = run(*words, option, f'{first},"b')
    assert result.code == 2
    assert "unclosed quote" in result.err


# -- columns -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("option", ["--drop", "--categorical"])
def test_a_column_whose_name_holds_a_comma_needs_no_quotes(folder: Path, option: str) -> None:
    seen = attributes_of if option == "--drop" else categories_of
    plain = seen(ok(*TRAIN, option, ODD))
    assert plain == seen(ok(*TRAIN, option, QUOTED))
    assert plain != seen(ok(*TRAIN, option, "id"))
    ok("score", "m.model", "p.csv", "-o", "o.csv", "--columns", ODD)
    assert Path("o.csv").read_text().startswith('"last, ""first""","prediction"')


def test_a_column_that_is_also_a_list_is_not_guessed(folder: Path) -> None:
    table = patients(60)
    for name in ("a", "b", "a,b"):
        table = table.append_column(name, pa.array(range(60)))
    write_csv(Path("p.csv"), table)
    result = run(*TRAIN, "--drop", "a,b")
    assert result.code == 2
    assert (
        "'a,b' is ambiguous: it is the name of a column, and a list with the column 'a'"
        in result.err
    )
    assert not {"a,b"} & set(attributes_of(ok(*TRAIN, "--drop", '"a,b"')))
    both = attributes_of(ok(*TRAIN, "--drop", "a", "--drop", "b"))
    assert "a,b" in both
    assert not {"a", "b"} & set(both)


def test_categories_of_a_list_keep_their_zeros(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"0{k % 3},0{k % 2},{'yn'[k % 2]}\n" for k in range(30))
    Path("p.csv").write_text(f"zip,code,outcome\n{rows}")
    ok(*TRAIN, "--categorical", "zip,code")
    levels = {a.name: a.categories for a in fasttree.load("o.model").tree_.schema.attributes}
    assert levels == {"zip": ("00", "01", "02"), "code": ("00", "01")}


def test_the_target_in_a_list(folder: Path) -> None:
    result = run(*TRAIN, "--drop", "id,outcome")
    assert result.code == 2
    assert "--drop names 'outcome', which is the target" in result.err


def test_all_columns_or_some(folder: Path) -> None:
    words = ("score", "m.model", "p.parquet", "-o", "o.parquet", "--columns")
    assert scored(ok(*words, "all"))[:-1] == pq.read_table("p.parquet").column_names
    result = run(*words, "all", "--columns", "id")
    assert result.code == 2
    assert "--columns all keeps every column" in result.err


# -- settings ----------------------------------------------------------------------------------------------------------


def exported(*settings: str) -> str:
    given = [word for setting in settings for word in ("--set", setting)]
    return ok("export", "m.model", "--to", "sql", *given).out


def test_every_spelling_of_a_list_among_the_settings(folder: Path) -> None:
    model = fasttree.load("m.model")
    expected = model.export("sql", keep=["flight_id", "day, hour"], dialect="duckdb")
    assert exported('keep=flight_id,"day, hour"', "dialect=duckdb") == expected
    assert exported('keep=flight_id,"day, hour",dialect=duckdb') == expected
    assert exported("keep=flight_id", 'keep="day, hour"', "dialect=duckdb") == expected
    assert exported("keep=flight_id") == model.export("sql", keep=["flight_id"])
    assert exported("keep=") == model.export("sql", keep=[])
    assert exported("keep=none") == model.export("sql")
    assert exported('keep="none"') == model.export("sql", keep=["none"])
    assert exported("keep=3") == model.export("sql", keep=["3"])


def test_names_for_names_among_the_settings(folder: Path) -> None:
    model = fasttree.load("m.model")
    expected = model.export("sql", columns={"age": "AGE, years", "ward": "WARD"})
    assert exported('columns=age="AGE, years",ward=WARD') == expected
    assert exported('columns=age="AGE, years"', "columns=ward=WARD") == expected
    result = run("export", "m.model", "--to", "sql", "--set", "columns=age")
    assert result.code == 2
    assert "write columns=KEY=TEXT" in result.err


def test_every_option_that_is_listed_can_be_set(folder: Path) -> None:
    """As it is listed, with its default or with what stands behind it."""
    names = ok("export", "--list", "--json").json
    lines = [line.strip() for line in ok("export", "--list", width=200).out.splitlines()]
    to = ""
    for line in lines:
        if line.split(" ")[0] in names:
            to = line.split(" ")[0]
        if not line.startswith("--set "):
            continue
        setting, _, hint = line.removeprefix("--set ").partition("   ")
        values = [setting]
        if "A,B" in hint:
            values.append(f"{setting.partition('=')[0]}=age,ward")
        if "A=X,B=Y" in hint:
            values.append(f"{setting.partition('=')[0]}=age=X,ward=Y")
        for value in values:
            result = run("export", "m.model", "--to", to, "--set", value)
            assert result.code == 0, (to, value, result.err)


def test_one_value_is_no_list(folder: Path) -> None:
    result = run(*TRAIN, "--set", "max_depth=2,3")
    assert result.code == 2
    assert "max_depth takes a single value" in result.err
    result = run("export", "m.model", "--to", "sql", "--set", "kepe=age")
    assert result.code == 2
    assert "--to sql has no option 'kepe' (--set): did you mean 'keep'?" in result.err
