"""The scripts that the browser gets: read once each, from the package."""

from functools import cache
from pathlib import Path

from paimon_explore.errors import InvalidInputError

STATIC = Path(__file__).parent / "static"
PANES = ("bytes", "sheet")
"""Bundles that the explorer asks for when one of its panes is first opened."""


@cache
def bundle(name: str) -> str:
    """The script of a widget."""
    return (STATIC / f"{name}.js").read_text(encoding="utf-8")


def pane_bundle(name: str) -> str:
    """The script of a pane.

    Raises:
        InvalidInputError: there is no such pane.
    """
    if name not in PANES:
        raise InvalidInputError(f"There is no pane {name[:40]!r}.")
    return bundle(name)
