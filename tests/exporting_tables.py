# SPDX-License-Identifier: BSD-3-Clause
"""The tables that exporters are tested with: (X, y, parameters that the table needs)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from printed_trees import read_table

from fasttree import Categorical, datasets

Given = tuple[dict[str, Any], Any, dict[str, Any]]

WICKED = [
    "",
    " ",
    "a b",
    "it's",
    'say "hi"',
    "back\\slash",
    "new\nline",
    "tab\there",
    "carriage\rreturn",
    "100%",
    "%s %d {x} {0}",
    "-- comment",
    "/* comment */",
    "// comment \\",
    "# comment",
    "'; DROP TABLE data; --",
    "SELECT",
    "NULL",
    "NaN",
    "int",
    "None",
    "True",
    "1",
    "1.0",
    "-0.0",
    "1e5",
    "ünïcödé ☃ 日本 🎉",
    "A",
    "a",
    "x: y (3)",
    "a = {b, c}",
    " or missing",
    "is missing",
    "(3 other categories)",
    "|   indented",
    "<b>&amp;</b>",
    "]]>",
    "??/",
    "\x7f\x01",
    "\u2028",
]


def _read(name: str) -> Given:
    X, y = read_table(name)
    return X, y, {}


def _textbook(load: Callable[[], Any]) -> Given:
    X, y = load()
    return X, y, {}


def _numeric() -> Given:
    rng = np.random.default_rng(1)
    n = 300
    X = {
        "normal": rng.normal(size=n),
        "tiny": rng.normal(size=n) * 1e-310,
        "huge": rng.normal(size=n) * 1e300,
        "few": rng.integers(0, 4, n).astype(np.float64),
        "infinite": rng.choice([-math.inf, -1.5, 0.0, 2.5, math.inf], n),
        "constant": np.full(n, -0.0),
    }
    noise = rng.normal(scale=0.3, size=n)
    y = (X["normal"] + noise > 0) * 2 + (X["infinite"] > 1) + (X["tiny"] > 0) * (X["few"] > 1)
    return X, y, {}


def _holes() -> Given:
    rng = np.random.default_rng(2)
    n = 260
    number = rng.normal(size=n).round(2)
    word = rng.choice(np.array(["red", "green", "blue", "grey"], dtype=object), n)
    other = number + rng.normal(scale=0.4, size=n)
    count = rng.integers(0, 9, n).astype(np.float64)
    y = np.where((number > 0) ^ (word == "red"), "yes", np.where(count > 5, "no", "maybe"))
    for column, share in ((number, 0.3), (other, 0.15), (count, 0.1)):
        column[rng.random(n) < share] = math.nan
    word[rng.random(n) < 0.25] = None
    return {"number": number, "word": word, "other": other, "count": count}, y, {}


def _wicked() -> Given:
    """Names, levels and classes that break quoting."""
    rng = np.random.default_rng(3)
    n = 500
    X: dict[str, Any] = {}
    for place, name in enumerate(WICKED[:12]):
        X[name] = rng.normal(size=n).round(1) if place % 3 else _wicked_words(rng, n)
    first, second = list(X)[:2]
    known = np.array([value is not None for value in X[first]])
    code = np.array([WICKED.index(v) if v is not None else 0 for v in X[first]])
    y = np.array(WICKED, dtype=object)[(code % 7) * 2 + 3 * (X[second] > 0) * known + 12]
    return X, y, {"max_depth": 6}


def _wicked_words(rng: np.random.Generator, n: int) -> np.ndarray:
    words = np.empty(n, dtype=object)
    words[:] = [WICKED[code] for code in rng.integers(0, len(WICKED), n)]
    words[rng.random(n) < 0.1] = None
    return words


def _numbers_as_levels() -> Given:
    """Levels that are whole numbers, numbers and bools; classes that are numbers."""
    rng = np.random.default_rng(4)
    n = 240
    whole = rng.choice([-3, 0, 7, 2**40, 12], n)
    broken = rng.choice([-0.5, 0.1, 1 / 3, 2.0, 1e-9, 1e300], n)
    flag = rng.random(n) < 0.5
    x = rng.normal(size=n)
    y = np.where(flag ^ (whole > 5), 1.0, np.where(broken > 0.2, -2.0, 3.0)) * (1 + (x > 0.5))
    X = {"whole": whole, "broken": broken, "flag": flag, "x": x}
    return X, y, {"categorical_features": ["whole", "broken", "flag"]}


def _bool_classes() -> Given:
    rng = np.random.default_rng(5)
    X = {"x": rng.normal(size=150), "z": rng.integers(0, 50, 150).astype(np.float32)}
    return X, (X["x"] > 0) ^ (X["z"] > 30) ^ (rng.random(150) < 0.1), {}


def _ordered() -> Given:
    rng = np.random.default_rng(6)
    n = 200
    sizes = ["XS", "S", "M", "L", "XL", "none such"]
    words = rng.choice(np.array([*sizes[:5], None], dtype=object), n)
    grade = Categorical(rng.choice(["low", "mid", "top"], n), ["low", "mid", "top"])
    size = Categorical(words, sizes, ordered=True)
    y = (size.codes >= 2).astype(int) + (np.asarray(grade) == "mid") * (rng.random(n) < 0.8)
    return {"size": size, "grade": grade, "x": rng.normal(size=n)}, y, {}


def _many_levels() -> Given:
    """Levels that are absent from nodes, and declared ones that no row has."""
    rng = np.random.default_rng(7)
    n = 400
    towns = [f"town {k:03d}" for k in range(60)]
    town = Categorical(rng.choice(towns[:50], n), towns)
    street = rng.choice(np.array([f"street {k}" for k in range(25)], dtype=object), n)
    street[rng.random(n) < 0.1] = None
    y = (town.codes * 7919 % 5) // 2 + (rng.random(n) < 0.1)
    return {"town": town, "street": street, "x": rng.normal(size=n).round(1)}, y, {}


TABLES: dict[str, Callable[[], Given]] = {
    "play_tennis": lambda: _textbook(datasets.play_tennis),
    "buys_computer": lambda: _textbook(datasets.buys_computer),
    "mammals": lambda: _textbook(datasets.mammals),
    "temperature": lambda: _textbook(datasets.temperature),
    "contact_lenses": lambda: _read("contact_lenses"),
    "weather_numeric": lambda: _read("weather_numeric"),
    "iris": lambda: _read("iris"),
    "labor": lambda: _read("labor"),
    "stagec": lambda: _read("stagec"),
    "numeric": _numeric,
    "holes": _holes,
    "wicked": _wicked,
    "numbers as levels": _numbers_as_levels,
    "bool classes": _bool_classes,
    "ordered": _ordered,
    "many levels": _many_levels,
}
