# SPDX-License-Identifier: BSD-3-Clause
"""The report of a study: all of it there, computed, well-formed, and nothing from a network."""

from __future__ import annotations

import dataclasses
import os
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

from fasttree import Categorical
from fasttree.stats.special import student_t_tails
from fasttree.studies import cesarean
from fasttree.studies.figures import student_limit
from fasttree.studies.report import report, write_report
from fasttree.studies.report.charts import limits_of
from fasttree.studies.report.markdown import plain
from fasttree.studies.results import StudyResult
from fasttree.studies.tables import differences_from

SVG = "{http://www.w3.org/2000/svg}"
EVIL = "<script>alert('x')</script>\"&`|*[a](http://evil.example)\u2028\x00\x1b"


@pytest.fixture(scope="module")
def result() -> StudyResult:
    return cesarean.run(n_rows=2_000, seeds=3)


@pytest.fixture(scope="module")
def page(result: StudyResult) -> str:
    return report(result, "report.html")


def parsed(page: str) -> ET.Element:
    doctype, rest = page.split("\n", 1)
    assert doctype == "<!DOCTYPE html>"
    return ET.fromstring(rest)


def hostile_table() -> dict:
    rng = np.random.default_rng(0)
    n = 300
    level = rng.integers(0, 3, n)
    y = rng.random(n) < 0.2 + 0.25 * level
    return {
        EVIL: Categorical.from_codes(level, [f"{EVIL}{k}" for k in range(3)]),
        "x": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
        "site" + EVIL: Categorical.from_codes(rng.integers(0, 2, n), [f"A{EVIL}", f"B{EVIL}"]),
        "sick" + EVIL: Categorical.from_codes(y.astype(int), [f"no{EVIL}", f"yes{EVIL}"]),
    }


@pytest.fixture(scope="module")
def hostile() -> StudyResult:
    methods = ["SMML", "C4.5", "Logistic"]
    return cesarean.run(hostile_table(), "sick" + EVIL, "site" + EVIL, seeds=2, methods=methods)


# -- the page ----------------------------------------------------------------------------------------------------------


def test_the_page_is_well_formed_small_and_needs_nothing(page: str) -> None:
    root = parsed(page)
    assert root.attrib["lang"] == "en"
    assert len(page.encode()) < 1_500_000
    tags = {element.tag.removeprefix(SVG) for element in root.iter()}
    assert not tags & {"script", "iframe", "object", "embed", "img", "image", "use", "form"}
    for element in root.iter():
        for name, value in element.attrib.items():
            assert not name.startswith("on")
            if name in ("href", "src"):
                assert value.startswith("#") or value == "data:,"
    without_names = page.replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"https?://|url\(|@import", without_names)
    ids = [element.attrib["id"] for element in root.iter() if "id" in element.attrib]
    assert len(ids) == len(set(ids))
    links = {e.attrib["href"][1:] for e in root.iter("a")}
    assert links
    assert links <= set(ids)


def test_tables_and_figures_are_all_there_and_named(result: StudyResult, page: str) -> None:
    root = parsed(page)
    for table in root.iter("table"):
        assert table.find("caption").text
        header = table.find("thead/tr")
        assert all(cell.attrib["scope"] == "col" for cell in header)
        for row in table.find("tbody"):
            assert len(row) == len(header)
            assert row[0].tag == "th"
            assert row[0].attrib["scope"] == "row"
    for svg in root.iter(f"{SVG}svg"):
        assert svg.attrib["role"] == "img"
        title, description = svg.find(f"{SVG}title"), svg.find(f"{SVG}desc")
        assert title.text
        assert description.text
        assert svg.attrib["aria-labelledby"] == f"{title.attrib['id']} {description.attrib['id']}"
    titles = [svg.find(f"{SVG}title").text for svg in root.iter(f"{SVG}svg")]
    captions = [table.find("caption").text for table in root.iter("table")]
    assert "Table 1. Cesarean delivery by attribute" in captions
    for group, name in zip(result.groups, ("Nulliparous", "Parous"), strict=True):
        for curves in group.roc:
            assert f"ROC curve of {curves.method}, {name}" in titles
            assert f"Calibration of {curves.method}, {name}" in titles
        assert f"ROC curves, {name}" in titles
        assert f"Differences in AUC from Logistic, {name}" in titles
        assert f"The SMML tree, {name}" in titles
        assert f"The methods, {name}" in captions
        assert f"Deliveries without a categorised risk factor, {name}" in captions
    for words in ("synthetic", "Limits, and how to cite", "2000;183:1198-206", "How it was done"):
        assert words in page


def test_numbers_are_those_of_the_result(result: StudyResult, page: str) -> None:
    root = parsed(page)
    group = result.groups[1]
    table = next(t for t in root.iter("table") if t.find("caption").text == "The methods, Parous")
    cells = {row[0].text: [cell.text for cell in row[1:]] for row in table.find("tbody")}
    assert list(cells) == [summary.method for summary in group.summaries]
    for summary in group.summaries:
        area = summary.spreads["auc"]
        assert cells[summary.method][0] == f"{area.mean:.3f} ({area.sd:.3f})"
    # A standard deviation, which the page says: the sign ± is for standard errors.
    assert "±" not in page
    assert "Means of 3 splits, the standard deviation between splits in brackets" in page
    table1 = next(t for t in root.iter("table") if t.find("caption").text.startswith("Table 1"))
    totals = [row[1].text for row in table1.find("tbody") if row[1].text]
    levels = [level for variable in result.table1 for level in variable.levels]
    assert totals == [f"{level.rows:,}" for level in levels]
    tree = group.trees[0]
    assert tree.method == "SMML"
    title = "The rules of SMML, Parous"
    rules = next(t for t in root.iter("table") if t.find("caption").text == title)
    rows = rules.find("tbody")
    assert len(rows) == len(tree.rules)
    for row, rule in zip(rows, tree.rules, strict=True):
        assert row[1].text == " and ".join(rule.conditions)
        assert row[3].text == f"{rule.train.rows:,.0f}"
        assert plainly(row[4].text) == f"{100 * rule.train.rate:.1f} %"  # and no limits
        if rule.test.rows:
            limits = f"({100 * rule.test.low:.1f} to {100 * rule.test.high:.1f})"
            assert plainly(row[6].text) == f"{100 * rule.test.rate:.1f} % {limits}"


def plainly(text: str) -> str:
    return text.replace("\xa0", " ")


def table_of(page: str, caption: str) -> tuple[list[str], list[list[str]]]:
    """The heading of a table of the page, and its rows."""
    found = next(t for t in parsed(page).iter("table") if caption in t.find("caption").text)
    rows = [[plainly("".join(cell.itertext())) for cell in row] for row in found.find("tbody")]
    return ["".join(cell.itertext()) for cell in found.find("thead")[0]], rows


def test_shares_of_the_test_half_are_counted_in_the_test_half() -> None:
    """From the table of the user, with a tree that is grown here; those of the training half have no limits."""
    from fasttree import SMMLClassifier
    from fasttree.studies.figures import wilson
    from fasttree.studies.groups import read_study_table
    from fasttree.studies.methods import Halves

    rng = np.random.default_rng(3)
    n = 600
    table = {"x": rng.normal(size=n), "z": rng.normal(size=n)}
    share = np.where(table["x"] < 0, 0.1, np.where(table["z"] < 0, 0.5, 0.9))
    y = (rng.random(n) < share).astype(int)
    whole = table | {"sick": Categorical.from_codes(y, ["no", "yes"])}
    page = report(cesarean.run(whole, "sick", seeds=[1], methods=["SMML"]), "r.html")
    halves = Halves.of(read_study_table(whole, "sick", None, None).groups[0], 1)
    half = [
        {name: column[rows] for name, column in table.items()}
        for rows in (halves.train, halves.test)
    ]
    model = SMMLClassifier().fit(half[0], y[halves.train])
    header, rows = table_of(page, "The rules of SMML")
    assert header[3:] == ["Training rows", "Proportion (optimistic)", "Test rows", "Proportion"]
    rules = model.rules()
    assert len(rows) == len(rules) > 2
    train, test = (rules.match(X) for X in half)
    for k, row in enumerate(rows):
        own, other = y[halves.train][train == k], y[halves.test][test == k]
        assert row[3:5] == [f"{len(own):,}", f"{100 * own.mean():.1f} %"]
        found = wilson(float(other.sum()), float(len(other)))
        limits = f"({100 * found.low:.1f} to {100 * found.high:.1f})"
        assert row[5:] == [f"{len(other):,}", f"{100 * other.mean():.1f} % {limits}"]


def test_odds_ratios_are_called_exploratory(result: StudyResult, page: str) -> None:
    captions = [t.find("caption").text for t in parsed(page).iter("table")]
    odds = [caption for caption in captions if caption.startswith("Odds ratios")]
    assert odds
    assert set(odds) == {"Odds ratios: exploratory, after selection"}
    assert "The attributes were selected by P below 0.05 on the same rows" in page


def test_several_comparisons_are_adjusted(result: StudyResult, page: str) -> None:
    """By Holm, as statsmodels does it; what is not adjusted says so."""
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    group = result.groups[0]
    header, rows = table_of(page, "Difference in AUC from Logistic")
    alone = [
        d.p_value
        for d in group.differences
        if d.measure == "auc" and "Logistic" in (d.first, d.second)
    ]
    assert len(rows) == len(alone) == 7
    expected = multitest.multipletests(alone, method="holm")[1]
    place = header.index("P, adjusted (Holm)")
    for row, p, adjusted in zip(rows, alone, expected, strict=True):
        assert row[place - 1] == ("<.001" if p < 0.001 else f"{p:.3f}".removeprefix("0"))
        assert row[place] == ("<.001" if adjusted < 0.001 else f"{adjusted:.3f}".removeprefix("0"))
    assert "not adjusted for the number of attributes" in page
    assert "not adjusted for the number of methods" in page


@pytest.mark.parametrize(
    ("p", "words"),
    [
        (0.03, "in about 3 in 100 such studies"),
        (0.004, "in about 4 in 1,000 such studies"),
        (0.0002, "in fewer than 1 in 1,000 such studies"),
        (0.06, "Chance alone can explain a difference of this size"),
    ],
)
def test_a_p_value_says_what_it_is(result: StudyResult, p: float, words: str) -> None:
    text = report(changed(result, "SMML", 0.9, p), "r.md")
    assert words in text
    assert "more than chance explains" not in text
    assert ("not adjusted for the others" in text) == (p < 0.05)


def test_the_bounds_behind_the_slope_of_calibration_are_told(page: str) -> None:
    """Where it is explained, and where it is told."""
    told = "Probabilities are first clipped to 0.001 to 0.999"
    assert page.count(told) >= 3


def test_curves_and_squares_stand_where_the_numbers_are(result: StudyResult, page: str) -> None:
    root = parsed(page)
    group = result.groups[0]
    title = "ROC curve of SMML, Nulliparous"
    svg = next(s for s in root.iter(f"{SVG}svg") if s.find(f"{SVG}title").text == title)
    frame = next(r for r in svg.iter(f"{SVG}rect") if r.attrib["class"] == "frame")
    left, top, side = (float(frame.attrib[name]) for name in ("x", "y", "width"))
    path = next(p for p in svg.iter(f"{SVG}path") if p.attrib["class"] == "first")
    points = [tuple(map(float, pair.split())) for pair in path.attrib["d"][1:].split("L")]
    curves = next(c for c in group.roc if c.method == "SMML")
    mean = np.mean(curves.found, axis=0)
    assert len(points) == len(mean) + 1  # from the corner on
    assert [(x - left) / side for x, _ in points[1:]] == pytest.approx(
        curves.false_alarms, abs=2e-3
    )
    assert [1 - (y - top) / side for _, y in points[1:]] == pytest.approx(mean, abs=2e-3)

    title = "Differences in AUC from Logistic, Nulliparous"
    svg = next(s for s in root.iter(f"{SVG}svg") if s.find(f"{SVG}title").text == title)
    squares = [float(r.attrib["x"]) + 4 for r in svg.iter(f"{SVG}rect")]
    means = [sign * d.mean for _, d, sign in differences_from(group, "Logistic")]
    slope, start = np.polyfit(means, squares, 1)
    assert slope > 0
    assert [slope * mean + start for mean in means] == pytest.approx(squares, abs=0.2)


def test_limits_are_students(result: StudyResult) -> None:
    stats = pytest.importorskip("scipy.stats")
    for df in (1, 2, 4, 9, 40):
        assert student_limit(df) == pytest.approx(stats.t.ppf(0.975, df), abs=1e-6)
        assert student_t_tails(student_limit(df), df) == pytest.approx(0.05, abs=1e-9)
    _, d, sign = differences_from(result.groups[0], "Logistic")[0]
    low, high = limits_of(sign * d.mean, d, 3)
    assert (low + high) / 2 == pytest.approx(sign * d.mean)
    assert (low <= 0 <= high) == (d.p_value >= 0.05)
    assert all(np.isnan(limits_of(0.1, d, 1)))


# -- findings are computed ---------------------------------------------------------------------------------------------


def changed(result: StudyResult, method: str, area: float, p: float = 0.4) -> StudyResult:
    """As if a method had another AUC."""
    groups = []
    for group in result.groups:
        summaries = tuple(
            dataclasses.replace(
                s, spreads=s.spreads | {"auc": s.spreads["auc"]._replace(mean=area)}
            )
            if s.method == method
            else s
            for s in group.summaries
        )
        differences = tuple(
            dataclasses.replace(d, mean=area - 0.5, p_value=p)
            if (d.measure, d.first, d.second) == ("auc", "SMML", "Logistic")
            else d
            for d in group.differences
        )
        groups.append(dataclasses.replace(group, summaries=summaries, differences=differences))
    return dataclasses.replace(result, groups=tuple(groups))


def test_findings_follow_the_numbers(result: StudyResult) -> None:
    text = report(changed(result, "SMML", 0.99), "r.md")
    assert "SMML has the largest AUC, 0.990" in text
    assert "an AUC 0.490 more than that of logistic regression" in text
    assert "Chance alone can explain" in text
    text = report(changed(result, "SMML", 0.1), "r.md")
    assert "SMML has the smallest, 0.100" in text
    assert "an AUC 0.400 less than that of logistic regression" in text


@pytest.mark.parametrize("methods", [["ID3"], ["Logistic"], ["CART", "C4.5"], ["SMML", "Logistic"]])
def test_any_methods_and_a_single_split(methods: list[str]) -> None:
    table = hostile_table()
    found = cesarean.run(table, "sick" + EVIL, seeds=1, methods=methods)
    root = parsed(report(found, "r.html"))
    assert "nan" not in "".join(root.find("body").itertext()).lower().split()
    assert "nan" not in report(found, "r.md").lower().split()


# -- names of others ---------------------------------------------------------------------------------------------------


def without_code(text: str) -> str:
    return re.sub(r"(?ms)^(`{3,})text$.*?^\1$", "", text)


def test_hostile_names_are_text(hostile: StudyResult) -> None:
    page = report(hostile, "r.html")
    page.encode()
    assert "<script" not in page
    root = parsed(page)
    assert not [e for e in root.iter() if e.tag.removeprefix(SVG) == "script"]
    assert {e.attrib["href"] for e in root.iter("a")} == {
        f"#{section.attrib['id']}" for section in root.find("body/main")
    }
    text = report(hostile, "r.md")
    outside = without_code(text)
    assert "<script" not in outside.replace("\\<", "")
    assert not re.search(r"(?<!\\)\]\(", outside)
    for line in outside.splitlines():
        if line.startswith("| "):
            assert line.endswith(" |")
    widths = [
        len(re.findall(r"(?<!\\)\|", line)) for line in outside.splitlines() if line.startswith("|")
    ]
    assert min(widths) >= 3


def test_a_table_of_ones_own_is_called_by_its_columns() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=400)
    table = {
        "x": x,
        "smoker": Categorical.from_codes(rng.integers(0, 2, 400), ["no", "yes"]),
        "ill": Categorical.from_codes((x + rng.normal(size=400) > 0).astype(int), ["no", "yes"]),
    }
    text = report(
        cesarean.run(table, "ill", "smoker", seeds=1, methods=["SMML", "Logistic"]), "r.md"
    )
    assert text.startswith("# Predicting ill: decision trees and logistic regression")
    assert "## smoker = no" in text
    assert "## smoker = yes" in text
    for words in ("esarean delivery:", "synthetic", "woman", "deliveries"):
        assert words not in text


def test_markdown_takes_text_for_text() -> None:
    assert plain("a_b*c") == r"a\_b\*c"
    assert plain("x | y\n# z") == r"x \| y \# z"


def test_markdown_tables_are_even(result: StudyResult) -> None:
    whole = report(result, "r.md")
    text = without_code(whole)
    n_columns = 0
    for before, line in zip(["", *text.splitlines()], text.splitlines(), strict=False):
        if line.startswith("|"):
            own = len(re.findall(r"(?<!\\)\|", line))
            n_columns = own if not before.startswith("|") else n_columns
            assert own == n_columns, line
    for words in ("# Predicting", "Table 1", "```text", "presentation = ", "| SMML |"):
        assert words in whole


# -- files -------------------------------------------------------------------------------------------------------------


def test_a_report_is_written_whole_and_nothing_is_overwritten(
    result: StudyResult, page: str, tmp_path: Path
) -> None:
    path = tmp_path / "report.html"
    write_report(result, path)
    assert path.read_text("utf-8") == page
    write_report(result, tmp_path / "report.md")
    with pytest.raises(FileExistsError, match=r"report\.html.*already exists.*overwrite=True"):
        write_report(result, path)
    path.write_text("old")
    write_report(result, path, overwrite=True)
    assert path.read_text("utf-8") == page
    assert sorted(os.listdir(tmp_path)) == ["report.html", "report.md"]
    with pytest.raises(FileNotFoundError, match=r"the directory .* does not exist"):
        write_report(result, tmp_path / "nowhere" / "report.html")
    for wrong in ("report.pdf", "report"):
        with pytest.raises(ValueError, match=r"the name of a report must end in \.html or \.md"):
            write_report(result, tmp_path / wrong)
