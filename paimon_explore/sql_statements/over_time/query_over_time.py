"""`SqlResult.diff`, `history` and `first_change`: a query at other points in time."""

from collections.abc import Callable, Iterable, Sequence
from datetime import date
from typing import TYPE_CHECKING

import pyarrow as pa
from sqlglot import exp

from paimon_explore.arguments import integer, names, string
from paimon_explore.data_types.local_time import utc_moment
from paimon_explore.errors import InvalidInputError, choices
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.sql_statements.duckdb.dialect import duckdb_text, parsed_expression
from paimon_explore.sql_statements.duckdb.engine import DuckDBEngine
from paimon_explore.sql_statements.duckdb.query_rows import DuckRows
from paimon_explore.sql_statements.outcome import Outcome
from paimon_explore.sql_statements.over_time.row_keys import key_columns, same_text
from paimon_explore.sql_statements.table_resolution import Travel
from paimon_explore.table.progress import progress
from paimon_explore.table.sql_results.sql_result import SqlResult
from paimon_explore.table.table import Table
from paimon_explore.table.table_base import before_first, store_of

if TYPE_CHECKING:
    from paimon_explore.inspection.history.first_change import FirstChange


Point = int | str | date
"""A snapshot id, the name of a tag, or a time, as for `Table.at`."""
Run = Callable[[Travel], tuple[Outcome, DuckDBEngine]]
"""Runs the query, whose rows are `DuckRows`, with another view of each of its tables."""
_COMMIT: dict[str, pa.DataType] = {
    "snapshot_id": pa.int64(),
    "commit_time": pa.timestamp("ms", "UTC"),
    "commit_kind": pa.string(),
    "commit_user": pa.string(),
}


class QueryOverTime:
    """A query that can run again at other points in time.

    Tables that the query itself reads at a fixed point (`VERSION AS OF`), and temporary views,
    stay there.

    Args:
        run: runs the query.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._reading: DuckRows | None = None
        self._is_stopped = False

    def interrupt(self) -> None:
        """Stop `history`, from another thread; it raises KeyboardInterrupt."""
        self._is_stopped = True
        if self._reading is not None:
            self._reading.interrupt()

    def diff(self, before: Point, after: Point, key: Iterable[str] | None) -> SqlResult:
        """Return the rows of the result that differ between two points."""
        tables, engine = self._tables()
        ends = [self._at(tables, point) for point in (before, after)]
        old, new = (self._read(end) for end in ends)
        keys = key_columns(engine, new.column_names) if key is None else names("key", key)
        return SqlResult(result_difference(old, new, keys, is_given=key is not None))

    def history(self, last: int) -> SqlResult:
        """Return the result at each of the last snapshots."""
        from paimon_explore.sql_statements.over_time.shared_aggregates import shared_history  # noqa: PLC0415 - rare

        integer("last", last, minimum=1)
        self._is_stopped = False
        tables, engine = self._tables()
        found: pa.Table | str = "the query reads several tables"
        if len(tables) == 1:
            commits = [tables[0].snapshots[number] for number in tables[0].snapshots.keys()[-last:]]
            found = (
                shared_history(engine, commits, self._rows_of)
                if commits
                else "the table has no snapshot"
            )
        else:
            commits = _commits_of(tables, last)
        if isinstance(found, pa.Table):
            return SqlResult(_with_commits(found, commits))
        points: list[Point] = [
            commit.id if len(tables) == 1 else utc_moment(commit.time_millis) for commit in commits
        ]
        return self._each(commits, [self._at(tables, point) for point in points], found)

    def _each(self, commits: Sequence[Snapshot], points: Sequence[Travel], why: str) -> SqlResult:
        """Run the query at each point, the latest first, until it cannot run."""
        found: list[pa.Table] = []
        note = f"Each snapshot was read as a whole, because {why}."
        for at in progress([*reversed(range(len(points)))], "reading snapshots"):
            try:
                rows = self._read(points[at])
            except InvalidInputError as error:
                if not found:
                    raise
                note += f" The query cannot run at snapshot {commits[at].id}: {error}"
                break
            numbers = pa.array([at] * rows.num_rows, pa.int32())
            found.append(rows.add_column(0, "place", numbers))
        if not found:
            rows = self._read(lambda table: table).slice(0, 0)
            found.append(rows.add_column(0, "place", pa.array([], pa.int32())))
        whole = pa.concat_tables(reversed(found), promote_options="permissive")
        return SqlResult(_with_commits(whole, commits), note=note)

    def first_change(self, condition: str) -> "FirstChange":
        """Find the first snapshot at which a row of the result fulfils a condition."""
        from paimon_explore.inspection.history.first_change import first_change  # noqa: PLC0415 - rare

        string("condition", condition)
        tables, engine = self._tables()
        if len(tables) > 1:
            raise InvalidInputError(
                f"The query reads the tables {choices(table.name for table in tables)}.",
                hint="first_change() needs a query of one table; history() takes several.",
            )
        test, snapshots = _test(engine.tree, condition), store_of(tables[0]).snapshots
        latest = snapshots.latest()

        def matching(number: int) -> pa.Table:
            try:
                rows = self._rows(self._at(tables, number))
            except InvalidInputError:  # a column that the snapshot does not have yet
                if latest is None or snapshots.load(number).schema_id == latest.schema_id:
                    raise
                return pa.table({})
            text = f"SELECT * FROM ({rows.text}) AS q WHERE {test}"  # noqa: S608 - of the query
            return self._rows_of(DuckRows(text, rows.sources))

        return first_change(store_of(tables[0]), tables[0].name, condition, matching)

    def _rows(self, travel: Travel) -> DuckRows:
        rows, _ = self._run(travel)
        assert isinstance(rows, DuckRows)  # noqa: S101 - as `Run` says
        return rows

    def _read(self, travel: Travel) -> pa.Table:
        return self._rows_of(self._rows(travel))

    def _rows_of(self, rows: DuckRows) -> pa.Table:
        """Read all rows of a query, which `interrupt` stops."""
        self._reading = rows
        if self._is_stopped:
            raise KeyboardInterrupt
        return rows.to_batches().read_all()

    def _tables(self) -> tuple[list[Table], DuckDBEngine]:
        """The tables that the query reads at their latest snapshots."""
        found: dict[str, Table] = {}

        def seen(table: Table) -> Table:
            found.setdefault(f"{table.path}${store_of(table).paths.branch}", table)
            return table

        _, engine = self._run(seen)
        if not found:
            raise InvalidInputError(
                "A query over time must read a table at its latest snapshot; this one reads only "
                "fixed snapshots, temporary views or given data.",
                hint="Name a table in FROM, without VERSION AS OF.",
            )
        return [*found.values()], engine

    def _at(self, tables: Sequence[Table], point: Point) -> Travel:
        if not isinstance(point, bool | str | date) and point == 0:
            return before_first
        if len(tables) > 1 and isinstance(point, int):
            raise InvalidInputError(
                f"{point!r} is the id of a snapshot of one table, but the query reads the tables "
                f"{choices(table.name for table in tables)}.",
                hint="Pass a time, or a tag that all of them have.",
            )
        return lambda table: table.at(point)


def _commits_of(tables: Sequence[Table], last: int) -> list[Snapshot]:
    """The last commits to any of several tables, from the time on at which all have a snapshot."""
    found: list[Snapshot] = []
    start = 0
    for table in tables:
        ids = table.snapshots.keys()
        start = max([start, *(table.snapshots[number].time_millis for number in ids[:1])])
        found += [table.snapshots[number] for number in ids[-last:]]
    usable = [commit for commit in found if commit.time_millis >= start]
    return sorted(usable, key=lambda commit: commit.time_millis)[-last:]


def _with_commits(rows: pa.Table, commits: Sequence[Snapshot]) -> pa.Table:
    """Replace the numbers of commits in the first column by the commits."""
    facts = [(one.id, one.time_millis, one.commit_kind.value, one.commit_user) for one in commits]
    columns = zip(*facts, strict=True) if facts else [()] * len(_COMMIT)
    arrays = [
        pa.array(values, kind) for values, kind in zip(columns, _COMMIT.values(), strict=True)
    ]
    table = pa.Table.from_arrays(arrays, names=list(_COMMIT)).take(rows.column(0))
    for at in range(1, rows.num_columns):
        table = table.append_column(rows.schema.field(at), rows.column(at))
    return table


def _test(tree: exp.Expr | None, condition: str) -> str:
    """Return a condition on the result, in which expressions of the query name its columns."""
    test = exp.Paren(this=parsed_expression(condition))
    items = tree.expressions if isinstance(tree, exp.Select) else []
    known = {same_text(item.unalias(), tree): item.alias_or_name for item in items}
    for node in list(test.walk()):
        name = known.get(same_text(node, tree))
        if name is not None and node is not test:
            node.replace(exp.column(exp.to_identifier(name, quoted=True)))
    return duckdb_text(test)


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
