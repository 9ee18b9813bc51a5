"""Read, write, explain and explore Apache Paimon tables.

    >>> import paimon_explore as pe
    >>> warehouse = pe.demo()
    >>> table = warehouse.table("demo.orders")
    >>> table.at(snapshot=1).to_arrow().num_rows
    6

`pe.spark`, `pe.inspect` and `pe.widgets` are loaded when they are first used, so that importing
this package stays light.
"""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from paimon_explore.errors import InvalidInputError, PaimonError
from paimon_explore.scan.builder import col, lit
from paimon_explore.scan.sql import expr
from paimon_explore.table.catalog import Catalog
from paimon_explore.table.demo import demo
from paimon_explore.table.table import Table, open_table
from paimon_explore.table.tracing import trace
from paimon_explore.table.warehouse_listing import listing as _listing

if TYPE_CHECKING:
    from paimon_explore.widgets.magics import Shell

__all__ = ["Catalog", "PaimonError", "Table", "col", "demo", "expr", "lit", "open_table", "trace"]

_DOORS = ("inspect", "spark", "widgets")


def load_ipython_extension(shell: "Shell") -> None:
    """Register the magics `%paimon` and `%%paimon_trace`, and let tables show the explorer.

    Args:
        shell: the interactive shell that asks, by `%load_ext paimon_explore`.
    """
    from paimon_explore.widgets.magics import Doors, register  # noqa: PLC0415 - for notebooks only

    doors = Doors(
        open=lambda path, branch: open_table(path, branch=branch),
        listing=_listing,
        at=lambda table, snapshot, tag: _table(table).at(snapshot=snapshot, tag=tag),
        explore=lambda table: _table(table).explore(),
        trace=trace,
        table=Table,
        watched=(Table, Catalog),
    )
    register(shell, doors)


def _table(value: object) -> Table:
    if not isinstance(value, Table):
        raise InvalidInputError(f"{type(value).__name__} is no table.")
    return value


def __getattr__(name: str) -> ModuleType:
    """The public doors, imported when first asked for."""
    if name in _DOORS:
        return import_module(f"{__name__}.{name}")
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg, name=name, obj=None)


def __dir__() -> list[str]:
    """The public names and doors."""
    return sorted([*__all__, *_DOORS])
