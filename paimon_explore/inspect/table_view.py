"""What the views of this layer need to know of a table; the facade builds it.

>>> from paimon_explore.fileio.memory import MemoryFileIO
>>> from paimon_explore.metadata.paths import TablePaths
>>> store = TableStore(MemoryFileIO(), TablePaths("/wh/default.db/orders"))
>>> TableView(store=store, schema=None, name="default.orders").short_name
'orders'
"""

from dataclasses import dataclass

from paimon_explore.metadata.schema import TableSchema
from paimon_explore.store.table_store import TableStore


@dataclass(frozen=True, slots=True, kw_only=True)
class TableView:
    """One branch of a table, as views look at it.

    Attributes:
        store: its metadata files, of its branch.
        schema: the newest schema; None when no schema can be read, which views survive.
        name: `database.table`.
        expression: the variable that holds the table in the lines of code that views show.
    """

    store: TableStore
    schema: TableSchema | None
    name: str
    expression: str = "t"

    @property
    def short_name(self) -> str:
        """The table without its database."""
        return self.name.rpartition(".")[2]

    @property
    def database(self) -> str:
        """The database; empty when the name has none."""
        return self.name.rpartition(".")[0]

    @property
    def location(self) -> str:
        """The table's folder."""
        return self.store.paths.root

    @property
    def branch(self) -> str:
        """The branch that is looked at."""
        return self.store.paths.branch
