# SPDX-License-Identifier: BSD-3-Clause
"""Points in time and durations: for a tree numbers of microseconds, for people dates and clocks.

There are three kinds. They are never taken for each other, nor for plain numbers:

    datetime  a date, or a date and a time, that names no time zone: since 1970-01-01 in its own clock
    instant   a time with a zone: since 1970-01-01 UTC
    duration  the time between two others
"""

from __future__ import annotations

import datetime
import math
import re
from dataclasses import dataclass
from typing import Any

import numpy as np

DATETIME, INSTANT, DURATION = "datetime", "instant", "duration"
UNITS = {
    DATETIME: "microseconds since 1970-01-01 (no time zone)",
    INSTANT: "microseconds since 1970-01-01 UTC",
    DURATION: "microseconds",
}
_HELD = {
    None: "numbers",
    DATETIME: "dates or times without a time zone",
    INSTANT: "times with a time zone",
    DURATION: "durations",
}
_REMEDIES: dict[tuple[str | None, str | None], str] = {
    (DATETIME, None): "to convert microseconds since 1970: numpy's .astype('datetime64[us]')",
    (
        INSTANT,
        None,
    ): "to convert microseconds since 1970: pandas.to_datetime(column, unit='us', utc=True)",
    (DURATION, None): "to convert microseconds: numpy's .astype('timedelta64[us]')",
    (
        DATETIME,
        INSTANT,
    ): "pandas: .dt.tz_convert(zone).dt.tz_localize(None) with the zone of the training rows",
    (INSTANT, DATETIME): "pandas: .dt.tz_localize(zone) with the zone in which they were recorded",
}
_DTYPES = {DATETIME: "datetime64[us]", INSTANT: "datetime64[us]", DURATION: "timedelta64[us]"}
_EPOCH = datetime.datetime(1970, 1, 1)
_MICROSECOND = datetime.timedelta(microseconds=1)
_DAY = 86_400_000_000


@dataclass(frozen=True, slots=True)
class Times:
    """A column of times. `values` are float64 microseconds, NaN where one is missing."""

    kind: str
    values: np.ndarray

    def __len__(self) -> int:
        return len(self.values)

    def objects(self, where: str) -> list[Any]:
        """The times as Python's own; None where one is missing."""
        missing = np.isnan(self.values)
        counts = np.where(missing, 0, self.values).astype(np.int64)
        found = counts.astype(_DTYPES[self.kind]).tolist()
        for row, time in enumerate(found):
            if missing[row]:
                found[row] = None
            elif isinstance(time, int):  # numpy's way to say that Python has no such date
                raise ValueError(
                    f"{where} contains {time_text(time, self.kind)} in row {row}: a date or time used as a category "
                    "must lie in the years 1 to 9999. Convert the column to text."
                )
            elif self.kind == INSTANT:
                found[row] = time.replace(tzinfo=datetime.UTC)
        return found


def kind_of(value: Any) -> str | None:
    """Which kind of time a single value is; None: none at all."""
    if isinstance(value, (datetime.timedelta, np.timedelta64)):
        return DURATION
    if isinstance(value, (datetime.date, np.datetime64)):
        return DATETIME if getattr(value, "tzinfo", None) is None else INSTANT
    return None


def held(kind: str | None) -> str:
    """What a column of this kind holds, in words."""
    return _HELD[kind]


def kind_error(where: str, then: str | None, now: str | None) -> ValueError:
    """A column is of another kind than at fit."""
    remedy = _REMEDIES.get((then, now))
    return ValueError(
        f"{where} contained {held(then)} at fit, but now contains {held(now)}: pass {held(then)}, as at fit"
        + (f" ({remedy})." if remedy else ".")
    )


def microseconds(where: str, value: Any, kind: str | None) -> Any:
    """A single time as its number, if it is of this kind; a number as it is."""
    now = kind_of(value)
    if now is not None and now != kind:
        raise TypeError(f"{where} contained {held(kind)} at fit, got {value!r}: pass {held(kind)}.")
    return _as_number(value)


def _as_number(value: Any) -> Any:
    if isinstance(value, (np.datetime64, np.timedelta64)):
        kind = "datetime64[us]" if isinstance(value, np.datetime64) else "timedelta64[us]"
        return float(value.astype(kind).astype(np.int64))
    if isinstance(value, datetime.timedelta):
        return float(value // _MICROSECOND)
    if isinstance(value, datetime.datetime):
        return float((_without_zone(value) - _EPOCH) // _MICROSECOND)
    if isinstance(value, datetime.date):
        return float((value - _EPOCH.date()) // _MICROSECOND)
    return value


def _without_zone(time: datetime.datetime) -> datetime.datetime:
    return time if time.tzinfo is None else time.astimezone(datetime.UTC).replace(tzinfo=None)


# -- numpy's arrays ----------------------------------------------------------------------------------------------------

# numpy's units of time: how many microseconds one has, or how many of it make a microsecond
_MICROSECONDS_PER = {
    "W": 604_800_000_000,
    "D": 86_400_000_000,
    "h": 3_600_000_000,
    "m": 60_000_000,
    "s": 1_000_000,
    "ms": 1_000,
    "us": 1,
}
_PER_MICROSECOND = {"ns": 10**3, "ps": 10**6, "fs": 10**9, "as": 10**12}


def array_microseconds(
    where: str, values: np.ndarray, hidden: np.ndarray | None = None
) -> np.ndarray:
    """Times as microseconds (points in time: since 1970): one unit, so that a model takes any library's.

    Exact between the years 1684 and 2255, and rounded to 32 microseconds in the year 9999.
    """
    missing = np.isnat(values) if hidden is None else np.isnat(values) | hidden
    if missing.all():  # NaT alone may come without a unit
        return np.full(len(values), np.nan)
    unit, step = np.datetime_data(values.dtype)
    if values.dtype.kind == "M" and unit in ("Y", "M"):
        values, unit, step = values.astype("datetime64[D]"), "D", 1
    counts = values.astype(np.int64)
    counts[missing] = 0
    if unit in _MICROSECONDS_PER:
        numbers = counts.astype(np.float64) * (_MICROSECONDS_PER[unit] * step)
        numbers[missing] = np.nan
        return numbers
    if unit not in _PER_MICROSECOND:
        raise TypeError(
            f"{where} has durations in the unit {unit!r}, which has no fixed length: use days."
        )
    counts *= step
    whole = counts // _PER_MICROSECOND[unit]
    finer = whole * _PER_MICROSECOND[unit] != counts
    if finer.any():
        raise finer_error(where, int(np.argmax(finer)))
    numbers = whole.astype(np.float64)
    numbers[missing] = np.nan
    return numbers


def finer_error(where: str, row: int) -> ValueError:
    return ValueError(
        f"{where} has a time with a resolution finer than a microsecond in row {row}: "
        "round it to microseconds, or convert it to numbers in the unit that you need."
    )


# -- for people --------------------------------------------------------------------------------------------------------


def time_text(value: float, kind: str) -> str:
    """A time as text, as short as can be without losing a microsecond. Times are whole microseconds, so halves, as
    thresholds have them, are cut off: no time lies between."""
    if not math.isfinite(value):
        return str(value)
    count = math.floor(value)
    if kind == DURATION:
        return _duration_text(count)
    if abs(count) >= 2**63:
        return f"{count} {UNITS[kind]}"
    date, clock = str(np.datetime64(count, "us")).split("T")
    clock = _without_zeros(clock)
    if kind == INSTANT:
        return f"{date} {clock}Z"
    return date if clock == "00:00:00" else f"{date} {clock}"


def _duration_text(count: int) -> str:
    """Each part has its sign: read by people, by `read_time` and by databases alike."""
    sign = "-" if count < 0 else ""
    days, rest = divmod(abs(count), _DAY)
    seconds, fraction = divmod(rest, 1_000_000)
    clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{fraction:06}"
    parts = [f"{sign}{days} day{'' if days == 1 else 's'}"] if days else []
    if rest or not days:
        parts.append(sign + _without_zeros(clock))
    return " ".join(parts)


def _without_zeros(clock: str) -> str:
    return clock.rstrip("0").rstrip(".") if "." in clock else clock


# -- from text ---------------------------------------------------------------------------------------------------------

_TOO_FINE = re.compile(r"[.,]\d{6}\d*[1-9]")
_CLOCK = r"(?P<hours>\d{1,9}):(?P<minutes>[0-5]\d)(?::(?P<seconds>[0-5]\d(?:\.\d+)?))?"
_SPOKEN = re.compile(
    r"(?:(?P<day_sign>[+-]?)(?P<days>\d{1,9}) days?)?(?:(?:^|,? )(?P<sign>[+-]?)" + _CLOCK + ")?"
)
_ISO = re.compile(
    r"(?P<sign>[+-]?)P(?=.)(?:(?P<weeks>\d{1,9})W)?(?:(?P<days>\d{1,9})D)?"
    r"(?:T(?=.)(?:(?P<hours>\d{1,9})H)?(?:(?P<minutes>\d{1,9})M)?(?:(?P<seconds>\d{1,9}(?:\.\d+)?)S)?)?"
)


def read_time(text: str, kind: str) -> float | None:
    """The microseconds of a time in ISO 8601 or as `time_text` writes it; None: the text is no time of this kind."""
    text = text.strip()
    if not text or _TOO_FINE.search(text):
        return None
    if kind == DURATION:
        return _read_duration(text)
    try:
        time = datetime.datetime.fromisoformat(text)
        is_zoned = time.tzinfo is not None
        return float(_as_number(time)) if is_zoned == (kind == INSTANT) else None
    except (ValueError, OverflowError):
        return None


def _read_duration(text: str) -> float | None:
    found = _ISO.fullmatch(text) or _SPOKEN.fullmatch(text)
    if found is None:
        return None
    parts = found.groupdict()
    units = {"hours": 3600, "minutes": 60, "seconds": 1}
    days = _DAY * (int(parts["days"] or 0) + 7 * int(parts.get("weeks") or 0))
    rest = round(math.fsum(float(parts[name] or 0) * size for name, size in units.items()) * 1e6)
    if "day_sign" not in parts:
        return float(-days - rest if parts["sign"] == "-" else days + rest)
    if parts["day_sign"] == "-" and rest and not parts["sign"]:
        return None  # "-1 days 02:00:00": some take the hours off, others add them
    signed = (
        (-days if parts["day_sign"] == "-" else days),
        (-rest if parts["sign"] == "-" else rest),
    )
    return float(sum(signed))
