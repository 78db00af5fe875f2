# SPDX-License-Identifier: BSD-3-Clause
"""Rules as the source of a Python function."""

from __future__ import annotations

import keyword
import re
from typing import TYPE_CHECKING, Any

from fasttree.base.literals import READ_TIME, python_imports, python_literal, python_tuple
from fasttree.rules.text import evidence_text

if TYPE_CHECKING:
    from fasttree.rules import Condition, RuleList
    from fasttree.tables.schema import AttributeSchema

LINE = 90
OTHER = """\

OTHER = object()  # what levels of few rows are together

"""
_TAKEN = ("row", "classify", "datetime", "decimal", "float", "math")

HEAD = '''\
"""Rules learned by fasttree. The first rule that applies decides."""

{imports}
def classify(row):
    """The class of a row: a dict from attribute to value, None or NaN where it is missing."""
'''


def to_python(rules: RuleList) -> str:
    """A function ``classify(row)`` in plain Python; it decides as `RuleList.predict` does."""
    names = _Names(rules)
    body = []
    for i in range(len(rules)):
        rule = rules[i]
        tests = [names.test(condition) for condition in rule.conditions]
        premise = " and ".join(tests) or "True"
        if len(premise) <= LINE:
            body.append(f"    if {premise}:")
        else:
            body += ["    if (", f"        {tests[0]}"]
            body += [*(f"        and {test}" for test in tests[1:]), "    ):"]
        body.append(f"        return {python_literal(rule.label)}  # {evidence_text(rule)}")
    body.append(f"    return {python_literal(rules.default_class)}")
    source = "\n".join([*names.readings(), *body]) + "\n"
    source += READ_TIME if "_microseconds(" in source else ""
    imports = python_imports(source)
    before = f"{imports}\n" if imports else ""
    before += OTHER if " OTHER\n" in source else ""
    return HEAD.format(imports=before) + source


class _Names:
    """A variable for each attribute that the rules ask for."""

    def __init__(self, rules: RuleList) -> None:
        self._rules = rules
        self._attributes = {a.name: a for a in rules.schema.attributes}
        self._variables: dict[str, str] = {}

    def _variable(self, name: str) -> str:
        if name not in self._variables:
            word = re.sub(r"\W+", "_", name.lower(), flags=re.ASCII).strip("_") or "value"
            if word[0].isdigit() or keyword.iskeyword(word) or word in _TAKEN:
                word = f"value_{word}"
            taken = set(self._variables.values())
            unique, number = word, 2
            while unique in taken:
                unique, number = f"{word}_{number}", number + 1
            self._variables[name] = unique
        return self._variables[name]

    def readings(self) -> list[str]:
        """A number that is missing becomes NaN, of which no comparison is true; any other value None."""
        lines = []
        for name, x in self._variables.items():
            lines.append(f"    {x} = row[{name!r}]")
            attribute = self._attributes[name]
            if attribute.categories is None:
                lines += [f"    if {x} is None:", f"        {x} = math.nan"]
                if attribute.time is not None:
                    read = f"_microseconds({x}, {python_literal(name)}, {attribute.time!r})"
                    lines += [f"    if {x} == {x}:", f"        {x} = {read}"]
                lines += self._refusals(name, x)
            else:
                lines += self._readings_of_levels(name, x, attribute)
        return lines

    def _readings_of_levels(self, name: str, x: str, attribute: AttributeSchema) -> list[str]:
        """A level of few rows becomes OTHER, and so, or None, one that training did not see and that counts so."""
        own, unseen_counts = _tuple(attribute.own_levels), self._rules.unknown == "missing"
        lines = [f"    if {x} != {x}:", f"        {x} = None"]
        if attribute.others is not None:
            which = f"not in {own}" if unseen_counts else f"in {_tuple(attribute.others)}"
            return [
                *lines,
                *self._refusals(name, x),
                f"    if {x} is not None and {x} {which}:",
                f"        {x} = OTHER",
            ]
        as_missing = [f"    if {x} not in {own}:", f"        {x} = None"]
        if unseen_counts and self._rules.allow_missing:
            return as_missing
        return [*lines, *self._refusals(name, x), *(as_missing if unseen_counts else [])]

    def _refusals(self, name: str, x: str) -> list[str]:
        """What `RuleList.predict` refuses."""
        lines, attribute = [], self._attributes[name]
        if not self._rules.allow_missing:
            lines += [
                f"    if {self._missing(name)}:",
                f"        raise ValueError({python_literal(f'{name!r} is missing')})",
            ]
        if attribute.categories is not None and self._rules.unknown == "error":
            lines += [
                f"    if {x} is not None and {x} not in {_tuple(attribute.seen_levels)}:",
                f"        raise ValueError({python_literal(f'{name!r} has a category not seen in training')})",
            ]
        return lines

    def test(self, condition: Condition) -> str:
        x = self._variable(condition.attribute)
        known, missing = self._known(condition, x), self._missing(condition.attribute)
        if condition.substitutes:
            instead = " and ".join(
                f"{self._instead(s.alternatives, s.otherwise)}" for s in condition.substitutes
            )
            return f"(({instead}) if {missing} else {known})"
        if condition.is_missing:
            return missing
        return f"({missing} or {known})" if condition.missing else known

    def _missing(self, name: str) -> str:
        x = self._variable(name)
        return f"{x} != {x}" if self._attributes[name].categories is None else f"{x} is None"

    def _answers(self, condition: Condition) -> str:
        """Does an alternative decide, one way or the other?"""
        x = self._variable(condition.attribute)
        if condition.levels is None:
            return f"{x} == {x}"
        return f"{x} in {_levels(condition, condition.levels + condition.excluded)}"

    def _known(self, condition: Condition, x: str) -> str:
        """True for the values of the condition, false where the value is missing."""
        if condition.levels is not None:
            if len(condition.levels) == 1:
                return f"{x} == {_level(condition, condition.levels[0])}"
            return f"{x} in {_levels(condition, condition.levels)}"
        if condition.is_known:
            return f"{x} == {x}"
        if condition.is_missing:
            return "False"
        low = "" if condition.low is None else f"{_number(condition.low)} < "
        high = "" if condition.high is None else f" <= {_number(condition.high)}"
        return f"{low}{x}{high}" if high else f"{x} > {_number(condition.low)}"

    def _instead(self, alternatives: tuple[Condition, ...], otherwise: bool) -> str:
        text = str(otherwise)
        for condition in reversed(alternatives):
            known = self._known(condition, self._variable(condition.attribute))
            text = f"({known} if {self._answers(condition)} else {text})"
        return text


def _number(value: float | None) -> str:
    text = repr(value)
    return text.replace("inf", "math.inf")


def _level(condition: Condition, level: Any) -> str:
    is_other = condition.others is not None and level == condition.others.name
    return "OTHER" if is_other else python_literal(level)


def _levels(condition: Condition, levels: tuple[Any, ...]) -> str:
    return python_tuple(_level(condition, level) for level in levels)


def _tuple(values: tuple[Any, ...]) -> str:
    return python_tuple(map(python_literal, values))
