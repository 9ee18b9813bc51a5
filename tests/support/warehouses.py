"""Catalogs whose tables are made of metadata alone, for the explorer of catalogs."""

from collections.abc import Iterator, Mapping

from paimon_explore.errors import NotFoundError, StorageError
from paimon_explore.inspection.table_view import TableView
from paimon_explore.inspection.warehouse.warehouse_state import ObjectKey
from paimon_explore.inspection.warehouse.warehouse_tables import ObjectType
from support.explored import HOSTILE, History

BROKEN = "broken"
"""A database that cannot be listed."""
HOSTILE_NAME = HOSTILE.replace("/", "").replace("\0", "")
"""What must never run, as a name that a folder can have."""


class Source:
    """A catalog as the explorer of catalogs sees it; it counts what is asked.

    Args:
        content: the tables by database and name.
    """

    title = "/wh"
    expression = "catalog"
    place: Mapping[str, str] = {"warehouse": "/wh"}

    def __init__(self, content: Mapping[str, Mapping[str, History]]) -> None:
        self.content = content
        self.views: dict[str, list[str]] = {}
        self.refuses_functions = False
        self.listed = 0
        self.opened: list[str] = []

    def databases(self) -> list[str]:
        """The names of the databases."""
        return [*self.content]

    def names(self, kind: ObjectType, database: str) -> Iterator[str]:
        """The names of the tables or views of a database."""
        if database == BROKEN:
            raise StorageError("list", "/wh/broken.db", "refused")
        if kind is ObjectType.FUNCTION and self.refuses_functions:
            raise StorageError("list", f"/wh/{database}.db", "no functions")
        listings = {ObjectType.TABLE: [*self.content[database]]}
        listings[ObjectType.VIEW] = self.views.get(database, [])
        for name in listings.get(kind, []):
            self.listed += 1
            yield name

    def view(self, database: str, table: str) -> TableView:
        """Open a table."""
        self.opened.append(f"{database}.{table}")
        if table not in self.content[database]:
            raise NotFoundError("table", table, database)
        return self.content[database][table].view

    def comment(self, kind: ObjectType, database: str, name: str) -> str:
        """The comment of a view."""
        return f"{kind.value} {database}.{name}"

    def text(self) -> str:
        """The catalog as text."""
        return "Catalog('/wh')"

    def html(self) -> str:
        """The catalog as HTML."""
        return "<p>/wh</p>"


def two_commits() -> History:
    """A table of one file, of two that were added."""
    history = History()
    history.commit(("+", "f1"), ("+", "f2"), commit_user="ada")
    history.commit(("-", "f1"), commit_user="bob")
    return history


def damaged() -> History:
    """A table without the manifest list of its latest snapshot."""
    history = two_commits()
    history.store.file_io.delete(history.store.paths.manifest("manifest-list-2-0"))
    return history


def key(name: str, database: str = "db") -> ObjectKey:
    """A table."""
    return ObjectKey(database, name)
