# SPDX-License-Identifier: BSD-3-Clause
"""A CSV file means the same when a model is trained on it and when it is scored: values, missing cells, errors."""

from __future__ import annotations

import random
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from csv_signs import hostile_csv

from fasttree.base.times import DATETIME, INSTANT
from fasttree.files.csv_style import USUAL, CsvStyle
from fasttree.files.errors import InputError, check_names
from fasttree.files.readers import open_source
from fasttree.files.tables import read_table
from fasttree.files.text import NULL_SPELLINGS, numbers_of_text, times_of_text
from fasttree.tables.columns import read_column

LENIENT = ", or skip such rows (--lenient)"  # a remedy that only scoring has
NO_ROWS = "but no rows: add at least one row"  # nothing to train on, but a table that can be scored
MARK = b"\xef\xbb\xbf"
HOSTILE = {
    "a byte order mark": MARK + b"a,b\n1,x\n",
    "a byte order mark and quotes": MARK + b'"a\nb",c\n1,x\n',
    "two byte order marks": MARK + MARK + b"a,b\n1,x\n",
    "a byte order mark alone": MARK,
    "a byte order mark and a blank line": MARK + b"\na\n1\n",
    "Windows": b"a,b\r\n1,x\r\n\r\n2,y\r\n",
    "old Macintosh": b"a,b\r1,x\r2,y\r",
    "mixed ends of lines": b"a,b\n1,x\r\n2,y\r3,z\n",
    "UTF-16": "a,b\n1,x\n".encode("utf-16"),
    "UTF-16 without a mark": "a,b\n1,x\n".encode("utf-16-le"),
    "UTF-32": "a,b\n1,x\n".encode("utf-32"),
    "Latin 1": b"a,b\n1,x\n2,\xe4\n",
    "Latin 1 in two columns": b"a,b\n1,\xe4\n\xe4,x\n",
    "Latin 1 in the names": b"\xe4,b\n1,x\n",
    "Latin 1 beyond a row of one value": b"a,b\n1\n2,\xe4\n",
    "Latin 1 in a row of one value": b"a,b\n1,x\n\xe4\n",
    "half a sign at the end": b"a,b\n1,\xc3",
    "a surrogate": b"a,b\n1,\xed\xa0\x80\n",
    "NUL in a value": b"a,b\n1,x\0y\n2,\0\n",
    "NUL in a number": b"a,b\n1\0,x\n2,y\n",
    "NUL in a name": b"a\0,b\n1,x\n",
    "NUL in a line": b"a,b\n\0\n1,x\n",
    "nothing": b"",
    "blank lines": b"\n\r\n",
    "a space": b" \n",
    "names": b"a,b\n",
    "names without an end": b"a,b",
    "blank lines before the names": b"\n\na,b\n1,x\n",
    "one column, a blank line": b"a\n1\n\n2\n",
    "one column, a blank line at the end": b"a\n1\n\n",
    "one column, blank lines before its name": b"\n\r\na\n1\n",
    "one column, blank lines alone": b"a\n\n\n",
    "one column, quotes": b'a\n1\n""\n2\n',
    "a row of one value": b"a,b\n1,x\n\n2\n",
    "a row of three values": b"a,b\n1,x\n2,y,\n",
    "a row of one value without an end": b"a,b\n1,x\n2",
    "a line of spaces": b"a,b\n  \n1,x\n",
    "another delimiter": b"a;b\n1;x\n2,5;y\n",
    "equal names": b"a,a\n1,2\n",
    "names without letters": b",\n1,2\n",
    "a name with spaces": b" a , b\n1,x\n",
    "an open quote": b'a,b\n1,"x\n2,y\n3,z\n',
    "an open quote after rows": b'a,b\n1,x\n"2,y\n3,z\n',
    "an open quote in the names": b'"a,b\n1,x\n2,y\n',
    "an open quote at the end": b'a,b\n1,x\n2,"',
    "an open quote beyond a row of one value": b'a,b\n1\n2,"x\n3,y\n',
    "an open quote beyond other quotes": b'a,b\n1,"x"y\n2,"z\n',
    "quotes within values": b'a,b\n1,5" pipe\n2,"x"y\n3, "z"\n4,"p""q"\n5,"r\\"\n',
    "lines within quotes": b'a,b\n1,"x\r\ny"\n2,"\n"\n',
    "a value of 200 kB": b"a,b\n1," + b"x" * 200_000 + b"\n2,y\n",
    "a value of 200 kB before a row of three": b"a,b\n1," + b"x" * 200_000 + b"\n1,2,3\n",
    "a value of 3 MB": b"a,b\n1," + b"x" * 3_000_000 + b"\n2,y\n",
    "a quoted value of 3 MB": b'a,b\n1,"' + b"x,\n" * 1_000_000 + b'"\n2,y\n',
    "a value of 20 MB": b"a,b\n1,x\n2," + b"x" * 20_000_000 + b"\n3,y\n",
    "a name of 200 kB": b"x" * 200_000 + b",b\n1,2\n",
    "names of 5 MB": b",".join(b"%d" % n * 50 for n in range(20_000)) + b"\n",
    "a name of 5 MB": b"x" * 5_000_000,
    "signs that end lines elsewhere": "a,b\n1,x\u2028y\n2,x\x0cy\x0bz\x85\n".encode(),
    "the end of a file in DOS": b"a,b\n1,x\n\x1a",
    "missing values": b'a,b\n1,x\n,\nNA,"NA"\n?,nan\n"",NULL\n',
}  # fmt: skip
CELLS = [
    "1", "+4", "-0", " 7 ", "\t7", "1.", ".5", "-.5", "1e3", "1E+3", "1e", "--1", "1 2", "007", "1d",
    "inf", "-Infinity", "nan", "NAN", "-nan", "nan(1)", "0x1", "-0x1", "0X1F", "0x1p3", "1_000", "1,5", "1.5",
    "1e-400", "9007199254740993", "9223372036854775807", "\u0661", "\xa07", "TRUE", "1%", "$1", " ", " NA ", "na",
    *sorted(NULL_SPELLINGS),
    "2020-01-01", " 2020-01-01", "2020-01-01 12:30", "2020-01-01T12:30:45.5", "2020-01-01T12:30Z", "2020-02-30",
    "2020-01-01 12:30:45.123456", "0001-01-01", "20200101", "2020-1-1", "12:30", "1969-12-31 23:59:59.9",
]  # fmt: skip


def trained_on(path: Path, style: CsvStyle = USUAL) -> Any:
    """The table, or what is wrong with it."""
    try:
        return read_table(path, style=style)
    except InputError as error:
        return str(error)


def scored(path: Path, style: CsvStyle = USUAL) -> Any:
    try:
        with closing(open_source(path, None, style)) as source:
            check_names(source.names, str(path))  # as for every table that is scored
            schema = source.open(source.names, [])
            return pa.Table.from_batches(source.batches(False, False), schema)
    except InputError as error:
        return str(error)


def check_both_ways(path: Path, style: CsvStyle = USUAL) -> bool:
    """Whether there is a table: then the same one."""
    training, scoring = trained_on(path, style), scored(path, style)
    if isinstance(scoring, str):
        assert training == scoring.replace(LENIENT, "")
        return False
    if isinstance(training, str):
        # Numbers that no threshold can separate from others may be scored.
        allowed = (NO_ROWS,) if not len(scoring) else ("contains the integer", "must be within")
        assert any(words in training for words in allowed), training
        return False
    names = scoring.column_names
    assert training.column_names == names
    assert len(training) == len(scoring)
    for name in names:
        check_column(training[name], scoring[name].combine_chunks(), style)
    return True


def check_column(training: Any, text: Any, style: CsvStyle) -> None:
    """Whatever type training has found in a column, each of its cells is of that type when it is scored; what is text
    cannot be scored as numbers."""
    kind = training.type
    if pa.types.is_string(kind):
        words = [None if word in NULL_SPELLINGS else word for word in text.to_pylist()]
        assert training.to_pylist() == words
        assert numbers_of_text(text, style.decimal)[1].any()
        return
    if pa.types.is_null(kind):
        assert np.isnan(numbers_of_text(text, style.decimal)[0]).all()
        return
    if pa.types.is_time(kind):  # which no model takes
        return
    if pa.types.is_temporal(kind):
        zoned = getattr(kind, "tz", None) is not None
        values, unreadable = times_of_text(text, INSTANT if zoned else DATETIME)
    else:
        values, unreadable = numbers_of_text(text, style.decimal)
    if pa.types.is_temporal(kind) and unreadable.any():
        with pytest.raises(ValueError, match="finer than a microsecond"):
            read_column("the column", training)
        return
    assert not unreadable.any(), (kind, text)
    found = read_column("the column", training)
    found = getattr(found, "values", found)
    np.testing.assert_array_equal(np.asarray(found, dtype=float), values)


@pytest.mark.parametrize("ending", ["csv", "csv.gz"])
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files(name: str, ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"in.{ending}"
    with pa.output_stream(path) as file:  # which packs by the ending
        file.write(HOSTILE[name])
    if check_both_ways(path):
        assert len(read_table(path))


@pytest.mark.parametrize("decimal", [".", ","])
@pytest.mark.parametrize("cell", CELLS)
def test_cells(cell: str, decimal: str, tmp_path: Path) -> None:
    """Alone, and beside others that make the column one of numbers, dates or text."""
    sign = ";" if decimal == "," else "|"
    path, cell = tmp_path / "in.csv", cell.replace(".", decimal)
    for others in ([], ["2"], ["1.5"], ["2021-05-05"], ["2021-05-05 10:00"], ["2021-05-05T10:00Z"], ["x"]):  # fmt: skip
        for quoted in (cell, f'"{cell}"'):
            rows = [quoted, *(other.replace(".", decimal) for other in others)]
            path.write_text(f"a{sign}b\n" + "".join(f"{row}{sign}y\n" for row in rows), "utf-8")
            check_both_ways(path, CsvStyle(sign, decimal))


@pytest.mark.parametrize(
    "cell", [cell for cell in CELLS if cell.strip() == cell and cell != str(2**63 - 1)]
)
def test_types_are_those_that_arrow_infers(cell: str, tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    convert = pa.csv.ConvertOptions(
        null_values=sorted(NULL_SPELLINGS),
        strings_can_be_null=True,
        true_values=[],
        false_values=[],
    )
    for others in ([], ["2"], ["1.5"], ["2021-05-05"], ["2021-05-05 10:00"], ["12:00"], ["NA"]):
        path.write_text("".join(f'"{row}",1\n' for row in ["a", cell, *others]))
        found, inferred = read_table(path)["a"], pa.csv.read_csv(path, convert_options=convert)["a"]
        if "0x" in cell.lower():  # which for Arrow are integers, but no other numbers
            assert pa.types.is_string(found.type)
            continue
        assert found.type == inferred.type
        assert str(found.to_pylist()) == str(inferred.to_pylist())


def test_space_around_numbers_times_and_what_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text(
        "n,x,day,time,clock,word\n"
        "1, 1.5, 2020-01-01,2020-01-01 12:30, 12:30, NA\n"
        " NA ,  ,?,\xa0,NA,a\n"
        " 3\xa0,2 ,2020-01-03 , 2020-01-02 12:30 ,13:30,\n"
    )
    kinds = [pa.int64(), pa.float64(), pa.date32(), pa.timestamp("s"), pa.time32("s"), pa.string()]
    table = read_table(path)
    assert table.schema.types == kinds
    assert [column.null_count for column in table.columns] == [1] * 6
    assert table["word"].to_pylist() == [" NA", "a", None]  # text is as it is written
    assert check_both_ways(path)


def test_numbers_to_the_base_of_16_are_words(tmp_path: Path) -> None:
    """Wherever they stand: the first rows of a column look like those of numbers."""
    path, rows = tmp_path / "in.csv", ["1,1"] * 1_500_000
    for row in (0, 1_000_000, len(rows) - 1):
        rows[row] = "0x1,1"
        path.write_text("a,b\n" + "\n".join(rows))
        table = read_table(path)
        assert table.schema.types == [pa.string(), pa.int64()]
        assert table["a"][row].as_py() == "0x1"
        rows[row] = "1,1"


def test_a_compressed_file_that_is_cut_short(tmp_path: Path) -> None:
    path = tmp_path / "in.csv.gz"
    with pa.output_stream(path) as file:
        file.write(b"a,b\n" + b"".join(b"%d,%d\n" % (n, n * n) for n in range(200_000)))
    path.write_bytes(path.read_bytes()[:100_000])
    assert not check_both_ways(path)


@pytest.mark.parametrize("seed", range(150))
def test_random_signs(seed: int, length: int, tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    for part in range(length):
        rng = random.Random(f"{seed} {part}")
        rows = [f"{n},{n / 4},word {n},2020-01-{n:02}\n" for n in range(1, rng.choice((2, 4, 12)))]
        path.write_bytes(hostile_csv(rng, ("id,size,word,day\n" + "".join(rows)).encode()))
        check_both_ways(path)
