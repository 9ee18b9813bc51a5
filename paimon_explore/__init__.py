"""Read, write, explain and explore Apache Paimon tables.

    >>> import paimon_explore as pe
    >>> warehouse = pe.demo()
    >>> table = warehouse.table("demo.orders")
    >>> table.at(snapshot=1).to_arrow().num_rows
    6

Importing this package loads nothing: every name is loaded when it is first used, and the doors of
a table load what they need when they are first opened.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType

    from paimon_explore.errors import PaimonError
    from paimon_explore.scan.predicate.builder import col, lit
    from paimon_explore.scan.predicate.sql_parser import expr
    from paimon_explore.table.catalog.catalog import Catalog
    from paimon_explore.table.catalog.demo import demo
    from paimon_explore.table.table import Table, open_table
    from paimon_explore.table.trace_context import trace
    from paimon_explore.widgets.magics import Shell

__all__ = ["Catalog", "PaimonError", "Table", "col", "demo", "expr", "lit", "open_table", "trace"]

_DOORS = {"errors": "errors", "inspect": "inspection", "spark": "spark", "widgets": "widgets"}
"""The package or module of each public namespace."""
_HOMES = {
    "Catalog": "table.catalog.catalog",
    "PaimonError": "errors",
    "Table": "table.table",
    "col": "scan.predicate.builder",
    "demo": "table.catalog.demo",
    "expr": "scan.predicate.sql_parser",
    "lit": "scan.predicate.builder",
    "open_table": "table.table",
    "trace": "table.trace_context",
}
"""The module of each public name."""


def load_ipython_extension(shell: "Shell") -> None:
    """Register the magics `%paimon` and `%%paimon_trace`, and let tables show the explorer.

    Args:
        shell: the interactive shell that asks, by `%load_ext paimon_explore`.
    """
    from paimon_explore.table.magics_api import register  # noqa: PLC0415 - for notebooks only

    register(shell)


def __getattr__(name: str) -> "ModuleType":
    """The public names and doors, loaded when first asked for; type checkers know the names."""
    if name in _DOORS:
        return import_module(f"{__name__}.{_DOORS[name]}")
    if name in _HOMES:
        value: ModuleType = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
        globals()[name] = value
        return value
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg, name=name, obj=None)


def __dir__() -> list[str]:
    """The public names and doors."""
    return sorted([*__all__, *_DOORS])
