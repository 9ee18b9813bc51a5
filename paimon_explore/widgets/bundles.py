"""Loads the JavaScript bundles of the widgets from the package; each is read once."""

from functools import cache
from pkgutil import get_data

from paimon_explore.errors import InvalidInputError

WIDGETS = (
    *(
        *("bytes", "explorer", "live", "partitions", "profile", "report", "result_pages", "rows"),
        *("side_panes", "sql", "warehouse"),
    ),
)
"""Bundles of widgets and panes, which need `shared.js` before them."""
PANES = ("bytes", "live", "partitions", "profile", "report", "rows", "side_panes", "sql")
"""Bundles that the explorer loads after its first paint: `side_panes` at once, others on demand."""


@cache
def bundle(name: str) -> str:
    """The script of a widget or of the saved page, complete with what it needs."""
    script = (get_data(__package__, f"static/{name}.js") or b"").decode()
    return f"{bundle('shared')}\n{script}" if name in WIDGETS else script


def pane_bundle(name: str) -> str:
    """The bundle of a pane.

    Raises:
        InvalidInputError: the pane does not exist.
    """
    if name not in PANES:
        raise InvalidInputError(f"Unknown view {name[:40]!r}.")
    return bundle(name)
