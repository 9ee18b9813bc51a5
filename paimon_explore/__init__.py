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

from paimon_explore.errors import PaimonError
from paimon_explore.scan.builder import col, lit
from paimon_explore.scan.sql import expr
from paimon_explore.table.catalog import Catalog
from paimon_explore.table.demo import demo
from paimon_explore.table.table import Table, open_table

__all__ = ["Catalog", "PaimonError", "Table", "col", "demo", "expr", "lit", "open_table"]

_DOORS = ("inspect", "spark", "widgets")


def __getattr__(name: str) -> ModuleType:
    """The public doors, imported when first asked for."""
    if name in _DOORS:
        return import_module(f"{__name__}.{name}")
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg, name=name, obj=None)


def __dir__() -> list[str]:
    """The public names and doors."""
    return sorted([*__all__, *_DOORS])
