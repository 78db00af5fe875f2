# SPDX-License-Identifier: BSD-3-Clause
"""Data files become the tables that they are."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from commands import patients
from pyarrow import csv, feather, parquet

from fasttree.cli.error_handling import _explained
from fasttree.cli.exit_codes import BAD_DATA
from fasttree.files.csv_style import CsvStyle
from fasttree.files.csv_tables import check_decimals
from fasttree.files.errors import FileKindError, TableError
from fasttree.files.tables import read_table


def written(tmp_path: Path, text: str | bytes, name: str = "t.csv") -> Path:
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@pytest.mark.parametrize(
    "name", ["t.csv", "t.tsv", "t.csv.gz", "T.CSV", "t.parquet", "t.pq", "t.feather", "t.arrow"]
)
def test_every_kind_of_file_holds_the_same_table(tmp_path: Path, name: str) -> None:
    table, path = patients(50), tmp_path / name
    kind = name.lower().removesuffix(".gz").rpartition(".")[2]
    if kind in ("csv", "tsv"):
        options = csv.WriteOptions(delimiter="," if kind == "csv" else "\t")
        with gzip.open(path, "wb") if name.endswith(".gz") else open(path, "wb") as file:
            csv.write_csv(table, file, options)
    elif kind in ("parquet", "pq"):
        parquet.write_table(table, path)
    else:
        feather.write_feather(table, path)
    assert read_table(path).to_pydict() == table.to_pydict()


def test_a_column_that_is_text_somewhere_is_text(tmp_path: Path) -> None:
    """Also if the text comes long after the block that Arrow would look at."""
    rows = [f"{n},{n}" for n in range(300_000)]
    path = written(tmp_path, "a,b\n" + "\n".join(rows) + "\nx,1.5\n")
    table = read_table(path)
    assert path.stat().st_size > 3 * 2**20
    assert table.schema.types == [pa.string(), pa.float64()]
    assert table["a"][0].as_py() == "0"
    assert table["a"][-1].as_py() == "x"


@pytest.mark.parametrize("word", ["", "?", "NA", "N/A", "NaN", "NULL", "None", '""'])
def test_missing_values(tmp_path: Path, word: str) -> None:
    table = read_table(written(tmp_path, f"n,t,x\n1,a,1\n{word},{word},1\n3,c,1\n"))
    assert table["n"].to_pylist() == [1, None, 3]
    assert table["t"].to_pylist() == ["a", None, "c"]


def test_words_for_truth_stay_words_and_named_columns_stay_text(tmp_path: Path) -> None:
    path = written(tmp_path, "b,zip,day\nTRUE,007,2020-01-01\nFALSE,010,2021-02-03\n")
    table = read_table(path, as_text=["zip"])
    assert table["b"].to_pylist() == ["TRUE", "FALSE"]
    assert table["zip"].to_pylist() == ["007", "010"]
    assert pa.types.is_temporal(table["day"].type)


def test_quotes_newlines_blank_lines_and_a_byte_order_mark(tmp_path: Path) -> None:
    text = '\ufeffa,b\n"x, y\nz ""q""",1\n\n5\' 6,2\n'
    assert read_table(written(tmp_path, text)).to_pydict() == {
        "a": ['x, y\nz "q"', "5' 6"],
        "b": [1, 2],
    }


def test_a_quote_inside_a_value_is_no_error(tmp_path: Path) -> None:
    assert read_table(written(tmp_path, 'a,b\n5" pipe,1\n'))["a"].to_pylist() == ['5" pipe']


@pytest.mark.parametrize(("said", "sign"), [(";", ";"), ("\\t", "\t"), ("tab", "\t"), (" ", " ")])
def test_another_delimiter(tmp_path: Path, said: str, sign: str) -> None:
    path = written(tmp_path, "a,b\n1,x\n2,y\n".replace(",", sign), "t.csv")
    found = read_table(path, style=CsvStyle(said))
    assert found.to_pydict() == {"a": [1, 2], "b": ["x", "y"]}


@pytest.mark.parametrize(
    ("name", "sign"),
    [("t.csv", ","), ("t.tsv", "\t"), ("T.TAB", "\t"), ("t.tsv.gz", "\t"), ("my.tsv.csv", ",")],
)
def test_the_ending_names_the_usual_delimiter(name: str, sign: str) -> None:
    assert CsvStyle().delimiter_of(Path(name)) == sign
    assert CsvStyle(";").delimiter_of(Path(name)) == ";"


def test_a_decimal_comma(tmp_path: Path) -> None:
    path = written(tmp_path, "a;b;c;d\n1,5;-,25;1.5;x\n2;1,5e3;2,5;y\nNA;?;;z\n")
    found = read_table(path, style=CsvStyle(";", ","))
    assert found["a"].to_pylist() == [1.5, 2.0, None]
    assert found["b"].to_pylist() == [-0.25, 1500.0, None]
    assert found["c"].to_pylist() == ["1.5", "2,5", None]  # somewhere it is no number


def test_text_that_may_be_numbers_with_a_decimal_comma(tmp_path: Path) -> None:
    path = written(tmp_path, 'a,b,c\n"1,5",1,"1,2,3"\n2,,"4,5"\n,3,"6,7"\n')
    table = read_table(path)
    with pytest.raises(TableError, match="column 'a' contains text such as '1,5'"):
        check_decimals(table, [], None, path)
    check_decimals(table, ["a"], None, path)
    check_decimals(table, [], CsvStyle(decimal=","), path)


def test_large_numbers_are_what_they_are(tmp_path: Path) -> None:
    """A float may be large; a whole number of that size would be rounded without a word."""
    path = written(tmp_path, "a,b\n1e30,1\ninf,2\n-Infinity,3\n,4\n12345678901234567890.5,5\n")
    a = read_table(path)["a"].to_pylist()
    assert a == [1e30, float("inf"), float("-inf"), None, 12345678901234567890.5]
    path = written(tmp_path, "a,b\n123456789012345678901,1.5\n2,1e300\n")
    with pytest.raises(TableError, match=r"'a' contains the integer 123456789012345678901, .*--c"):
        read_table(path)
    assert read_table(path, ["a"])["a"].to_pylist() == ["123456789012345678901", "2"]
    for number in ("1e400", "-1e999", "1" + "0" * 400 + ".0"):
        with pytest.raises(TableError, match=r"'b' contains .*, but numbers must be within"):
            read_table(written(tmp_path, f"a,b\n1,2.5\n2,{number}\n"))


@pytest.mark.parametrize(
    ("content", "name", "words"),
    [
        ("", "t.csv", "is empty"),
        ("\n\n", "t.csv", "is empty"),
        ("a,b\n", "t.csv", "2 columns, but no rows"),
        ("a,b\n1,2\n\n3\n", "t.csv", "line 4: 1 field, but the header has 2"),
        ('a,b\n"x\ny",2\n1,2,3\n', "t.csv", "line 4: 3 fields, but the header has 2"),
        ('a,b\n1,2\n3,"x\n4,5\n', "t.csv", "line 3: a quote is opened here but never closed"),
        ("a,a\n1,2\n", "t.csv", "two columns are named 'a'"),
        (
            b"\xe4,b\n1,x\n",
            "t.csv",
            "line 1: it contains bytes that are not UTF-8: save the file as",
        ),
        ("a,b\n1,x\n".encode("utf-16"), "t.csv", "line 1: it contains bytes that are not UTF-8"),
        ("a,b\n1,x\n".encode("utf-16"), "t.csv", "`iconv -f utf-16 -t utf-8`"),
        (b"a,b\n1,x\n2,\xff\n", "t.csv", "line 3: column 'b' contains bytes that are not UTF-8"),
        ("a,b\n1,2\n", "t.parquet", "cannot be read as .parquet"),
        (b"PAR1", "t.parquet", "cannot be read as .parquet"),
        ("a,b\n1,2\n", "t.feather", "cannot be read as .feather"),
        (b"\x1f\x8b nonsense", "t.csv.gz", "cannot be read as .csv"),
    ],
)
def test_broken_files(tmp_path: Path, content: str | bytes, name: str, words: str) -> None:
    path = written(tmp_path, content, name)
    with pytest.raises(TableError) as error:
        read_table(path)
    assert words in str(error.value)
    assert str(path) in str(error.value)
    assert _explained(error.value)[1] == BAD_DATA


def test_a_feather_file_whose_texts_lie_elsewhere(tmp_path: Path) -> None:
    offsets = np.arange(3, dtype=np.int32)
    column = pa.Array.from_buffers(
        pa.string(), 2, [None, pa.py_buffer(offsets), pa.py_buffer(b"letters")]
    )
    offsets[:] = [0, -(10**9), 2]
    batch = pa.record_batch({"word": column})
    with pa.ipc.new_file(tmp_path / "t.feather", batch.schema) as file:
        file.write_batch(batch)
    with pytest.raises(TableError, match=r"t\.feather cannot be read as \.feather: "):
        read_table(tmp_path / "t.feather")


def test_a_parquet_file_without_rows(tmp_path: Path) -> None:
    parquet.write_table(patients(5).slice(0, 0), tmp_path / "t.parquet")
    with pytest.raises(TableError, match="5 columns, but no rows"):
        read_table(tmp_path / "t.parquet")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.feather"])
def test_a_pipe_is_no_file(name: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / name)
    with pytest.raises(TableError, match=rf"{name} is not a regular file"):
        read_table(tmp_path / name)


def test_files_that_are_not_there_or_not_known(tmp_path: Path) -> None:
    with pytest.raises(TableError, match="no such file"):
        read_table(tmp_path / "t.csv")
    with pytest.raises(TableError, match="is a directory"):
        read_table(_folder(tmp_path / "folder.csv"))
    with pytest.raises(FileKindError, match=r"'\.xlsx' is not supported"):
        read_table(tmp_path / "t.xlsx")
    with pytest.raises(FileKindError, match="The name has no extension"):
        read_table(tmp_path / "t")


def _folder(path: Path) -> Path:
    path.mkdir()
    return path
