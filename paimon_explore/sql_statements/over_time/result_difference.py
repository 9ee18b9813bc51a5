"""The rows that differ between two results of a query."""

from collections.abc import Sequence

import pyarrow as pa

from paimon_explore.errors import InvalidInputError, choices
from paimon_explore.sql_statements.duckdb.query_rows import DuckRows

CHANGE = "change"


def result_difference(
    before: pa.Table, after: pa.Table, keys: Sequence[str] | None, *, is_given: bool
) -> pa.Table:
    """Return the rows that were added, removed or changed.

    Args:
        before: the earlier result.
        after: the later result. A column that one of them lacks counts as NULL.
        keys: columns that identify rows; empty if there is at most one row; None to compare rows as
            a whole, where duplicates are counted.
        is_given: whether the user gave the keys.

    Returns:
        `change` (`added`, `removed` or `changed`), the keys, then for each other column the value
        before, as `<name>_before`, and the value after. Without keys: `change` and the columns.

    Raises:
        InvalidInputError: a key that is not a column, or that several rows have.

    >>> before = pa.table({"city": ["Bonn", "Oslo"], "n": [1, 2]})
    >>> after = pa.table({"city": ["Oslo", "Rome"], "n": [3, 4]})
    >>> found = result_difference(before, after, ["city"], is_given=False)
    >>> [list(row.values()) for row in found.to_pylist()]
    [['removed', 'Bonn', 1, None], ['changed', 'Oslo', 2, 3], ['added', 'Rome', None, 4]]
    """
    columns = [
        *after.column_names,
        *(n for n in before.column_names if n not in after.schema.names),
    ]
    sides = {"a": _numbered(before, after, columns), "b": _numbered(after, before, columns)}
    if keys is not None:
        unknown = [key for key in keys if key not in columns]
        if unknown:
            raise InvalidInputError(
                f"The result has no column {unknown[0]!r}.", hint=f"Columns: {choices(columns)}."
            )
        places = [columns.index(key) for key in keys]
        if all(_is_unique(side, places) for side in sides.values()):
            return _by_key(sides, columns, places)
        if is_given:
            raise InvalidInputError(
                f"Several rows of the result have the same key {', '.join(keys)}.",
                hint="Pass the columns that identify a row, or no key to compare whole rows.",
            )
    whole = " UNION ALL ".join(
        f"SELECT '{change}' AS change, * FROM (FROM {first} EXCEPT ALL FROM {second})"  # noqa: S608 - names made here
        for change, first, second in (("removed", "a", "b"), ("added", "b", "a"))
    )
    listed = ", ".join(f"_{at}" for at in range(len(columns)))
    rows = _read(f"SELECT * FROM ({whole}) ORDER BY {listed}, change DESC", sides)  # noqa: S608 - names made here
    return rows.rename_columns([CHANGE, *columns])


def _numbered(rows: pa.Table, other: pa.Table, columns: Sequence[str]) -> pa.Table:
    """The columns in a common order, named by their places, with NULL for those that are absent."""
    if len(set(rows.column_names)) < rows.num_columns:  # by place, since names do not tell
        return rows.rename_columns([f"_{at}" for at in range(rows.num_columns)])
    found = [
        rows.column(name)
        if name in rows.column_names
        else pa.nulls(rows.num_rows, other.schema.field(name).type)
        for name in columns
    ]
    return pa.table(found, names=[f"_{at}" for at in range(len(columns))])


def _is_unique(rows: pa.Table, places: Sequence[int]) -> bool:
    if not places:
        return rows.num_rows <= 1
    listed = ", ".join(f"_{at}" for at in places)
    text = f"SELECT 1 FROM a GROUP BY {listed} HAVING count(*) > 1 LIMIT 1"  # noqa: S608 - names made here
    return not _read(text, {"a": rows}).num_rows


def _by_key(sides: dict[str, pa.Table], columns: Sequence[str], places: Sequence[int]) -> pa.Table:
    others = [at for at in range(len(columns)) if at not in places]
    same = " AND ".join(f"a._{at} IS NOT DISTINCT FROM b._{at}" for at in places) or "true"
    differs = " OR ".join(f"a._{at} IS DISTINCT FROM b._{at}" for at in others) or "false"
    change = "CASE WHEN a.p IS NULL THEN 'added' WHEN b.p IS NULL THEN 'removed' ELSE 'changed' END"
    shown = [f"CASE WHEN b.p IS NULL THEN a._{at} ELSE b._{at} END AS _{at}" for at in places] + [
        f"a._{at} AS _{at}_before, b._{at} AS _{at}" for at in others
    ]
    text = (
        f"SELECT {', '.join([f'{change} AS change', *shown])} "  # noqa: S608 - names made here
        "FROM (SELECT *, true AS p FROM a) AS a FULL JOIN (SELECT *, true AS p FROM b) AS b "
        f"ON {same} WHERE a.p IS NULL OR b.p IS NULL OR {differs} "
        f"ORDER BY {', '.join(str(at + 2) for at in range(len(places))) or '1'}"
    )
    names = [columns[at] for at in places]
    names += [name for at in others for name in (f"{columns[at]}_before", columns[at])]
    return _read(text, sides).rename_columns([CHANGE, *names])


def _read(text: str, sides: dict[str, pa.Table]) -> pa.Table:
    return DuckRows(text, sides).to_batches().read_all()
