"""Which VARIANT columns a query needs only at some paths, so that scans can omit the rest."""

from collections.abc import Iterable, Mapping

from sqlglot import exp

from paimon_explore.data_types.definitions import DataField, TypeRoot
from paimon_explore.data_types.traversal import is_root
from paimon_explore.encoding.variant.paths import VariantPath
from paimon_explore.scan.predicate.variants.path_needs import path_of
from paimon_explore.sql_statements.duckdb.dialect import duckdb_tree
from paimon_explore.sql_statements.duckdb.functions.variant_functions import reads_path


def variant_paths(
    tree: exp.Expr, fields: Iterable[DataField]
) -> Mapping[str, tuple[VariantPath, ...]]:
    """Return the VARIANT columns of which a query needs only some paths, by name.

    A column whose name occurs anywhere else in the query is needed as a whole.

    Args:
        tree: the query, in Spark's dialect; it names all columns that it needs.
        fields: the columns of its tables.
    """
    names = {field.name for field in fields if is_root(field.type, TypeRoot.VARIANT)}
    if not names:
        return {}
    meant = duckdb_tree(tree)
    tables = {table.alias_or_name.lower() for table in meant.find_all(exp.Table, exp.Subquery)}
    if any(column.name.lower() in tables for column in meant.find_all(exp.Column)):
        return {}  # a table as a column: its whole rows
    found: dict[str, set[VariantPath]] = {}
    for part in meant.find_all(exp.Identifier):
        found.setdefault(part.name.lower(), set()).update(_paths(part))
    paths = {name: found.get(name.lower(), {()}) for name in names}
    return {name: tuple(sorted(of, key=repr)) for name, of in paths.items() if () not in of}


def _paths(name: exp.Identifier) -> tuple[VariantPath, ...]:
    """Return the paths at which a column is needed where it is named; `()` is all of it."""
    column = name.parent
    user = column.parent if isinstance(column, exp.Column) and column.this is name else None
    if isinstance(user, exp.Is) and isinstance(user.expression, exp.Null):
        return ()
    if not isinstance(user, exp.Anonymous) or not reads_path(user.name):
        return ((),)
    value, path, *more = user.expressions
    is_constant = value is column and isinstance(path, exp.Literal) and path.is_string
    return (path_of(path.name) if is_constant and not more else (),)
