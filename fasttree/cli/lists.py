# SPDX-License-Identifier: BSD-3-Clause
"""Options that take a list: repeated, or with commas, or both: ``--drop a,b --drop '"Last, First",c'``.

Quotes are those of CSV: a name that holds a comma stands in double quotes, in which a double quote is doubled. Where
names are those of columns, a value that is, as it stands, the name of a column needs no quotes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from fasttree.cli.errors import UsageError

LIST, PAIRS, VALUE = "list", "pairs", "value"  # what a setting takes
WORDS = {"true": True, "false": False, "none": None}


def parts(text: str, option: str) -> list[str]:
    """The names in one value of an option; blanks around them do not count."""
    return [_unquoted(field) for field in _fields(text, option)]


def listed(given: Iterable[str] | None, option: str) -> list[str]:
    """Words, each once, in the order in which they are named."""
    words = [word for text in given or () for word in parts(text, option)]
    return list(dict.fromkeys(word for word in words if word))


def quoted(name: str) -> str:
    """A name as one of a list."""
    return '"' + name.replace('"', '""') + '"' if is_list(name) else name


def is_list(text: str) -> bool:
    return "," in text or '"' in text


def _fields(text: str, option: str) -> list[str]:
    """What stands between the commas that are in no quotes."""
    fields, is_quoted = [""], False
    for sign in text:
        is_quoted ^= sign == '"'
        if sign == "," and not is_quoted:
            fields.append("")
        else:
            fields[-1] += sign
    if is_quoted:
        raise UsageError(
            f"{option} {text!r}: unclosed quote: write a name that contains a comma or a quote "
            'as in \'a,"b, c","5"" disk"\''
        )
    return fields


def _unquoted(field: str) -> str:
    field = field.strip()
    if len(field) > 1 and field[0] == field[-1] == '"':
        return field[1:-1].replace('""', '"')
    return field


# -- columns -----------------------------------------------------------------------------------------------------------


def possible(given: Iterable[str]) -> list[str]:
    """All the columns that may be meant, while those of the table are not known."""
    return list(dict.fromkeys(name for text in given for name in (text, *_pieces(text))))


def columns(given: Iterable[str], names: Collection[str], option: str) -> list[str]:
    """The columns that are meant, each once, of a table with these `names`. Whether it has them is not asked here."""
    found: list[str] = []
    for text in given:
        if not is_list(text):
            found.append(text)
        elif text not in names:
            found += parts(text, option)
        else:
            others = [piece for piece in _pieces(text) if piece in names]
            if others:
                raise UsageError(
                    f"{option} {text!r} is ambiguous: it is the name of a column, and a list with the column "
                    f"{others[0]!r}: write {option} '{quoted(text)}' for the column, or repeat {option} for the list"
                )
            found.append(text)
    return list(dict.fromkeys(found))


def _pieces(text: str) -> list[str]:
    """The names that a value is a list of, if it is one."""
    try:
        found = parts(text, "")
    except UsageError:
        return []
    return [name for name in found if name != text]


# -- settings ----------------------------------------------------------------------------------------------------------


def read_settings(
    given: Iterable[str] | None, kinds: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """``name=value`` as numbers, true, false, none, or text; several of them with commas between.

    `kinds` says which names take a list of texts (LIST: ``name=a,b``) or a mapping (PAIRS: ``name=key=text``). These
    go on behind a comma, and may be named again; any other name stands for one value.
    """
    kinds = kinds or {}
    settings: dict[str, Any] = {}
    for text in given or ():
        name = ""
        for field in _fields(text, "--set"):
            word, equals, value = field.partition("=")
            word = word.strip().replace("-", "_")
            if kinds.get(name, VALUE) != VALUE and (not equals or word not in kinds):
                _extend(settings, name, kinds[name], field)
            elif equals and word:
                name = word
                if kinds.get(name, VALUE) == VALUE:
                    if name in settings:
                        raise UsageError(f"--set gives {name!r} twice: give it once")
                    settings[name] = _value(_unquoted(value))
                else:
                    _extend(settings, name, kinds[name], value)
            elif name:
                raise UsageError(
                    f"--set {text!r}: {name} takes a single value: quote a value with a comma, as in '{name}=\"a,b\"'"
                )
            else:
                raise UsageError(f"--set {text!r}: write name=value, such as --set max_depth=5")
    return settings


def _extend(settings: dict[str, Any], name: str, kind: str, text: str) -> None:
    """More of a list or a mapping; nothing and ``none`` stand for one without entries, and for none at all."""
    word = text.strip()
    if word.lower() == "none":
        settings[name] = None
        return
    if settings.get(name) is None:
        settings[name] = [] if kind == LIST else {}
    if kind == LIST:
        settings[name] += [_unquoted(word)] if word else []
    elif word:
        key, equals, value = word.partition("=")
        if not equals:
            raise UsageError(f"--set {name}={word}: write {name}=KEY=TEXT, such as {name}=age=AGE")
        settings[name][_unquoted(key)] = _unquoted(value)


def _value(text: str) -> Any:
    if text.lower() in WORDS:
        return WORDS[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
