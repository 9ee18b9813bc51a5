"""The function that runs SQL statements, which is in a layer above this one.

A method of `Catalog` cannot import a layer above, so the package sets the function when it is
imported. This module imports nothing at run time, because every import of the package loads it.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from paimon_explore.table.sql_result import Parameters, SqlResult


class SqlRunner(Protocol):
    """Runs SQL statements."""

    def __call__(
        self,
        text: str,
        parameters: "Parameters",
        *,
        catalog: object,
        tables: Mapping[str, object],
        dialect: str,
    ) -> "SqlResult":
        """Run statements; see `Catalog.sql`."""


_PROVIDERS: list[Callable[[], SqlRunner]] = []


def provide_sql(load: Callable[[], SqlRunner]) -> None:
    """Set the function that loads the layer of SQL."""
    _PROVIDERS[:] = [load]


def sql_runner() -> SqlRunner:
    """Return the function that runs SQL statements."""
    return _PROVIDERS[0]()
