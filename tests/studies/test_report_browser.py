# SPDX-License-Identifier: BSD-3-Clause
"""The report as a browser shows it: on a phone and on a desk, light and dark. Needs Chromium and its driver."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import CHROMIUM, DRIVER, Browser, browser

from fasttree.studies import cesarean
from fasttree.studies.report import write_report

pytestmark = pytest.mark.skipif(
    CHROMIUM is None or DRIVER is None, reason="needs chromium and chromedriver"
)

# Every text with its colour and what lies behind it; the contrast as WCAG defines it.
CONTRASTS = """
const channel = c => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
const parts = text => text.match(/[\\d.]+/g).map(Number);
const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
const solid = text => { const p = parts(text); return p.length < 4 || p[3] === 1 ? p.slice(0, 3) : null; };
function behind(element) {
  const box = element.closest('g')?.querySelector(':scope > rect.b');
  if (element.closest('svg') && box) return solid(getComputedStyle(box).fill);
  for (let e = element; e; e = e.parentElement) {
    const found = solid(getComputedStyle(e).backgroundColor);
    if (found) return found;
  }
  return [255, 255, 255];
}
document.querySelectorAll('details').forEach(d => d.open = true);
const low = []; let n = 0;
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const element = walker.currentNode.parentElement;
  if (!walker.currentNode.data.trim() || ['title', 'desc', 'STYLE', 'style'].includes(element.tagName)) continue;
  const style = getComputedStyle(element);
  const colour = element.closest('svg') ? style.fill : style.color;
  const a = light(solid(colour)), b = light(behind(element));
  const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  n += 1;
  if (ratio < 4.5) low.push([walker.currentNode.data, colour, ratio]);
}
return [n, low];
"""

# Texts that stick out of the box of their node, and boxes and texts that lie on each other.
TREES = """
const wrong = []; let n = 0;
for (const svg of document.querySelectorAll('svg.ft-tree')) {
  for (const d of [svg.closest('details')]) if (d) d.open = true;
  const places = [];
  for (const g of svg.querySelectorAll('g > g')) {
    const box = g.querySelector('rect.b');
    if (box) {
      n += 1;
      const outer = box.getBBox();
      places.push(outer);
      for (const text of g.querySelectorAll('text')) {
        const inner = text.getBBox();
        if (inner.x < outer.x || inner.x + inner.width > outer.x + outer.width
            || inner.y < outer.y - 1 || inner.y + inner.height > outer.y + outer.height)
          wrong.push(['out of its box', text.textContent]);
      }
    } else for (const text of g.querySelectorAll('text')) places.push(text.getBBox());
  }
  const view = svg.viewBox.baseVal;
  for (let i = 0; i < places.length; i++) {
    const a = places[i];
    if (a.x < 0 || a.x + a.width > view.width || a.y + a.height > view.height) wrong.push(['cut off', i]);
    for (let j = 0; j < i; j++) {
      const b = places[j];
      const across = Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x);
      const down = Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y);
      if (across > 1 && down > 3) wrong.push(['on each other', i, j]);
    }
  }
}
return [n, wrong];
"""

FIGURES = """
document.querySelectorAll('details').forEach(d => d.open = true);
return [...document.querySelectorAll('figure svg')].map(svg => {
  const box = svg.getBoundingClientRect();
  const cut = [...svg.querySelectorAll('text')].filter(t => {
    const own = t.getBoundingClientRect();
    return own.left < box.left - 1 || own.right > box.right + 1 || own.top < box.top - 1 || own.bottom > box.bottom + 1;
  }).map(t => t.textContent);
  return [svg.querySelector('title').textContent, box.width, box.height, cut];
});
"""

WIDTHS = """
document.querySelectorAll('details').forEach(d => d.open = true);
return [document.documentElement.scrollWidth, document.documentElement.clientWidth, document.body.scrollWidth];
"""

LOOKS = [(390, False), (390, True), (1280, False), (1280, True)]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_report(cesarean.run(n_rows=6_000, seeds=2), path)
    return path


@pytest.fixture(scope="module")
def window() -> Iterator[Browser]:
    with browser() as own:
        yield own


@pytest.mark.parametrize(("width", "dark"), LOOKS)
def test_every_look(page: Path, window: Browser, width: int, dark: bool) -> None:
    window.log("browser")
    window.requests()
    window.open(page, width, dark=dark)
    assert window.run("return matchMedia('(prefers-color-scheme: dark)').matches") is dark
    assert window.run("return innerWidth") == width
    assert window.log("browser") == []  # the console
    asked = [
        url
        for url in window.requests()
        if not url.startswith(("data:", "chrome:", "chrome-untrusted:"))
    ]
    assert asked == [page.resolve().as_uri()]

    n_texts, low = window.run(CONTRASTS)
    assert n_texts > 500
    assert low == []

    needed, given, body = window.run(WIDTHS)
    assert max(needed, body) <= given  # no scrolling sideways

    figures = window.run(FIGURES)
    assert len(figures) > 30
    for title, wide, high, cut in figures:
        assert wide > 80, title
        assert high > 80, title
        assert cut == [], title

    n_boxes, wrong = window.run(TREES)
    assert n_boxes > 20
    assert wrong == []


def test_the_two_themes_differ(page: Path, window: Browser) -> None:
    colours = set()
    for dark in (False, True):
        window.open(page, dark=dark)
        colours.add(window.run("return getComputedStyle(document.body).backgroundColor"))
    assert len(colours) == 2
