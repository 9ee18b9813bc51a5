"""The navigation beside each page: titles of pages only.

The theme asks for the tree of all pages with every page. Copying the entries of a thousand methods
each time, to leave them out later, would take a quarter of the build.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

_Contents = dict[str, nodes.bullet_list]


def _titles(contents: nodes.bullet_list) -> nodes.bullet_list:
    """Return the contents of a page without the parts that lead to no other page."""
    copied = contents.deepcopy()
    for item in list(copied.findall(nodes.list_item)):
        has_pages = next(item.findall(addnodes.toctree), None) is not None
        if item.parent is not copied and not has_pages:
            item.parent.remove(item)
    return copied


@contextmanager
def _only_titles(env: BuildEnvironment, titles: _Contents) -> Iterator[None]:
    complete, env.tocs = env.tocs, titles
    try:
        yield
    finally:
        env.tocs = complete


def setup(app: Sphinx) -> None:
    """Connect to the pages, before the theme asks for the tree."""
    kept: _Contents = {}

    def page_context(
        app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object
    ) -> None:
        del page, template, doctree
        if "toctree" not in context:
            return
        if not kept:
            kept.update({name: _titles(toc) for name, toc in app.env.tocs.items()})
        tree: Callable[..., str] = context["toctree"]

        def titles_only(**options: object) -> str:
            with _only_titles(app.env, kept):
                return tree(**options)

        context["toctree"] = titles_only

    app.connect("html-page-context", page_context, priority=100)
