"""Rows of the reference's tables as entries of the search.

A search for an option, an environment variable, a procedure or a system table leads to its row.
"""

from collections.abc import Mapping

from docutils import nodes
from sphinx.application import Sphinx

KINDS: Mapping[str, tuple[str, str]] = {
    "option": ("option-row", "option"),
    "variable": ("variable-row", "environment variable"),
    "procedure": ("procedure-row", "procedure"),
    "system table": ("system-table-row", "system table"),
}
"""Kind of entry by the title of a table's first column, and what the search calls it."""


def _read(app: Sphinx, doctree: nodes.document) -> None:
    """Make entries of the rows of a page; for the event `doctree-read`."""
    if not app.env.docname.startswith("reference/"):
        return
    for table in doctree.findall(nodes.table):
        title, *rows = table.findall(nodes.row)
        if title[0].astext() in KINDS:
            for row in rows:
                _add(app, row, KINDS[title[0].astext()][0])


def _add(app: Sphinx, row: nodes.row, kind: str) -> None:
    domain = app.env.domains.standard_domain
    for code in row[0].findall(nodes.literal):
        name = code.astext()
        if (kind, name) not in domain.objects:  # the first row of a name counts
            place = nodes.make_id(f"{kind}-{name}")
            row["ids"].append(place)
            domain.note_object(kind, name, place, location=row)


def setup(app: Sphinx) -> None:
    """Register the kinds of entries."""
    for kind, title in KINDS.values():
        app.add_object_type(kind, kind, objname=title)
    app.connect("doctree-read", _read)
