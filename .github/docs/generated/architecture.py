"""The page about the architecture, from `.github/ARCHITECTURE.md`."""

import re
from collections import defaultdict
from pathlib import Path

from generated.layer_picture import draw
from generated.pictures import figure

_PAGE = Path(__file__).parents[2] / "ARCHITECTURE.md"
_CHART = re.compile(r"```mermaid\n(.*?)```\n", re.DOTALL)
_PACKAGES = "## Packages\n"
_CAPTION = "Operations on demo.customers: how many modules of each layer they call."


def page() -> str:
    """Return the page; its chart, which needs a script to be drawn, becomes a table of imports."""
    text = _PAGE.read_text(encoding="utf-8")
    charts = _CHART.findall(text)
    if len(charts) != 1:
        raise LookupError(f"{_PAGE} has {len(charts)} charts of packages, expected 1.")
    before, heading, rest = _CHART.sub(lambda _: _imports(charts[0]), text).partition(_PACKAGES)
    return f"{before}{figure(_CAPTION, draw(text))}\n{heading}{rest}"


def _imports(chart: str) -> str:
    found: defaultdict[str, list[str]] = defaultdict(list)
    for line in chart.splitlines():
        package, arrow, imported = line.strip().partition(" --> ")
        if arrow:
            found[package].append(f"`{imported}`")
    rows = [f"| `{package}` | {', '.join(names)} |" for package, names in found.items()]
    return "\n".join(["| package | imports |", "| --- | --- |", *rows, ""])
