"""Read, write, explain and explore Apache Paimon tables.

    >>> import paimon_explore as pe
    >>> warehouse = pe.demo()
    >>> table = warehouse.table("demo.orders")
    >>> table.at(snapshot=1).to_arrow().num_rows
    6

The import is lazy: every name is loaded on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import ModuleType

    from paimon_explore.encoding.variant.variant import Variant
    from paimon_explore.errors import PaimonError
    from paimon_explore.scan.predicate.builder import col, lit
    from paimon_explore.scan.predicate.sql_parser import expr
    from paimon_explore.sql_statements.session import sql
    from paimon_explore.table.catalog.catalog import Catalog
    from paimon_explore.table.catalog.demo import demo
    from paimon_explore.table.table import Table, compare, open_table
    from paimon_explore.table.trace_context import trace
    from paimon_explore.widgets.magics import Shell

__all__ = [
    "Catalog",
    "PaimonError",
    "Table",
    "Variant",
    "col",
    "compare",
    "demo",
    "expr",
    "lit",
    "open_table",
    "sql",
    "trace",
]

_NAMESPACES = {"errors": "errors", "inspect": "inspection", "spark": "spark", "widgets": "widgets"}
"""Public namespace -> its package or module."""
_NAMES_HERE = {
    "paimon_explore.Catalog(…) for a warehouse, or paimon_explore.open_table(path) for a table": (
        "connect open load load_table read read_table read_paimon scan_paimon table catalog "
        "load_catalog DeltaTable"
    ),
    "table.append(rows), table.upsert(rows) or table.overwrite(rows)": (
        "write write_table write_paimon append overwrite"
    ),
    "paimon_explore.Catalog(**options)": "CatalogFactory",
    "catalog.create_table(name, columns, primary_key=…, partition_by=…)": "Schema",
    "table.add_column(…) and the like": "SchemaChange",
    "the text 'database.table'": "Identifier",
    "catalog.sql(text)": "SQLContext",
    "table.create_tag(name) and table.tags": "Tag TagManager",
}
"""Names that other libraries have, by what does the same here."""
_EXTRAS = {"spark": "spark", "sql": "sql", "widgets": "notebook"}
"""Public name or namespace -> the extra with the packages that it needs."""
_MODULES = {
    "Catalog": "table.catalog.catalog",
    "PaimonError": "errors",
    "Table": "table.table",
    "Variant": "encoding.variant.variant",
    "col": "scan.predicate.builder",
    "compare": "table.table",
    "demo": "table.catalog.demo",
    "expr": "scan.predicate.sql_parser",
    "lit": "scan.predicate.builder",
    "open_table": "table.table",
    "sql": "sql_statements.session",
    "trace": "table.trace_context",
}
"""Public name -> its module."""


if TYPE_CHECKING:
    __version__: str


def load_ipython_extension(shell: "Shell") -> None:
    """Register `%paimon`, `%%paimon_trace` and `%%paimon_sql`, and show tables with the explorer.

    IPython calls this for `%load_ext paimon_explore`.

    Args:
        shell: the interactive shell.
    """
    from paimon_explore.ipython_extension import register  # noqa: PLC0415 - for notebooks only

    register(shell)


def _module(name: str) -> "ModuleType":
    """Import a public namespace, or the module of a public name."""
    try:
        return import_module(f"{__name__}.{_NAMESPACES.get(name) or _MODULES[name]}")
    except ModuleNotFoundError as error:
        if name not in _EXTRAS or (error.name or "").startswith(__name__):
            raise
        message = (
            f"paimon_explore.{name} needs the package {error.name}, which is not installed."
            f" Run: pip install 'paimon-explore[{_EXTRAS[name]}]'"
        )
        raise ModuleNotFoundError(message, name=error.name) from error


def __getattr__(name: str) -> Any:  # noqa: ANN401 - modules, classes, functions, a text
    """Load a public name or namespace on first use."""
    if name == "__version__":
        return _version()
    if name in _NAMESPACES:
        return _module(name)
    if name in _MODULES:
        value = getattr(_module(name), name)
        globals()[name] = value
        return value
    here = next((here for here, others in _NAMES_HERE.items() if name in others.split()), None)
    hint = "" if here is None else f". Use {here}."
    msg = f"module {__name__!r} has no attribute {name!r}{hint}"
    raise AttributeError(msg, name=name, obj=None)


def __dir__() -> list[str]:
    """Return the public names and namespaces."""
    return sorted(["__version__", *__all__, *_NAMESPACES])


def _version() -> str:
    """The version of the installed package, or of the checkout that the package lies in."""
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415 - rarely asked

    try:
        return version("paimon-explore")
    except PackageNotFoundError:
        import tomllib  # noqa: PLC0415 - only without an installed package
        from pathlib import Path  # noqa: PLC0415

        project = Path(__file__).parents[1] / "pyproject.toml"
        return str(tomllib.loads(project.read_text(encoding="utf-8"))["project"]["version"])
