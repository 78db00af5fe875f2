# SPDX-License-Identifier: BSD-3-Clause
"""What databases say differently: names, strings, numbers, missing values, and how deep they read."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from fasttree.base.times import DATETIME, DURATION, INSTANT, held, time_text
from fasttree.base.values import short_repr

LARGEST = 1.7976931348623157e308
_BITS_OF_LONG_DOUBLE = 64
_WHOLE = 2**53


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one database is spoken to."""

    name: str
    deepest: int  # CASE expressions within each other
    double: str | None  # the type of numbers; None: columns have none
    text: str | None  # the type of text, likewise
    collation: str  # compares text byte by byte
    truth: tuple[str, str] = ("FALSE", "TRUE")
    materialized: str = "MATERIALIZED "  # a query that others ask several times is worked out once
    has_nan: bool = True  # as a number that equals itself
    infinity: str | None = None
    orders_sums: bool = True  # SUM(x ORDER BY y)
    folds_case: bool = False  # "a" and "A" are the same column
    needs_names: bool = True  # "" is no name
    most_equalities: int = 1  # levels that are compared one by one instead of IN a list
    # The planner takes a query of several stages for a few rows, and would search the ends one by one for each row; it
    # expects many of a recursive query.
    expects_few_rows: bool = False
    # Kinds of times: what stands around a time, and a column of times as its microseconds.
    times: tuple[tuple[str, str], ...] = ()
    microseconds: str | None = None
    greatest: str = "GREATEST"
    least: str = "LEAST"

    def name_of(self, name: str) -> str:
        self._check_text(name)
        if not name and self.needs_names:
            raise ValueError(
                f"{self.name} does not support columns with an empty name: give the name in the table, "
                f"columns={{'': ...}}"
            )
        return '"' + name.replace('"', '""') + '"'

    def literal(self, value: Any) -> str:
        """A level or a class."""
        if isinstance(value, str):
            self._check_text(value)
            return "'" + value.replace("'", "''") + "'"
        if isinstance(value, bool):
            return self.truth[value]
        if isinstance(value, int):
            return str(value)
        if isinstance(value, float):
            return self.number(value)
        raise ValueError(
            f"SQL has no portable literal for the label {short_repr(value)} of type {type(value).__name__}: "
            'use text or numbers as labels, or export to "python"'
        )

    def _check_text(self, text: str) -> None:
        if "\0" in text or any("\ud800" <= sign <= "\udfff" for sign in text):
            raise ValueError(
                f"SQL cannot represent {short_repr(text)}, which has a null or an incomplete character: rename it, or "
                "export "
                'to "python"'
            )

    def number(self, value: float) -> str:
        """A float that is read back to the last bit."""
        if math.isinf(value):
            if self.infinity is None:
                raise ValueError(
                    'standard SQL has no infinity: choose the dialect of your database, or export to "python"'
                )
            return self.infinity if value > 0 else f"-{self.infinity}"
        if self.name == "sqlite" and not _survives(value):
            return _dyadic(value)
        digits = repr(value)
        return digits if self.name == "sqlite" or "e" in digits else f"{digits}e0"

    def time(self, value: float, kind: str) -> str:
        """A time. One that is no whole microsecond is cut off: no time of a table lies between."""
        if not _EARLIEST <= value < _LATEST and kind != DURATION:
            raise ValueError(
                f"SQL has no portable literal for {time_text(value, kind)}, only for the years 1 to 9999: "
                'use format="python"'
            )
        text = time_text(value, kind)
        if kind == INSTANT:
            text = text.replace("Z", "+00:00")
        elif kind == DATETIME and len(text) == 10:
            text += " 00:00:00"
        return dict(self.times)[kind].format(text)

    def check_time(self, name: str, kind: str) -> None:
        """Can a column of this kind of time be compared?"""
        if kind not in dict(self.times):
            raise ValueError(
                f"{self.name} has no type for {held(kind)}, so the storage of the column {name!r} is undefined: "
                'use another dialect or format="python", or fit the model on numbers instead'
            )

    def microseconds_of(self, name: str, column: str) -> str:
        """A column of times as a number."""
        if self.microseconds is None:
            raise ValueError(
                f"{self.name} cannot count microseconds, which a tree with fractional rows needs for the column "
                f'{name!r}: use the dialect "duckdb" or "postgres", or format="python"'
            )
        return self.microseconds.format(column)

    def is_among(self, column: str, values: list[Any]) -> str:
        """A condition; there is at least one value."""
        listed = [self.literal(value) for value in values]
        if len(listed) > self.most_equalities:
            return f"{column} IN ({', '.join(listed)})"
        tests = " OR ".join(f"{column} = {value}" for value in listed)
        return f"({tests})" if len(listed) > 1 else tests

    def is_none_of(self, column: str, values: list[Any]) -> str:
        """A condition that is true of known values only."""
        if not values:
            return f"{column} IS NOT NULL"
        return f"{column} NOT IN ({', '.join(map(self.literal, values))})"

    def number_column(self, column: str) -> str:
        """A column as a float; NULL where it is missing."""
        number = column if self.double is None else f"CAST({column} AS {self.double})"
        return f"NULLIF({number}, {self._nan()})" if self.has_nan else number

    def level_column(self, column: str, levels: tuple[Any, ...]) -> str:
        """A column of levels, comparable to them byte by byte; NULL where it is missing."""
        if levels and isinstance(levels[0], str):
            text = column if self.text is None else f"CAST({column} AS {self.text})"
            return f"{text}{self.collation}"
        if levels and not isinstance(levels[0], bool) and self.has_nan:
            return f"NULLIF({column}, {self._nan()})"
        return column

    def _nan(self) -> str:
        return f"CAST('NaN' AS {self.double})"

    def one(self) -> str:
        """1 as a float."""
        return "1.0" if self.double is None else f"CAST(1 AS {self.double})"


_TIMES = (
    (DATETIME, "TIMESTAMP '{}'"),
    (INSTANT, "TIMESTAMP WITH TIME ZONE '{}'"),
    (DURATION, "INTERVAL '{}'"),
)
_EARLIEST, _LATEST = -62_135_596_800e6, 253_402_300_800e6  # the years 1 to 9999

DIALECTS = {
    "ansi": Dialect(
        "ansi",
        deepest=40,
        double="DOUBLE PRECISION",
        text=None,
        collation="",
        materialized="",
        has_nan=False,
        orders_sums=False,
        # The standard writes the parts of an interval with words that few databases read.
        times=(
            (DATETIME, "TIMESTAMP '{}'"),
            (INSTANT, "TIMESTAMP '{}'"),
        ),
    ),
    "duckdb": Dialect(
        "duckdb",
        deepest=60,
        double="DOUBLE",
        text="VARCHAR",
        collation="",
        infinity="CAST('Infinity' AS DOUBLE)",
        times=_TIMES,
        microseconds="CAST(epoch_us({}) AS DOUBLE)",
        folds_case=True,
        most_equalities=200,  # IN takes its planner twenty times as long
    ),
    "postgres": Dialect(
        "postgres",
        deepest=60,
        double="DOUBLE PRECISION",
        text="TEXT",
        collation=' COLLATE "C"',
        infinity="CAST('Infinity' AS DOUBLE PRECISION)",
        times=_TIMES,
        microseconds="CAST(ROUND(EXTRACT(EPOCH FROM {}) * 1000000) AS DOUBLE PRECISION)",
    ),
    "sqlite": Dialect(
        "sqlite",
        deepest=9,  # its parser has room for a hundred open words
        double=None,
        text=None,
        collation=" COLLATE BINARY",
        truth=("0", "1"),
        has_nan=False,
        infinity="9e999",
        orders_sums=False,
        folds_case=True,
        needs_names=False,
        expects_few_rows=True,
        greatest="MAX",
        least="MIN",
    ),
}


def _survives(value: float) -> bool:
    """Does SQLite read the digits exactly? It computes digits * 10**k, with 64 bits on some machines, 53 on others."""
    sign, digits, exponent = _decimal(value)
    if digits >= _WHOLE or abs(exponent) > 22:
        return False
    exact = sign * digits * Fraction(10) ** exponent
    return float(_rounded(exact, _BITS_OF_LONG_DOUBLE)) == value


def _decimal(value: float) -> tuple[int, int, int]:
    sign, digits, exponent = Decimal(repr(value)).as_tuple()
    return -1 if sign else 1, int("".join(map(str, digits))), int(exponent)


def _rounded(exact: Fraction, bits: int) -> Fraction:
    """To so many binary digits, half to even."""
    if not exact:
        return exact
    size = abs(exact)
    power = size.numerator.bit_length() - size.denominator.bit_length() - bits
    scale = Fraction(2) ** power
    if size / scale >= 2**bits:
        scale *= 2
    return round(exact / scale) * scale


def _dyadic(value: float) -> str:
    """A whole number times powers of two: exact in floating point, whoever reads it."""
    mantissa, exponent = math.frexp(value)
    whole, exponent = int(mantissa * _WHOLE), exponent - 53
    while whole % 2 == 0 and exponent < 0:
        whole, exponent = whole // 2, exponent + 1
    sign = "*" if exponent > 0 else "/"
    steps = [60] * (abs(exponent) // 60) + [abs(exponent) % 60]
    return f"({whole}*1.0{''.join(f'{sign}{2**step}' for step in steps if step)})"
