"""The parts of pages that are generated from the code while the site is built.

A page names such a part by a comment on a line of its own, `<!-- generated: NAME ARGUMENTS -->`,
which is replaced by Markdown before the page is parsed. Nothing is written to the sources' folder.
"""

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from sphinx.application import Sphinx

from generated import (
    api_pages,
    architecture,
    command_line,
    error_pages,
    explorer_page,
    inherited_attributes,
    measured,
    navigation,
    notebooks,
    pictures,
    predicates,
    references,
    saved_pages,
    search_entries,
    settings,
    signatures,
    sql_statements,
    system_tables,
)

GENERATORS: Mapping[str, Callable[..., str]] = {
    "api": api_pages.members,
    "api-result-parts": api_pages.result_parts,
    "architecture": architecture.page,
    "benchmarks": measured.benchmarks,
    "catalog-options": settings.catalog_options,
    "commands": command_line.commands,
    "error-entries": error_pages.entries,
    "error-tree": error_pages.tree,
    "explorer": saved_pages.explorer,
    "explorer-tabs": explorer_page.tabs,
    "golden-tables": measured.golden_table,
    "interop-tests": measured.interop_table,
    "interop-kinds": measured.kinds,
    "limits": settings.limit_table,
    "notebook": notebooks.LEARN.page,
    "notebooks": notebooks.LEARN.cards,
    "peer-counts": measured.peer_counts,
    "peers": measured.peers,
    "picture": pictures.picture,
    "predicate-functions": predicates.function_table,
    "predicate-grammar": predicates.grammar,
    "predicate-numbers": predicates.number_types,
    "other-procedures": settings.other_procedures,
    "spark-procedures": settings.procedures,
    "sql-statements": sql_statements.statements,
    "store-client-options": settings.client_options,
    "store-options": settings.store_names,
    "store-prefixes": settings.store_prefixes,
    "system-tables": system_tables.of_tables,
    "system-tables-catalog": system_tables.of_catalog,
    "system-tables-rows": system_tables.of_rows,
    "type-aliases": api_pages.type_aliases,
}
"""Each generator by the name that pages use; it returns Markdown."""

_COMMENT = re.compile(r"^<!-- generated: (\S+)(?: (.*?))? -->$", re.MULTILINE)


def expanded(text: str) -> str:
    """Return a page with its generated parts.

    Args:
        text: the page as written.

    Raises:
        KeyError: no generator has the name.
    """
    return _COMMENT.sub(lambda found: GENERATORS[found[1]](*(found[2] or "").split()), text)


def _read(app: Sphinx, docname: str, content: list[str]) -> None:
    """Replace the comments of a page; for the event `source-read`."""
    del app, docname
    content[0] = expanded(content[0])


def _depend(app: Sphinx, docname: str, content: list[str]) -> None:
    """Build a page again when a generator changes; for the event `source-read`."""
    if _COMMENT.search(content[0]):
        for path in Path(__file__).parent.glob("*.py"):
            app.env.note_dependency(str(path), docname=docname)


def setup(app: Sphinx) -> dict[str, object]:
    """Register the generators as a Sphinx extension."""
    app.connect("source-read", _depend, priority=400)
    app.connect("source-read", _read)
    inherited_attributes.setup(app)
    navigation.setup(app)
    notebooks.setup(app)
    signatures.setup(app)
    references.setup(app)
    saved_pages.setup(app)
    search_entries.setup(app)
    # Pages that are read in another process would wait for notebooks that run in this one.
    return {"parallel_read_safe": False, "parallel_write_safe": True}
