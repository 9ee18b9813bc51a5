"""CHAR(n) columns as in Spark: padded with spaces, which comparisons with constants ignore."""

from collections.abc import Iterable, Sequence

from sqlglot import exp

from paimon_explore.data_types.definitions import AtomicType, DataField, DataType, TypeRoot
from paimon_explore.data_types.traversal import is_root
from paimon_explore.sql_statements.duckdb.column_types import COMPARISONS
from paimon_explore.sql_statements.duckdb.type_names import quoted


def padded_rows(view: str, fields: Sequence[DataField]) -> str | None:
    """Return a query of a view whose CHAR columns are padded; None if it has none.

    Spark SQL stores them padded; Flink and Python store the values as given.
    """
    found = [
        f"{padded(quoted(one.name), one.type.length or 1)} AS {quoted(one.name)}"
        for one in fields
        if isinstance(one.type, AtomicType) and one.type.root is TypeRoot.CHAR
    ]
    return f"SELECT * REPLACE ({', '.join(found)}) FROM {quoted(view)}" if found else None  # noqa: S608 - quoted


def fitted(value: str, kind: DataType) -> str:
    """Return a text as Spark SQL stores it: without spaces beyond the length, CHAR padded."""
    if not isinstance(kind, AtomicType) or kind.length is None:
        return value
    if kind.root is TypeRoot.CHAR:
        return padded(f"rtrim({value}, ' ')", kind.length)
    if kind.root is not TypeRoot.VARCHAR:
        return value
    is_long = f"length({value}) > {kind.length} AND length(rtrim({value}, ' ')) <= {kind.length}"
    return f"CASE WHEN {is_long} THEN left({value}, {kind.length}) ELSE {value} END"


def padded(value: str, length: int) -> str:
    """Return a text with spaces up to a length; longer ones stay, of which a writer complains."""
    return f"rpad({value}, greatest({length}, CAST(length({value}) AS INTEGER)), ' ')"


def compare_without_spaces(tree: exp.Expr, columns: Iterable[tuple[str, DataType | None]]) -> None:
    """Compare CHAR columns with constants, and with each other, without spaces at the end.

    Args:
        tree: the query; it is changed.
        columns: the names and types of the columns of its tables.
    """
    names, others = set[str](), set[str]()
    for name, kind in columns:
        (names if kind is not None and is_root(kind, TypeRoot.CHAR) else others).add(name.lower())
    names -= others
    if not names:
        return
    for alias in reversed(list(tree.find_all(exp.Alias))):  # parts before what holds them
        if isinstance(alias.this, exp.Column) and alias.this.name.lower() in names:
            names.add(alias.alias.lower())
    for node in list(tree.find_all(*COMPARISONS, exp.In)):
        sides = [node.this, *(node.expressions if isinstance(node, exp.In) else [node.expression])]
        plain = [one for one in sides if isinstance(one, exp.Literal) and one.is_string]
        chars = [one for one in sides if isinstance(one, exp.Column) and one.name.lower() in names]
        if chars and len(sides) > 1 and len(plain) + len(chars) == len(sides):
            for one in (*plain, *chars):
                space = exp.Literal.string(" ")
                one.replace(exp.Anonymous(this="rtrim", expressions=[one.copy(), space]))
