"""A catalog in notebooks: its databases with the first of their tables, views and functions."""

from collections.abc import Iterator, Mapping
from itertools import islice

from paimon_explore.errors import PaimonError
from paimon_explore.inspection.rendering.escape import esc
from paimon_explore.metastore.metastore import Metastore

_MAX_DATABASES = 20
_MAX_NAMES = 30
"""A server is asked for no more names than are shown."""


def catalog_html(metastore: Metastore, shown: Mapping[str, str]) -> str:
    """Return the content of a catalog as static HTML, or the error if it cannot be read.

    Args:
        metastore: the catalog.
        shown: its options, without secrets.
    """
    facts = " · ".join(f"{esc(key)} {esc(value)}" for key, value in shown.items())
    try:
        names = metastore.databases()
        rows = "".join(_row(metastore, name) for name in names[:_MAX_DATABASES])
    except PaimonError as error:
        return f"<p>Catalog {facts}</p><p>{esc(str(error))}</p>"
    hidden = len(names) - _MAX_DATABASES
    more = f"<p>and {hidden} more databases</p>" if hidden > 0 else ""
    head = "<tr><th>database</th><th>tables</th><th>views</th><th>functions</th></tr>"
    table = f"<table><thead>{head}</thead><tbody>{rows}</tbody></table>"
    return f"<p>Catalog {facts}</p>{table}{more}"


def _row(metastore: Metastore, database: str) -> str:
    lists = (metastore.tables(database), metastore.views(database), metastore.functions(database))
    cells = "".join(f"<td>{esc(_first(names))}</td>" for names in lists)
    return f"<tr><th>{esc(database)}</th>{cells}</tr>"


def _first(names: Iterator[str]) -> str:
    found = list(islice(names, _MAX_NAMES + 1))
    more = ["…"] if len(found) > _MAX_NAMES else []
    return ", ".join(found[:_MAX_NAMES] + more)
