# SPDX-License-Identifier: BSD-3-Clause
"""A tree as a drawing, in the language of Graphviz.

Each edge says which rows take it: those of the test, and beneath it those that lack its attribute. The colours are made
for light and dark pages: pale boxes with black words, grey lines, nothing behind them.
"""

from __future__ import annotations

from collections.abc import Iterator

from fasttree.base.quoting import readable
from fasttree.base.text import exact_number, number_text, weight_text
from fasttree.draw.answers import answer_text, deviation_text, relative_height
from fasttree.draw.branches import listed, surrogate_text
from fasttree.draw.text import notes
from fasttree.trees.view import ALL_BRANCHES, Exportable, Surrogate, Test

LINE = 36  # signs of a line on an edge
LISTED = 6  # levels of a branch that are named where it may be called that of the others
SHARES = 3  # classes whose share is shown in a box
INNER = "#ececec"
CLASSES = (
    "#a6cee3", "#fdbf6f", "#b2df8a", "#fb9a99", "#cab2d6", "#ffff99", "#99e0d9", "#f2c6de"
)  # fmt: skip
# Of means, from the lowest to the highest.
HEIGHTS = ("#9ecae1", "#c6dbef", "#e6eef5", "#fdd0a2", "#fdae6b")

HEAD = """\
digraph tree {
  graph [bgcolor="transparent", fontname="Helvetica,sans-serif", fontsize=10, fontcolor="#808080", labeljust="l"]
  node [shape=box, style="rounded,filled", color="#808080", fontname="Helvetica,sans-serif", fontsize=11]
  edge [color="#808080", fontcolor="#808080", fontname="Helvetica,sans-serif", fontsize=10, arrowsize=0.6]"""


def export(model: Exportable) -> str:
    """A digraph; where the mouse rests on a box or an edge of its SVG, numbers are shown in full."""
    lines = [HEAD]
    remarks = notes(model)
    if remarks:
        lines.append(f'  label="{_lines(remarks, left=True)}"')
    for node in range(model.node_count):
        lines.append(_box(model, node))
        if not model.is_leaf(node):
            lines += _edges(model, node)
    return "\n".join([*lines, "}"]) + "\n"


def _box(model: Exportable, node: int) -> str:
    tree = model.tree
    label = answer_text(tree, node)
    said, about = [label], _of_numbers if model.predicts_numbers else _of_classes
    if not model.is_leaf(node):
        name = readable(model.names[int(tree.attribute[node])])
        said = [name, f"unknown: {label}"] if model.ends[node] else [name]
    more, tooltip, colour = about(model, node)
    said += more
    rows = weight_text(float(tree.weighted_n_node_samples[node]))
    said.append(f"{rows} row{'' if rows == '1' else 's'}")
    tooltip = [f"node {node}", *tooltip]
    colour = colour if model.is_leaf(node) else INNER
    return f'  {node} [label="{_lines(said)}", tooltip="{_lines(tooltip)}", fillcolor="{colour}"]'


def _of_classes(model: Exportable, node: int) -> tuple[list[str], list[str], str]:
    """What a box and its tooltip say of the classes, and the colour of the class."""
    proba = model.tree.proba[node].tolist()
    order = sorted(range(model.n_classes), key=lambda c: -proba[c])[:SHARES]
    said = [f"{readable(model.classes[c])}: {proba[c]:.1%}" for c in order if proba[c] > 0]
    tooltip = [f"{readable(v)}: {p!r}" for v, p in zip(model.classes, proba, strict=True)]
    return said, tooltip, CLASSES[int(model.decision[node]) % len(CLASSES)]


def _of_numbers(model: Exportable, node: int) -> tuple[list[str], list[str], str]:
    """The same of the numbers: blue to orange, from the lowest to the highest."""
    tree = model.tree
    mean, error = float(tree.prediction[node]), float(tree.error[node])
    said = [] if model.is_leaf(node) else [f"mean {number_text(mean)}"]
    said.append(f"sd {deviation_text(error)}")
    step = min(int(relative_height(tree, node) * len(HEIGHTS)), len(HEIGHTS) - 1)
    return said, [f"mean: {mean!r}", f"sd: {error!r}"], HEIGHTS[step]


def _edges(model: Exportable, node: int) -> Iterator[str]:
    test = model.test(node)
    shares = model.parts(node) if test.missing_branch == ALL_BRANCHES else None
    known = _known(model, test)
    for branch, child in enumerate(test.children):
        said = [known[branch]] if known[branch] else []
        if test.surrogates:
            said += _surrogates(model, test, branch)
        elif shares is not None:
            said += [f"missing: {shares[branch]:.1%}"] if shares[branch] > 0 else []
        elif branch == test.missing_branch:
            said.append("missing (none in training)" if test.missing_seen is False else "missing")
        tooltip = (
            ""
            if shares is None
            else f', tooltip="{shares[branch]!r} of the rows with a missing value"'
        )
        yield f'  {node} -> {child} [label="{_lines(said, left=True)}"{tooltip}]'


def _known(model: Exportable, test: Test) -> list[str]:
    """The values of each branch."""
    if not test.is_table:
        number = exact_number(test.threshold, model.attributes[test.attribute].time)
        return [f"<= {number}", f"> {number}"]
    levels = model.levels(test.attribute)
    by_branch = test.levels(len(levels))
    longest = max(range(test.n_branches), key=lambda branch: len(by_branch[branch]))
    said = [
        f"= {{{listed([levels[code - 1] for code in codes])}}}" if codes else ""
        for codes in by_branch
    ]
    if (
        model.attributes[test.attribute].others is not None
    ):  # whose levels are all that nobody else lists
        longest = next(branch for branch, codes in enumerate(by_branch) if len(levels) in codes)
        said[longest] = "any other category"
    elif len(by_branch[longest]) > LISTED:
        said[longest] = "any other category"
    return said


def _surrogates(model: Exportable, test: Test, branch: int) -> Iterator[str]:
    for number, surrogate in enumerate(test.surrogates, start=1):
        yield f"missing {number}. {_instead(model, surrogate, branch)}"
    if branch == test.missing_branch:
        yield f"missing {len(test.surrogates) + 1}. all others"


def _instead(model: Exportable, surrogate: Surrogate, branch: int) -> str:
    levels = model.levels(surrogate.attribute)
    codes = [code for code, to in surrogate.branch_of.items() if to == branch]
    if model.attributes[surrogate.attribute].others is None or len(levels) not in codes:
        return surrogate_text(model, surrogate, branch, exact_number)
    here = [levels[code - 1] for code in codes]
    rest = [level for level in levels if level not in here]
    return f"{readable(model.names[surrogate.attribute])} is not in {{{listed(rest)}}}"


def _lines(said: list[str], left: bool = False) -> str:
    """Lines as a string of Graphviz, which reads entities of HTML; long lists go over several."""
    end = "\\l" if left else "\\n"
    lines = [line for text in said for line in _wrapped(text)]
    written = [
        line.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;") for line in lines
    ]
    return end.join(written) + (end if left else "")


def _wrapped(text: str) -> Iterator[str]:
    """Cut after commas and spaces of lists; each further line begins with a space."""
    line = ""
    for part in text.split(", "):
        joined = f"{line}, {part}" if line else part
        if line and len(joined) > LINE:
            yield f"{line},"
            joined = f" {part}"
        line = joined
    yield line
