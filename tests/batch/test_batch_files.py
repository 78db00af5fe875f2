# SPDX-License-Identifier: BSD-3-Clause
"""Files are scored into files: every format, whole or absent, kept when they are there already."""

from __future__ import annotations

import contextlib
import csv
import gzip
import json
import os
import signal
import socket
import stat
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from batch_tables import NEW_LEVEL, attributes_of, fitted, read, table_of, write
from hypothesis import given
from hypothesis import strategies as st

import fasttree
from fasttree.base.atomic import atomic_file, write_whole
from fasttree.batch import ArgumentError, InputError, OutputError, score_files
from fasttree.batch.journal import NAME as JOURNAL
from fasttree.files.csv_file import CsvSource
from fasttree.files.text import NULL_SPELLINGS

FORMATS = ("csv", "csv.gz", "tsv", "parquet", "arrow", "arrows")
on_posix = pytest.mark.skipif(os.name != "posix", reason="needs signals, locks and limits of POSIX")
CHILD = "from fasttree.cli import main; main()"


@pytest.fixture(scope="module")
def model() -> Any:
    return fitted(table_of(400), fasttree.C45Classifier())


def write_as(table: Any, path: Path) -> Path:
    """Also compressed and with tabs."""
    if path.name.endswith((".csv.gz", ".tsv")):
        plain = write(table, path.with_name("plain.csv"))
        if path.suffix == ".gz":
            path.write_bytes(gzip.compress(plain.read_bytes()))
        else:
            with (
                open(plain, encoding="utf-8", newline="") as rows,
                open(path, "w", encoding="utf-8", newline="") as out,
            ):
                csv.writer(out, delimiter="\t").writerows(csv.reader(rows))
        return path
    return write(table, path)


@pytest.mark.parametrize("kind", FORMATS)
def test_every_format_in(kind: str, model: Any, tmp_path: Path) -> None:
    table = table_of(2500, seed=1, new_levels=0.1)
    source = write_as(table, tmp_path / f"Überall.{kind}")
    report = score_files(
        model, [source], tmp_path / "o.parquet", proba=True, leaf=True, columns=["id"], n_jobs=2
    )
    out, X = read(tmp_path / "o.parquet"), attributes_of(table)
    assert out["prediction"].to_pylist() == model.predict(X).tolist()
    shares = np.column_stack([out[f"proba_{label}"] for label in model.classes_])
    assert np.array_equal(shares, model.predict_proba(X))
    assert out["leaf"].to_pylist() == model.apply(X).tolist()
    assert [int(number) for number in out["id"].to_pylist()] == table["id"].to_pylist()
    assert report.rows == 2500
    assert [tally.missing for tally in report.columns.values()] == [c.null_count for c in X.columns]


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "parquet", "arrow"])
@pytest.mark.parametrize("source_kind", ["csv", "parquet"])
def test_every_format_out(kind: str, source_kind: str, model: Any, tmp_path: Path) -> None:
    table = table_of(1500, seed=2)
    source = write(table, tmp_path / f"in.{source_kind}")
    path = tmp_path / f"out.{kind}"
    options = {"proba": True, "explain": True, "columns": ["Färbung", "size"]}
    score_files(model, [source], path, **options)
    if kind == "csv.gz":
        path = tmp_path / "unpacked.csv"
        path.write_bytes(gzip.decompress((tmp_path / "out.csv.gz").read_bytes()))
    out, X = read(path), attributes_of(table)
    assert out["prediction"].to_pylist() == model.predict(X).tolist()
    # To the last digit.
    assert np.array_equal(out["proba_yes"].to_numpy(), model.predict_proba(X)[:, 1])
    assert [v or None for v in out["Färbung"].to_pylist()] == table["Färbung"].to_pylist()
    batches: list[Any] = []
    fasttree.score_batches(model, table, batches.append, explain=True)
    assert out["rule"].to_pylist() == pa.Table.from_batches(batches)["rule"].to_pylist()


def test_all_columns_kept_as_they_are(model: Any, tmp_path: Path) -> None:
    table = table_of(300)
    score_files(
        model, [write(table, tmp_path / "in.parquet")], tmp_path / "o.parquet", columns="all"
    )
    assert read(tmp_path / "o.parquet").drop_columns(["prediction"]).equals(table)
    # Text of a CSV file comes out as it went in, whatever it means.
    text = 'size,"count, whole",Färbung,site,id\n 1.50 ,NA,,"",007\n'
    (tmp_path / "in.csv").write_text(text, "utf-8")
    score_files(model, [tmp_path / "in.csv"], tmp_path / "o.csv", columns="all")
    with open(tmp_path / "o.csv", encoding="utf-8") as rows:
        assert next(csv.reader(list(rows)[1:]))[:5] == [" 1.50 ", "NA", "", "", "007"]


def test_rows_of_several_files_in_one(model: Any, tmp_path: Path) -> None:
    tables = [table_of(n, seed=n) for n in (300, 0, 70)]
    paths = [
        write(table, tmp_path / name)
        for table, name in zip(tables, ("a.parquet", "b.arrow", "c.arrow"), strict=True)
    ]
    report = score_files(model, paths, tmp_path / "o.arrow", columns=["id"])
    whole = pa.concat_tables(tables)
    out = read(tmp_path / "o.arrow")
    assert out["prediction"].to_pylist() == model.predict(attributes_of(whole)).tolist()
    assert out["id"].to_pylist() == whole["id"].to_pylist()
    assert [file.rows for file in report.files] == [300, 0, 70]
    other = write(table_of(20).set_column(4, "id", pa.array(["x"] * 20)), tmp_path / "d.parquet")
    with pytest.raises(
        InputError, match=r"d\.parquet: column 'id' has type string, but type int64 in .*a\.parquet"
    ):
        score_files(model, [*paths, other], tmp_path / "p.arrow", columns=["id"])
    assert not (tmp_path / "p.arrow").exists()
    smaller = write(table_of(20).drop_columns(["id"]), tmp_path / "e.parquet")
    with pytest.raises(InputError, match=r"has different columns than .*a\.parquet"):
        score_files(model, [*paths, smaller], tmp_path / "p.arrow", columns="all")


def test_a_file_for_each_in_a_folder(model: Any, tmp_path: Path) -> None:
    paths = [
        write(table_of(50, seed=3), tmp_path / name) for name in ("a.csv", "b.parquet", "c.arrow")
    ]
    score_files(model, paths, f"{tmp_path}/out/")
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == [
        JOURNAL,
        "a.csv",
        "b.parquet",
        "c.arrow",
    ]
    expected = model.predict(attributes_of(table_of(50, seed=3))).tolist()
    for path in paths:
        assert read(tmp_path / "out" / path.name)["prediction"].to_pylist() == expected


def test_a_table_without_rows_gives_one_without_rows(model: Any, tmp_path: Path) -> None:
    for kind in ("csv", "parquet", "arrow", "arrows"):
        source = write(table_of(0), tmp_path / f"empty.{kind}")
        report = score_files(model, [source], tmp_path / "o.parquet", proba=True, force=True)
        assert report.rows == 0
        out = pq.read_table(tmp_path / "o.parquet")
        assert out.column_names == ["prediction", "proba_nö", "proba_yes"]
        assert out.num_rows == 0


def test_only_what_is_needed_is_read(model: Any, tmp_path: Path) -> None:
    """A column that nobody needs may be of a type that nothing else could read."""
    odd = pa.array([{"a": [1, 2]}] * 200)
    table = table_of(200).append_column("odd", odd)
    for kind in ("parquet", "arrow"):
        source = write(table, tmp_path / f"in.{kind}")
        report = score_files(model, [source], tmp_path / f"o.{kind}")
        assert "odd" in report.ignored_columns
        with pytest.raises(OutputError, match="cannot be written as csv"):
            score_files(model, [source], tmp_path / "o.csv", columns=["odd"])
        assert not (tmp_path / "o.csv").exists()


# -- CSV -----------------------------------------------------------------------------------------------------------


@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from(["1", "-0.0", "2.5e3", " 7 ", "+4", "inf", ".5", "1e400"])
            | st.sampled_from(sorted(NULL_SPELLINGS)),
            st.sampled_from(
                ["red", "blue, or so", 'a "quoted" one', "two\nlines", NEW_LEVEL, " red"]
            )
            | st.sampled_from(sorted(NULL_SPELLINGS)),
        ),
        min_size=1,
        max_size=30,
    ),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    ending=st.sampled_from(["\n", "\r\n"]),
    blank=st.booleans(),
    bom=st.booleans(),
)
def test_csv_is_read_as_pythons_reader_reads_it(
    tmp_path_factory: Any,
    rows: list[tuple[str, str]],
    quoting: Any,
    ending: str,
    blank: bool,
    bom: bool,
) -> None:
    folder = tmp_path_factory.mktemp("csv")
    model = fitted(table_of(300), fasttree.TreeClassifier(missing="category"))
    path = folder / "in.csv"
    with open(path, "w", encoding="utf-8-sig" if bom else "utf-8", newline="") as file:
        writer = csv.writer(file, quoting=quoting, lineterminator=ending)
        writer.writerow(["Färbung", "size", "site", "count, whole"])
        for size, colour in rows:
            if blank:
                file.write(ending)
            writer.writerow([colour, size, "north", "3"])
    score_files(model, [path], folder / "o.parquet", proba=True)
    X = {
        "size": [np.nan if size in NULL_SPELLINGS else float(size) for size, _ in rows],
        "count, whole": [3] * len(rows),
        "Färbung": [None if colour in NULL_SPELLINGS else colour for _, colour in rows],
        "site": ["north"] * len(rows),
    }
    X["Färbung"] = pa.array(X["Färbung"], pa.string())
    assert read(folder / "o.parquet")["prediction"].to_pylist() == model.predict(X).tolist()


def test_a_level_is_a_level_even_if_it_looks_missing(tmp_path: Path) -> None:
    table = pa.table({"answer": ["NA", "None", None, "yes"] * 5})
    model = fasttree.TreeClassifier(missing="category").fit(table, ["p", "q", "r", "s"] * 5)
    # The last line is a missing value.
    (tmp_path / "in.csv").write_text("answer\nNA\nNone\nnull\nyes\n\n")
    report = score_files(model, [tmp_path / "in.csv"], tmp_path / "o.csv")
    assert read(tmp_path / "o.csv")["prediction"].to_pylist() == ["p", "q", "r", "s", "r"]
    assert report.columns["answer"].missing == 2


def test_levels_that_are_numbers_and_bools_in_text(tmp_path: Path) -> None:
    table = pa.table({"code": [1, 2, 3, 1], "flag": [True, False, True, False]})
    model = fasttree.TreeClassifier(categorical_features=["code", "flag"]).fit(
        table, ["a", "b", "c", "d"]
    )
    (tmp_path / "in.csv").write_text("flag,code\nTrue,1\nfalse,02\n1,3.0\n0,1\nperhaps,x\n0,0_1\n")
    report = score_files(model, [tmp_path / "in.csv"], tmp_path / "o.csv")
    assert read(tmp_path / "o.csv")["prediction"].to_pylist()[:4] == ["a", "b", "c", "d"]
    assert report.columns["code"].unseen_examples == ["x", "0_1"]
    assert report.columns["flag"].unseen_examples == ["perhaps"]


HEAD = 'size,"count, whole",Färbung,site\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "1,2,red,north\n\n1,2,red\n",
            r"line 4: 3 fields, but the header has 4: .*, or skip such rows \(--lenient\)",
        ),
        (
            '1,2,"two\nlines",north\n1,2,red,north,5\n',
            r"line 4: 5 fields, but the header has 4",
        ),
        (
            "1,2,red,north\n1,many,red,north\n",
            r"line 3: column 'count, whole' contains 'many', which is not a number",
        ),
        (
            '1,2,"two\nlines",north\n\n0x1,2,red,north\n',
            r"line 5: column 'size' contains '0x1', which is not a number",
        ),
        ('1,2,"red,north\n1,2,red,north\n', r"line 2: a quote is opened here but never closed"),
        ('1,2,"red,north\n' + "1,2,red,north\n" * 20_000, r"line 2: a quote is opened here but"),
        ('1,2,"red,north\n' + "1,2,red,north\n" * 900_000, r"line 2: a quote is opened here but"),
        (
            f"1,2,red,north\n1,2,{'x' * 20_000_000},north\n1,2,red,north\n",
            "line 3: the row is 20,000,011 bytes long, which is too long to be read: look for a missing separator,",
        ),
        (
            f'1,2,red,north\n1,2,"{"x" * 20_000_000}",north\n',
            "line 3: the row is 20,000,013 bytes long, which is too long to be read",
        ),
        ("1,2,red,north\n1_000,2,red,north\n", r"line 3: column 'size' contains '1_000'"),
        (
            "1,2,red,north\n2020-01-01,2,red,north\n",
            r"line 3: column 'size' contains '2020-01-01', which is not a number: the model was trained on numbers",
        ),
    ],
)
def test_what_is_wrong_in_a_csv_file(text: str, message: str, model: Any, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text(HEAD + text, "utf-8")
    with pytest.raises(InputError, match=rf"in\.csv, {message}"):
        score_files(model, [tmp_path / "in.csv"], tmp_path / "o.csv")
    assert os.listdir(tmp_path) == ["in.csv"]


def test_a_long_name_in_a_csv_file(model: Any, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("a" * 200_000 + "," + HEAD)
    with pytest.raises(
        InputError, match=r"in\.csv: a name in its first line has more than 131,072"
    ):
        score_files(model, [tmp_path / "in.csv"], tmp_path / "o.csv")
    (tmp_path / "in.csv").write_text('"' + "a,b\n" * 50_000)
    with pytest.raises(
        InputError, match=r"in\.csv, line 1: a quote is opened here but never closed"
    ):
        score_files(model, [tmp_path / "in.csv"], tmp_path / "o.csv")


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_the_last_line_of_a_csv_file_needs_no_end(end: str, model: Any, tmp_path: Path) -> None:
    source, out = tmp_path / "in.csv", tmp_path / "o.csv"
    for n_rows in (0, 1, 2):
        text = "\n".join([HEAD.strip(), *["1,2,red,north"] * n_rows]) + end
        source.write_bytes(text.encode())
        assert score_files(model, [source], out, force=True).rows == n_rows
        assert read(out).num_rows == n_rows
        packed = tmp_path / "in.csv.gz"
        packed.write_bytes(gzip.compress(text.encode()))
        assert score_files(model, [packed], out, force=True).rows == n_rows


def test_an_error_far_into_a_csv_file(model: Any, tmp_path: Path) -> None:
    """Beyond the first blocks, where threads read."""
    rows = ['1.5,2,"two\nlines",north\n'] * 400_000
    rows[377_777] = "1.5,2,red\n"
    path = tmp_path / "in.csv"
    path.write_text(HEAD + "".join(rows), "utf-8")
    with pytest.raises(InputError, match=r"line 755556: 3 fields, but the header has 4"):
        score_files(model, [path], tmp_path / "o.csv", n_jobs=2)
    rows[377_777] = "wide,2,red,north\n"
    path.write_text(HEAD + "".join(rows), "utf-8")
    with pytest.raises(InputError, match=r"line 755556: column 'size' contains 'wide'"):
        score_files(model, [path], tmp_path / "o.csv", n_jobs=2)
    report = score_files(model, [path], tmp_path / "o.csv", n_jobs=2, mode="lenient")
    assert report.columns["size"].unreadable == 1


def test_lenient_leaves_out_broken_rows_and_counts(model: Any, tmp_path: Path) -> None:
    rows = "1,2,red,north\n1,2\nmany,2,red,north\n1,2,red,north,more\n0.5,3,grün,south\n"
    (tmp_path / "in.csv").write_text(HEAD + rows, "utf-8")
    report = score_files(
        model, [tmp_path / "in.csv"], tmp_path / "o.csv", columns=["size"], mode="lenient"
    )
    assert [str(v) for v in read(tmp_path / "o.csv")["size"].to_pylist()] == ["1", "many", "0.5"]
    assert report.rows == 3
    assert report.broken_rows == 2
    assert report.broken_row_examples == ["1,2", "1,2,red,north,more"]
    assert report.columns["size"].unreadable_examples == ["many"]
    assert report.columns["size"].missing == 1
    assert "2 broken rows skipped" in str(report)


def test_text_that_is_not_utf8(model: Any, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_bytes(HEAD.encode() + b"1,2,red,north\n1,2,gr\xfcn,north\n")
    with pytest.raises(
        InputError, match=r"in\.csv, line 3: column 'Färbung' contains bytes that are not"
    ):
        score_files(model, [tmp_path / "in.csv"], tmp_path / "o.csv")
    (tmp_path / "in.csv").write_bytes(HEAD.encode("latin-1"))
    with pytest.raises(InputError, match=r"in\.csv, line 1: it contains bytes that are not UTF-8"):
        score_files(model, [tmp_path / "in.csv"], tmp_path / "o.csv")


def test_a_broken_row_that_is_not_utf8(model: Any, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_bytes(HEAD.encode() + b"1,2,red,north\n\xd8\n1,2,red,north\n")
    with pytest.raises(InputError, match=r"in\.csv, line 3: it contains bytes that are not UTF-8"):
        score_files(model, [tmp_path / "in.csv"], tmp_path / "o.csv")


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
@pytest.mark.parametrize("column", ["red", "1.5"])
def test_columns_of_text_that_is_not_utf8(column: str, kind: str, tmp_path: Path) -> None:
    """In files of columns nobody has looked at it: levels, and text where numbers should be."""
    model = fasttree.TreeClassifier().fit(
        {"a": ["red", "blue"] if column == "red" else [1, 2]}, ["p", "q"]
    )
    source = write(pa.table({"a": [None, column, "blue", column]}), tmp_path / f"in.{kind}")
    whole = source.read_bytes()
    source.write_bytes(whole.replace(column.encode(), column.encode()[:-1] + b"\xff"))
    said = r"in\.parquet, row 1: column 'a' contains b'.*xff', which is not UTF-8: decode it"
    with pytest.raises(InputError, match=said if kind == "parquet" else "Invalid UTF8"):
        score_files(model, [source], tmp_path / "o.csv", mode="lenient")
    assert not (tmp_path / "o.csv").exists()


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_names_that_are_not_utf8(kind: str, model: Any, tmp_path: Path) -> None:
    source = write(table_of(20).rename_columns([*"abcde", "qqqqqqq"]), tmp_path / f"in.{kind}")
    source.write_bytes(source.read_bytes().replace(b"qqqqqqq", b"qqq\xffqqq"))
    with pytest.raises(
        InputError, match=rf"in\.{kind}: a column name is not UTF-8: rename the column"
    ):
        score_files(model, [source], tmp_path / "o.csv")


def test_times_in_text(tmp_path: Path) -> None:
    days = ["1969-07-20", "2024-02-29", None, "2024-02-29T12:30:00", "2024-03-01 00:00:00.000001"]
    times = [None if day is None else datetime.fromisoformat(day) for day in days]
    spans = [None if time is None else time - datetime(2024, 2, 29) for time in times]
    spoken = ["-19947 days", "0 days", "?", "PT12H30M", "1 day 00:00:00.000001"]
    zoned = [f"{day[:10]}T{day[11:] or '00:00'}+00:00" if day else "" for day in days]
    columns: dict[str, tuple[Any, list[Any]]] = {
        "day": (pa.array(times, pa.timestamp("us")), days),
        "zoned": (pa.array(times, pa.timestamp("us", "Asia/Tokyo")), zoned),
        "span": (pa.array(spans, pa.duration("us")), spoken),
    }
    path, out = tmp_path / "in.csv", tmp_path / "out.csv"
    for name, (column, said) in columns.items():
        table = pa.table({name: column})
        model = fasttree.TreeClassifier(missing="category").fit(table, list("abcde"))
        assert model.predict(table).tolist() == list("abcde")
        text = f"{name}\n" + "".join(f"{value or 'NA'}\n" for value in said)
        path.write_text(text)
        score_files(model, [path], out, force=True)
        assert read(out)["prediction"].to_pylist() == list("abcde")
        for odd in ("2023-02-29", "17", "12:30:00.0000001", "1 day or so"):
            path.write_text(text + odd)
            with pytest.raises(
                InputError, match=rf"line 7: column '{name}' contains '{odd}', which is"
            ):
                score_files(model, [path], out, force=True)
            score_files(model, [path], out, force=True, mode="lenient")
            assert read(out)["prediction"].to_pylist() == list("abcdec")


@pytest.mark.parametrize(
    ("kind", "held", "words"),
    [
        (
            pa.timestamp("us"),
            "2024-02-29T12:30Z",
            "not a date .*trained on dates or times without a time zone",
        ),
        (
            pa.timestamp("us", "UTC"),
            "2024-02-29",
            "not a time with a zone.*on times with a time zone",
        ),
        (pa.duration("us"), "2024-02-29", "not a duration.*trained on durations"),
        (pa.float64(), "2024-02-29", "not a number.*trained on numbers"),
    ],
    ids=str,
)
def test_times_in_text_of_another_kind(kind: Any, held: str, words: str, tmp_path: Path) -> None:
    table = pa.table({"x": pa.array([1, 2], pa.int64()).cast(kind)})
    model = fasttree.TreeClassifier().fit(table, ["a", "b"])
    (tmp_path / "in.csv").write_text(f"x\n{held}\n")
    with pytest.raises(
        InputError, match=rf"line 2: column 'x' contains '{held}', which is {words}"
    ):
        score_files(model, [tmp_path / "in.csv"], tmp_path / "o.csv")


def test_times_in_batches_of_another_kind() -> None:
    columns = {
        "dates or times without a time zone": pa.array([1, 2], pa.timestamp("ms")),
        "times with a time zone": pa.array([1, 2], pa.timestamp("us", "Asia/Tokyo")),
        "durations": pa.array([1, 2], pa.duration("s")),
        "numbers": pa.array([1, 2]),
    }
    batches: list[Any] = []
    for then, column in columns.items():
        model = fasttree.TreeClassifier().fit(pa.table({"x": column}), ["a", "b"])
        for now, other in columns.items():
            if now == then:
                fasttree.score_batches(model, pa.table({"x": other}), batches.append)
                continue
            said = rf"'x' contained {then} at fit, but now contains {now}: pass {then}"
            with pytest.raises(InputError, match=said):
                fasttree.score_batches(model, pa.table({"x": other}), batches.append)
        with pytest.raises(InputError, match=f"contains text, .*the model expects {then}"):
            fasttree.score_batches(model, pa.table({"x": ["2024-02-29"]}), batches.append)


def test_another_delimiter(model: Any, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text(
        HEAD.replace('"count, whole"', "count, whole")
        .replace(",Fä", ";Fä")
        .replace("size,", "size;")
        .replace("g,s", "g;s")
        + "1;2;red;north\n",
        "utf-8",
    )
    score_files(model, [tmp_path / "in.csv"], tmp_path / "o.csv", delimiter=";")
    assert read(tmp_path / "o.csv").num_rows == 1
    with pytest.raises(InputError, match="has no column 'size'"):
        score_files(model, [tmp_path / "in.csv"], tmp_path / "p.csv")


def test_a_decimal_comma(tmp_path: Path) -> None:
    """Numbers, and levels that are numbers; where they have a comma, text with a point is none."""
    X = {"a": [0.5, 1.5, 2.5, 3.5], "b": ["x", "y", "x", "y"], "c": [0.5, 1.5, 0.5, 2.5]}
    categories = {"b": None, "c": None}
    model = fasttree.TreeClassifier(categorical_features=categories).fit(X, ["p", "q", "q", "q"])
    rows = "a;b;c\n0,5;x;0,5\n 2,5 ;x;1,5\n-1.#IND;y;NA\n+1e0;y;2.5\n"
    (tmp_path / "in.csv").write_text(rows)
    report = score_files(
        model, [tmp_path / "in.csv"], tmp_path / "o.csv", delimiter=";", decimal=","
    )
    expected = {"a": [0.5, 2.5, None, 1.0], "b": ["x", "x", "y", "y"], "c": [0.5, 1.5, None, 9.0]}
    assert read(tmp_path / "o.csv")["prediction"].to_pylist() == model.predict(expected).tolist()
    assert report.columns["a"].missing == report.columns["c"].missing == 1
    assert report.columns["c"].unseen == 1
    (tmp_path / "in.csv").write_text("a;b;c\n1,5;x;0,5\n1.5;x;0,5\n")
    with pytest.raises(
        InputError, match=r"line 3: column 'a' contains '1\.5', which is not a number"
    ):
        score_files(model, [tmp_path / "in.csv"], tmp_path / "p.csv", delimiter=";", decimal=",")
    with pytest.raises(
        InputError, match="line 2: column 'a' contains '1,5', which is not a number"
    ):
        score_files(model, [tmp_path / "in.csv"], tmp_path / "p.csv", delimiter=";")
    with pytest.raises(ArgumentError, match="decimal must be"):
        score_files(model, [tmp_path / "in.csv"], tmp_path / "p.csv", decimal="'")
    with pytest.raises(ArgumentError, match="delimiter must be a single"):
        score_files(model, [tmp_path / "in.csv"], tmp_path / "p.csv", delimiter="")


# -- files that cannot be read -------------------------------------------------------------------------------------


@on_posix
def test_files_that_are_none(model: Any, tmp_path: Path) -> None:
    def refused(name: str, content: bytes, message: str) -> None:
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError, match=message):
            score_files(model, [tmp_path / name], tmp_path / "o.csv")
        assert not (tmp_path / "o.csv").exists()

    for kind in ("parquet", "arrow"):
        refused(f"empty.{kind}", b"", rf"empty\.{kind} is empty: it has 0 bytes")
    for content in (b"", b"\n\n"):
        message = r"blank\.csv is empty: its first line must contain the column names"
        refused("blank.csv", content, message)
    refused("bad.parquet", b"PAR1 and no more", r"bad\.parquet cannot be read: .*[Pp]arquet")
    refused("bad.arrow", b"ARROW1 and no more", r"bad\.arrow cannot be read: ")
    refused("bad.csv.gz", b"\x1f\x8b and no more", r"bad\.csv\.gz cannot be read")
    whole = write(table_of(3000), tmp_path / "whole.parquet").read_bytes()
    broken = bytearray(whole)
    broken[200:2000] = bytes(1800)
    refused("broken.parquet", bytes(broken), r"broken\.parquet cannot be read: ")
    packed = gzip.compress(write(table_of(50_000), tmp_path / "whole.csv").read_bytes())
    refused("cut.csv.gz", packed[: len(packed) // 2], r"cut\.csv\.gz")
    with pytest.raises(InputError, match=r"none\.csv does not exist"):
        score_files(model, [tmp_path / "none.csv"], tmp_path / "o.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InputError, match="/dev/null is not a regular file"):
        score_files(model, ["/dev/null"], tmp_path / "o.csv", input_format="csv")
    with pytest.raises(InputError, match=r"folder\.csv is a folder without data files"):
        score_files(model, [tmp_path / "folder.csv"], tmp_path / "o.csv")


def test_arrow_files_are_looked_at_before_they_are_read(tmp_path: Path) -> None:
    """Arrow itself reads them as they are. Texts that end before they begin crashed the process."""
    model = fasttree.TreeClassifier().fit({"word": ["a", "b"]}, [0, 1])
    offsets = np.arange(3, dtype=np.int32)
    text = pa.Array.from_buffers(
        pa.string(), 2, [None, pa.py_buffer(offsets), pa.py_buffer(b"letters")]
    )
    places = np.zeros(2, dtype=np.int8)
    places_of = pa.Array.from_buffers(pa.int8(), 2, [None, pa.py_buffer(places)])
    coded = pa.DictionaryArray.from_arrays(places_of, pa.array(["a", "b"]))
    offsets[:], places[:] = [0, -(10**9), 2], [0, 100]
    for column in (text, coded):
        batch = pa.record_batch({"word": column})
        for ending, writer in (("arrow", pa.ipc.new_file), ("arrows", pa.ipc.new_stream)):
            path = tmp_path / f"damaged.{ending}"
            with writer(path, batch.schema) as file:
                file.write_batch(batch)
            with pytest.raises(InputError, match=rf"damaged\.{ending} cannot be read: .*"):
                score_files(model, [path], tmp_path / "o.csv")
            assert not (tmp_path / "o.csv").exists()


def test_arguments_that_make_no_sense(model: Any, tmp_path: Path) -> None:
    source = write(table_of(10), tmp_path / "in.csv")
    (tmp_path / "sub").mkdir()
    twin = write(table_of(10), tmp_path / "sub" / "in.csv")
    with pytest.raises(ArgumentError, match="inputs is empty"):
        score_files(model, [], tmp_path / "o.csv")
    with pytest.raises(ArgumentError, match=r"o\.xls: the extension is not that of a known format"):
        score_files(model, [source], tmp_path / "o.xls")
    with pytest.raises(
        ArgumentError, match="format must be one of 'csv', 'parquet', 'arrow', got 'xls'"
    ):
        score_files(model, [source], tmp_path / "o.csv", input_format="xls")
    with pytest.raises(ArgumentError, match="would both be written to"):
        score_files(model, [source, twin], f"{tmp_path}/out/")
    assert not (tmp_path / "out").exists()


# -- outputs -------------------------------------------------------------------------------------------------------


def test_an_output_that_exists(model: Any, tmp_path: Path) -> None:
    source, out = write(table_of(50), tmp_path / "in.csv"), tmp_path / "o.csv"
    out.write_text("mine")
    with pytest.raises(
        OutputError,
        match=r"o\.csv already exists: choose another name, or overwrite it \(--force\)",
    ):
        score_files(model, [source], out)
    with pytest.raises(
        OutputError, match="already exists and is not recorded as the output of an earlier run"
    ):
        score_files(model, [source], out, resume=True)
    assert out.read_text() == "mine"
    score_files(model, [source], out, force=True)
    assert read(out).num_rows == 50


@on_posix
def test_outputs_that_must_not_be_written(model: Any, tmp_path: Path) -> None:
    source = write(table_of(50), tmp_path / "in.csv")
    before = source.read_bytes()
    with pytest.raises(OutputError, match=r"in\.csv is also an input"):
        score_files(model, [source], source, force=True)
    (tmp_path / "link.csv").symlink_to(source)
    with pytest.raises(OutputError, match=r"link\.csv is also an input"):
        score_files(model, [source], tmp_path / "link.csv", force=True)
    assert source.read_bytes() == before
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(OutputError, match=r"pipe\.csv is not a regular file"):
        score_files(model, [source], tmp_path / "pipe.csv", force=True)
    with pytest.raises(OutputError, match=r"cannot be written: .*the directory .* does not exist"):
        score_files(model, [source], tmp_path / "none" / "o.csv")


@on_posix
@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("moment", ["open", "fstat", "chmod", "fsync", "replace"])
def test_ctrl_c_at_any_moment_leaves_no_file(
    moment: str, before: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "out.txt").write_text("old")
    original = getattr(os, moment)

    def interrupted(*args: Any, **kwargs: Any) -> None:
        if not before:
            original(*args, **kwargs)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, moment, interrupted)
        with pytest.raises(KeyboardInterrupt):
            write_whole(tmp_path / "out.txt", "new")
    assert os.listdir(tmp_path) == ["out.txt"]
    is_new = moment == "replace" and not before  # it was whole by then
    assert (tmp_path / "out.txt").read_text() == ("new" if is_new else "old")


def test_a_link_stays_a_link(model: Any, tmp_path: Path) -> None:
    source = write(table_of(50), tmp_path / "in.csv")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "o.csv").symlink_to(tmp_path / "elsewhere" / "real.csv")
    score_files(model, [source], tmp_path / "o.csv")
    assert (tmp_path / "o.csv").is_symlink()
    assert read(tmp_path / "elsewhere" / "real.csv").num_rows == 50


@pytest.mark.parametrize("kind", ["csv", "parquet", "arrow"])
def test_a_failed_run_leaves_what_was_there(kind: str, model: Any, tmp_path: Path) -> None:
    good = write(table_of(90_000), tmp_path / f"good.{kind}")
    bad = tmp_path / "bad.csv"
    bad.write_text(HEAD + "wide,2,red,north\n", "utf-8")
    out = tmp_path / f"o.{kind}"
    out.write_text("mine")
    with pytest.raises(InputError, match="wide"):
        score_files(model, [good, bad], out, force=True)
    assert out.read_text() == "mine"
    assert sorted(os.listdir(tmp_path)) == sorted([good.name, "bad.csv", out.name])


def limited(
    arguments: list[str], megabytes: float, **options: Any
) -> subprocess.CompletedProcess[str]:
    """Run the command in a process whose files cannot be larger."""
    code = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({int(megabytes * 1e6)},) * 2); {CHILD}"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        check=False,
        **options,
    )


@on_posix
@pytest.mark.parametrize("kind", ["csv", "parquet", "arrow"])
def test_a_disk_without_room(kind: str, model: Any, tmp_path: Path) -> None:
    table = table_of(100_000)
    source = write(table, tmp_path / "in.parquet", 50_000)
    model.save(tmp_path / "m.model")
    out = tmp_path / f"o.{kind}"
    words = [
        "score",
        str(tmp_path / "m.model"),
        str(source),
        "-o",
        str(out),
        "--columns",
        "all",
        "-q",
    ]
    found = limited(words, 0.2)
    assert found.returncode == 5, found.stderr
    assert f"{out} cannot be written: File too large" in found.stderr
    assert sorted(os.listdir(tmp_path)) == ["in.parquet", "m.model"]
    assert limited(words, 100).returncode == 0


# -- killed and resumed --------------------------------------------------------------------------------------------


def test_resume_keeps_what_is_done(model: Any, tmp_path: Path) -> None:
    paths = [write(table_of(80, seed=n), tmp_path / f"{n}.csv") for n in range(4)]
    out = tmp_path / "out"

    def run(paths: list[Path], model: Any = model, **options: Any) -> list[str]:
        report = score_files(model, paths, f"{out}/", resume=True, **options)
        return [file.status for file in report.files]

    assert run(paths[:2]) == ["scored"] * 2
    first = (out / "0.csv").stat()
    assert run(paths) == ["kept"] * 2 + ["scored"] * 2
    assert (out / "0.csv").stat().st_ino == first.st_ino
    assert run(paths) == ["kept"] * 4
    assert run(paths, proba=True) == ["scored"] * 4  # with other options
    other = fitted(table_of(300, seed=8))
    assert run(paths, other) == ["scored"] * 4  # by another model
    write(table_of(81, seed=2), paths[2])
    assert run(paths, other) == ["kept", "kept", "scored", "kept"]  # of an input that has changed
    (out / "3.csv").unlink()
    assert run(paths, other) == ["kept"] * 3 + ["scored"]
    (out / "1.csv").write_text("mine")
    with pytest.raises(
        OutputError,
        match=r"1\.csv already exists and is not recorded as the output of an earlier run",
    ):
        run(paths, other)
    assert (out / "1.csv").read_text() == "mine"
    assert run(paths, other, force=True) == ["kept", "scored", "kept", "kept"]


def test_killed_between_the_journal_and_the_name(
    model: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, out = write(table_of(50), tmp_path / "in.csv"), tmp_path / "o.csv"

    def die(*_: Any) -> None:
        raise KeyboardInterrupt

    for n_rows in (50, 60):  # first with nothing there, then with an older output
        write(table_of(n_rows), source)
        with monkeypatch.context() as patch:
            patch.setattr("fasttree.base.atomic.os.replace", die)
            with pytest.raises(KeyboardInterrupt):
                score_files(model, [source], out, resume=True)
        assert out.exists() == (n_rows == 60)
        assert score_files(model, [source], out, resume=True).files[0].status == "scored"
        assert read(out).num_rows == n_rows
        assert score_files(model, [source], out, resume=True).files[0].status == "kept"


def test_a_journal_that_a_killed_run_has_torn(model: Any, tmp_path: Path) -> None:
    source, out = write(table_of(50), tmp_path / "in.csv"), tmp_path / "o.csv"
    score_files(model, [source], out, resume=True)
    journal = tmp_path / JOURNAL
    lines = journal.read_text()
    torn = '[1]\n{"output": "o.csv"}\n' + lines.strip()[:25]
    journal.write_bytes(lines.encode() + b"\xff\n" + torn.encode())
    assert score_files(model, [source], out, resume=True).files[0].status == "kept"
    other = write(table_of(50), tmp_path / "other.csv")
    score_files(model, [other], tmp_path / "p.csv", resume=True)
    assert score_files(model, [other], tmp_path / "p.csv", resume=True).files[0].status == "kept"
    journal.write_text(lines.strip()[:25])
    with pytest.raises(OutputError, match="exists"):
        score_files(model, [source], out, resume=True)


def killed(arguments: list[str], folder: Path, seconds: float) -> bool:
    """Kill the command some time after it has begun to write; False if it was faster."""
    child = subprocess.Popen([sys.executable, "-c", CHILD, *arguments], stderr=subprocess.DEVNULL)
    known = set(folder.glob(".*.part"))
    while child.poll() is None and set(folder.glob(".*.part")) <= known:
        time.sleep(0.001)
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.wait(seconds)
    child.send_signal(signal.SIGKILL)
    return child.wait() == -signal.SIGKILL


@on_posix
def test_killed_at_any_moment_there_is_no_half_output(model: Any, tmp_path: Path) -> None:
    table = table_of(150_000)
    source = write(table, tmp_path / "in.parquet", 50_000)
    model.save(tmp_path / "m.model")
    out = tmp_path / "out"
    words = [
        "score",
        str(tmp_path / "m.model"),
        str(source),
        "-o",
        f"{out}/",
        "--columns",
        "all",
        "--resume",
        "-q",
    ]
    subprocess.run([sys.executable, "-c", CHILD, *words], check=True)
    expected = read(out / "in.parquet")
    assert expected["prediction"].to_pylist() == model.predict(attributes_of(table)).tolist()
    n_killed = 0
    for moment in [0.0, *np.random.default_rng().uniform(0, 0.5, 3)]:
        for path in out.iterdir():
            if path.name in ("in.parquet", JOURNAL):
                path.unlink()
        n_killed += killed(words, out, moment)
        if (out / "in.parquet").exists():
            assert read(out / "in.parquet").equals(expected)
    subprocess.run([sys.executable, "-c", CHILD, *words], check=True)
    assert sorted(os.listdir(out)) == [
        JOURNAL,
        "in.parquet",
    ]  # what the killed ones had left is gone
    assert read(out / "in.parquet").equals(expected)
    assert n_killed


@on_posix
def test_only_regular_files_are_replaced(tmp_path: Path) -> None:
    """A device or a pipe would become a file, for everybody."""
    pipe, socket_name, device = (tmp_path / name for name in ("pipe", "socket", "null"))
    os.mkfifo(pipe)
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(os.fspath(socket_name))
    taken = [pipe, socket_name]
    with contextlib.suppress(PermissionError):  # for root alone
        os.mknod(device, stat.S_IFCHR | 0o666, os.stat(os.devnull).st_rdev)
        taken.append(device)
    link = tmp_path / "link"
    link.symlink_to(pipe)
    before = {path.name: path.lstat().st_mode for path in tmp_path.iterdir()}
    for path in (*taken, link):
        with pytest.raises(FileExistsError, match=f"{path} is not a regular file: write to"):
            write_whole(path, "content")
    assert {path.name: path.lstat().st_mode for path in tmp_path.iterdir()} == before


@on_posix
def test_only_files_that_nobody_writes_are_leftovers(tmp_path: Path) -> None:
    target = tmp_path / "o.csv"
    dead = tmp_path / ".o.csv.0123456789ab.part"
    dead.write_text("left by a killed run")
    others = [
        tmp_path / name
        for name in ("o.csv.part", ".o.csv.mine.part", ".other.csv.0123456789ab.part")
    ]
    for path in others:
        path.write_text("not ours")
    with atomic_file(target) as outer:
        assert not dead.exists()
        outer.write(b"outer")
        busy = next(
            path
            for path in tmp_path.iterdir()
            if path.stat().st_ino == os.fstat(outer.fileno()).st_ino
        )
        with atomic_file(target) as inner:  # another run of the same command
            inner.write(b"inner")
            assert busy.exists()
        assert target.read_bytes() == b"inner"
    assert target.read_bytes() == b"outer"
    assert sorted(os.listdir(tmp_path)) == sorted([target.name, *(path.name for path in others)])


@on_posix
def test_a_file_that_is_taken_for_a_leftover_is_made_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Between the moments in which it is made and locked another run may remove it."""
    import fcntl

    flock, removed = fcntl.flock, []

    def remove_first(file: Any, how: int) -> None:
        if not removed:
            removed.append(next(tmp_path.glob(".o.csv.*.part")))
            removed[0].unlink()
        flock(file, how)

    monkeypatch.setattr("fcntl.flock", remove_first)
    with atomic_file(tmp_path / "o.csv") as file:
        file.write(b"whole")
    assert removed
    assert (tmp_path / "o.csv").read_bytes() == b"whole"


# -- memory --------------------------------------------------------------------------------------------------------

# The process's own memory, which is what can run out: not the pages of a mapped file, nor (as ru_maxrss has it on
# Linux) what the parent had when it forked. Where the system does not tell, ru_maxrss must do.
MEASURED = """
import json, os, re, resource, sys, threading, time
import fasttree
from fasttree.batch import score_files
source, target, model = sys.argv[1:]
model = fasttree.load(model)
peak, done = 0, False

def watch():
    global peak
    while not done:
        peak = max(peak, int(re.search(r"RssAnon:\\s*(\\d+) kB", open(STATUS).read())[1]))
        time.sleep(0.002)

STATUS = "/proc/self/status"
watcher = threading.Thread(target=watch)
if os.path.exists(STATUS):
    watcher.start()
report = score_files(model, [source], target, proba=True, explain=True, columns="all", n_jobs=2)
done = True
if not os.path.exists(STATUS):
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps([report.rows, peak / 1024]))
"""


@on_posix
@pytest.mark.parametrize("kind", ["parquet", "csv", "arrow"])
def test_memory_does_not_grow_with_the_file(kind: str, model: Any, tmp_path: Path) -> None:
    """A file is read in parts, also if it is a single row group or batch."""
    model.save(tmp_path / "m.model")
    # Both so large that reading is as far ahead of writing as it may be; how soon it is, is for the threads to say.
    small, large = (_measured(kind, n_rows, tmp_path) for n_rows in (3_600_000, 7_200_000))
    assert large < 600
    assert large - small < 120


def _measured(kind: str, n_rows: int, folder: Path) -> float:
    """The megabytes that scoring so many rows takes."""
    source, target = folder / f"{n_rows}.{kind}", folder / f"o.{kind}"
    if not source.exists():
        table = table_of(300_000)
        table = pa.concat_tables([table] * (n_rows // len(table))).combine_chunks()
        write(table, source, n_rows if kind == "parquet" else 65_536)
    words = [sys.executable, "-c", MEASURED, str(source), str(target), str(folder / "m.model")]
    found = subprocess.run(words, check=True, capture_output=True, text=True)
    target.unlink()
    rows, peak = json.loads(found.stdout)
    assert rows == n_rows
    return peak


def test_a_source_says_how_far_it_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("fasttree.files.csv_file.BLOCK_BYTES", 100_000)
    source = CsvSource(write(table_of(200_000), tmp_path / "in.csv"))
    source.open(["size"], [])
    shares = [source.done() for _ in source.batches(False, True)]
    assert shares == sorted(shares)
    assert 0 < shares[0] < 1
    assert source.done() == 1
    source.close()
