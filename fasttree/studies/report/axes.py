# SPDX-License-Identifier: BSD-3-Clause
"""The square that shares are drawn in, from 0 to 1 both ways, as pieces of SVG."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fasttree.draw.svg import xml_text

Points = Iterable[tuple[float, float]]


class Square:
    """A frame of `side` pixels with its scales; drawings are added piece by piece."""

    def __init__(
        self, side: float, left: float, top: float, right: float, bottom: float, x: str, y: str
    ) -> None:
        self.side, self.left, self.top = side, left, top
        self.width, self.height = left + side + right, top + side + bottom
        self.pieces: list[str] = []
        low = top + side
        self.pieces.append(
            f'<rect class="frame" x="{left}" y="{top}" width="{side}" height="{side}"/>'
            f'<path class="diagonal" d="M{left} {low}L{left + side} {top}"/>'
        )
        steps = (0.0, 0.5, 1.0) if side < 200 else (0.0, 0.25, 0.5, 0.75, 1.0)
        for share in steps:
            at_x, at_y = self.place(share, share)
            self.text(at_x, low + 14, f"{share:g}", anchor="middle")
            self.text(left - 5, at_y + 4, f"{share:g}", anchor="end")
        if x:
            self.text(left + side / 2, low + 31, x, anchor="middle")
        if y:
            middle = top + side / 2
            self.pieces.append(
                f'<text transform="translate(12 {middle:.1f}) rotate(-90)" text-anchor="middle">{xml_text(y)}</text>'
            )

    def place(self, x: float, y: float) -> tuple[float, float]:
        return self.left + x * self.side, self.top + (1 - y) * self.side

    def path(self, points: Points, kind: str) -> None:
        self.pieces.append(f'<path class="{kind}" d="{self._d(points)}"/>')

    def band(
        self, x: Sequence[float], low: Sequence[float], high: Sequence[float], kind: str
    ) -> None:
        outline = [*zip(x, high, strict=True), *reversed(list(zip(x, low, strict=True)))]
        self.pieces.append(f'<path class="{kind}" d="{self._d(outline)}Z"/>')

    def dot(self, x: float, y: float, kind: str, radius: float = 3) -> None:
        at_x, at_y = self.place(x, y)
        self.pieces.append(f'<circle class="{kind}" cx="{at_x:.1f}" cy="{at_y:.1f}" r="{radius}"/>')

    def text(self, x: float, y: float, text: str, *, kind: str = "", anchor: str = "start") -> None:
        """At pixels of the drawing."""
        of_kind = f' class="{kind}"' if kind else ""
        self.pieces.append(
            f'<text{of_kind} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{xml_text(text)}</text>'
        )

    def svg(self, title: str, description: str, name: str) -> str:
        return framed("".join(self.pieces), self.width, self.height, title, description, name)

    def _d(self, points: Points) -> str:
        placed = (self.place(x, y) for x, y in points)
        return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in placed)


def framed(inside: str, width: float, height: float, title: str, desc: str, name: str) -> str:
    """As wide as the page lets it be."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" role="img" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'aria-labelledby="{name}-title {name}-desc"><title id="{name}-title">{xml_text(title)}</title>'
        f'<desc id="{name}-desc">{xml_text(desc)}</desc>{inside}</svg>'
    )
