"""Loads the JavaScript bundles of the widgets from the package; each is read once."""

from functools import cache
from pathlib import Path

from paimon_explore.errors import InvalidInputError

STATIC = Path(__file__).parent / "static"
PANES = ("bytes", "sheet")
"""Bundles that the explorer loads when one of its panes is first opened."""


@cache
def bundle(name: str) -> str:
    """The bundle of a widget."""
    return (STATIC / f"{name}.js").read_text(encoding="utf-8")


def pane_bundle(name: str) -> str:
    """The bundle of a pane.

    Raises:
        InvalidInputError: the pane does not exist.
    """
    if name not in PANES:
        raise InvalidInputError(f"Unknown pane {name[:40]!r}.")
    return bundle(name)
