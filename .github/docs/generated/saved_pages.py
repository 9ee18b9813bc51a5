"""Pages without Python behind them: explorers and charts, shown in frames of the site's pages."""

import shutil
import tempfile
from html import escape
from pathlib import Path

from sphinx.application import Sphinx

from generated.pictures import table

_FOLDER = tempfile.TemporaryDirectory(prefix="paimon-explore-pages-")
FOLDER = Path(_FOLDER.name)
"""Where pages are saved while the site is built."""
_NAME = "saved"


def explorer(name: str) -> str:
    """Return a frame with the explorer of a table of the demo warehouse.

    Args:
        name: name of the table.
    """
    file = f"{name}.html"
    table(name).explore().save_html(FOLDER / file)
    return f"{frame(file, f'The explorer of demo.{name}')}\n"


def frame(file: str, title: str, depth: int = 0) -> str:
    """Return a frame with a saved page, in HTML.

    Args:
        file: name of the page below `FOLDER`.
        title: what the page shows, for screen readers.
        depth: how many folders the page with the frame is below the site's first page.
    """
    path = f"{'../' * depth}_static/{_NAME}/{file}"
    return (
        f'<iframe class="saved" src="{path}" title="{escape(title)}" loading="lazy"></iframe>'
        f'<p class="small"><a href="{path}">Open in a page of its own</a></p>'
    )


def _copy(app: Sphinx, error: Exception | None) -> None:
    """Copy the pages into the built site; for the event `build-finished`."""
    if error is None and app.builder.format == "html":
        target = app.outdir / "_static" / _NAME
        target.mkdir(parents=True, exist_ok=True)
        for page in FOLDER.iterdir():
            shutil.copyfile(page, target / page.name)


def setup(app: Sphinx) -> None:
    """Register the copying of saved pages."""
    app.connect("build-finished", _copy)
