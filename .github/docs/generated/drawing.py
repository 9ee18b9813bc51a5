"""A small drawing of boxes, lines and text as SVG, readable in light and dark themes."""

from collections.abc import Sequence
from html import escape

_COLOURS = {
    "snapshot": "#3b7ddd",
    "list": "#9361d8",
    "manifest": "#148f7f",
    "data": "#cf6a1c",
}
_GREY = "#767676"
_ROW = 20


class Drawing:
    """Collects shapes; `svg` returns the image.

    Args:
        width: width in pixels.
    """

    def __init__(self, width: int) -> None:
        self.width = width
        self.parts: list[str] = []

    def box(
        self, x: float, y: float, width: float, text: str, *, tone: str, centre: bool = False
    ) -> None:
        """Add a box of one row height with a text.

        Args:
            x: left edge.
            y: top edge.
            width: width in pixels.
            text: text inside.
            tone: the colour, by kind of file.
            centre: whether the text is centred.
        """
        colour = _COLOURS[tone]
        self.parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{_ROW}" rx="3" fill="{colour}" '
            f'fill-opacity=".16" stroke="{colour}"/>'
        )
        left = x + width / 2 if centre else x + 6
        anchor = "middle" if centre else "start"
        self.parts.append(
            f'<text x="{left:g}" y="{y + 14:g}" text-anchor="{anchor}" class="ink">'
            f"{escape(text)}</text>"
        )

    def text(self, x: float, y: float, text: str) -> None:
        """Add a text without a box; `y` is its base line."""
        self.parts.append(f'<text x="{x:g}" y="{y:g}">{escape(text)}</text>')

    def lines(self, start: tuple[float, float], ends: Sequence[tuple[float, float]]) -> None:
        """Add curves from one point to several."""
        for x, y in ends:
            half = (start[0] + x) / 2
            self.parts.append(
                f'<path d="M{start[0]:g} {start[1]:g}C{half:g} {start[1]:g} {half:g} {y:g} {x:g} '
                f'{y:g}" fill="none" stroke="{_GREY}"/>'
            )

    def svg(self, height: float) -> str:
        """Return the image."""
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{height:g}" '
            f'viewBox="0 0 {self.width} {height:g}" font-family="sans-serif" font-size="11" '
            f'fill="{_GREY}">{"".join(self.parts)}</svg>'
        )
