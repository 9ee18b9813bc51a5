"""Aggregates of many snapshots: computed once for the rows that snapshots share, then combined.

`count`, `sum`, `min` and `max` of a snapshot follow from those of its files, or of its merged
groups of files. So each file is read once, however many snapshots have it.

For a range of snapshots: which rows are read at which of them, each read once.

Files, or merged groups of files, that several snapshots share are read once. In append tables the
files that each commit added and removed are in its manifests; for others each snapshot is planned.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
from sqlglot import exp

from paimon_explore.data_types.arrow import arrow_schema
from paimon_explore.data_types.arrow_buffers import as_python
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.manifest.manifest_entry import FileKind, ManifestEntries
from paimon_explore.metadata.options.table_options import (
    DATA_EVOLUTION_ENABLED,
    DELETION_VECTORS_ENABLED,
)
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.read.row_rules import rules_of
from paimon_explore.read.small_files import read_split
from paimon_explore.read.split_reader import SplitReader
from paimon_explore.scan.branch_scan import branches_read, plan_table
from paimon_explore.scan.manifest_arrays import column, numbers
from paimon_explore.scan.plan import ScanTarget
from paimon_explore.scan.predicate.binder import bind
from paimon_explore.scan.predicate.expression import TRUE, Expression
from paimon_explore.scan.splits.data_split import DataSplit, Splits
from paimon_explore.scan.splits.split_generator import files_as_splits
from paimon_explore.sql_statements.duckdb.dialect import duckdb_text
from paimon_explore.sql_statements.duckdb.engine import DuckDBEngine
from paimon_explore.sql_statements.duckdb.query_rows import DuckRows
from paimon_explore.sql_statements.engine import TableRows
from paimon_explore.sql_statements.over_time.row_keys import (
    group_expressions,
    is_aggregation,
    same_text,
)
from paimon_explore.store.expired import explain_missing_files
from paimon_explore.table.table import Table

_COMBINED: Mapping[type[exp.Expr], str] = {
    exp.Count: "sum",
    exp.Sum: "sum",
    exp.Min: "min",
    exp.Max: "max",
}
"""What combines the values of parts."""
_CLAUSES = frozenset({"expressions", "from", "from_", "where", "group", "having", "order"})


def shared_history(
    engine: DuckDBEngine, snapshots: Sequence[Snapshot], rows_of: Callable[[DuckRows], pa.Table]
) -> pa.Table | str:
    """Return the result of a query at each snapshot, reading what they share once.

    Args:
        engine: that ran the query.
        snapshots: of its table, in order.
        rows_of: reads the rows of a query.

    Returns:
        The number of the snapshot as first column, then those of the query; or why the query does
        not allow it.
    """
    tree = engine.tree
    found = _only_table(tree, engine)
    if isinstance(found, str):
        return found
    assert isinstance(tree, exp.Select)  # noqa: S101 - checked by `_only_table`
    view, table, read = found
    groups = group_expressions(tree, engine)
    aggregates = _aggregates(tree)
    if groups is None or aggregates is None:
        return "the query has other aggregates than count, sum, min and max"
    scan = table.scan(read.columns)
    target = scan.target
    for number in {snapshot.schema_id for snapshot in snapshots}:
        other = target.store.schemas.load(number)
        if (
            any(field not in other.fields for field in scan.row_type)
            or other.trimmed_primary_keys != target.schema.trimmed_primary_keys
        ):
            return "the schema of its columns changed"
    where = TRUE if read.where is None else bind(read.where.expression, target.schema.row_type)
    if target.store.environment is not None and rules_of(target, scan.columns, where) is not None:
        return "the catalog restricts the rows of the table"
    rows = lifetime_rows(target, snapshots, scan.columns, where)
    if rows is None:
        return "the rows of a snapshot are not those of its own files"
    parts = rows_of(_parts(tree, view, groups, aggregates, rows))
    return _combined(tree, groups, aggregates, parts, len(snapshots))


def _only_table(
    tree: exp.Expr | None, engine: DuckDBEngine
) -> "tuple[str, Table, TableRows] | str":
    if not isinstance(tree, exp.Select) or not is_aggregation(tree):
        return "the query does not aggregate rows"
    if {name for name, value in tree.args.items() if value} - _CLAUSES:
        return "the query has other clauses than WHERE, GROUP BY, HAVING and ORDER BY"
    if _having_names_alias(tree):
        return "HAVING names a column of the result"
    if engine.has_subquery or tree.find(exp.Window) or len(list(tree.find_all(exp.Select))) > 1:
        return "the query has subqueries or windows"
    tables = list(tree.find_all(exp.Table))
    read = engine.read.get(tables[0].name) if len(tables) == 1 else None
    if read is None or not isinstance(read.table, Table) or read.system is not None:
        return "the query reads more than the rows of a table"
    return tables[0].name, read.table, read


def _having_names_alias(tree: exp.Select) -> bool:
    having = tree.args.get("having")
    columns = set() if having is None else {one.name.lower() for one in having.find_all(exp.Column)}
    aliased = [item for item in tree.expressions if item.alias_or_name != item.unalias().name]
    return any(item.alias_or_name.lower() in columns for item in aliased)


def _aggregates(tree: exp.Select) -> dict[str, exp.Expr] | None:
    """The distinct aggregates by their text; None if one cannot be combined."""
    found: dict[str, exp.Expr] = {}
    having = tree.args.get("having")
    for part in [*tree.expressions, *([having] if having is not None else [])]:
        for node in part.find_all(exp.AggFunc):
            is_plain = type(node) in _COMBINED and not isinstance(node.parent, exp.Filter)
            if not is_plain or node.find(exp.Distinct, exp.Order) or node.expressions:
                return None
            found[same_text(node, tree)] = node
    return found


def _parts(
    tree: exp.Select,
    view: str,
    groups: Sequence[exp.Expr],
    aggregates: dict[str, exp.Expr],
    rows: pa.RecordBatchReader,
) -> DuckRows:
    """The aggregates of the rows of each lifetime."""
    items: list[exp.Expr] = [exp.column(FIRST), exp.column(LAST)]
    items += [exp.alias_(one.copy(), f"_g{at}") for at, one in enumerate(groups)]
    items += [exp.alias_(one.copy(), f"_a{at}") for at, one in enumerate(aggregates.values())]
    made = exp.select(*items)
    made.set("from_", (tree.args.get("from_") or tree.args["from"]).copy())
    if tree.args.get("where") is not None:
        made.set("where", tree.args["where"].copy())
    made = made.group_by(*(str(at + 1) for at in range(2 + len(groups))))
    return DuckRows(duckdb_text(made), {view: rows})


def _combined(
    tree: exp.Select,
    groups: Sequence[exp.Expr],
    aggregates: dict[str, exp.Expr],
    parts: pa.Table,
    count: int,
) -> pa.Table:
    names = {same_text(one, tree): f"_g{at}" for at, one in enumerate(groups)}
    names |= {text: f"_a{at}" for at, text in enumerate(aggregates)}

    def outer(node: exp.Expr) -> exp.Expr:
        name = names.get(same_text(node, tree))
        return node if name is None else exp.column(name)

    items = [item.unalias().copy().transform(outer) for item in tree.expressions]
    listed = [duckdb_text(item) for item in items]
    having = tree.args.get("having")
    kept = "" if having is None else f" WHERE {duckdb_text(having.this.copy().transform(outer))}"
    keys = [f"p._g{at}" for at in range(len(groups))]
    merged = [
        f"{'coalesce(' if isinstance(node, exp.Count) else ''}{_COMBINED[type(node)]}(p._a{at})"
        f"{', 0)' if isinstance(node, exp.Count) else ''} AS _a{at}"
        for at, node in enumerate(aggregates.values())
    ]
    join = "JOIN" if tree.args.get("group") is not None else "LEFT JOIN"
    inner = (
        f"SELECT {', '.join(['s.place', *keys, *merged])} "  # noqa: S608 - names made here
        f"FROM snapshots AS s {join} parts AS p ON s.place BETWEEN p.{FIRST} AND p.{LAST} "
        f"GROUP BY {', '.join(['s.place', *keys])}"
    )
    order = ", ".join(["place", *(f"_g{at}" for at in range(len(groups)))])
    text = f"SELECT {', '.join(['place', *listed])} FROM ({inner}){kept} ORDER BY {order}"  # noqa: S608 - as above
    sources = {
        "parts": parts,
        "snapshots": pa.table({"place": pa.array(np.arange(count, dtype=np.int32))}),
    }
    found = DuckRows(text, sources).to_batches().read_all()
    return found.rename_columns(["place", *(item.alias_or_name for item in tree.expressions)])


FIRST, LAST = "_first", "_last"
"""Columns of `lifetime_rows`: the places of the first and last snapshot that has a row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Lifetime:
    """Rows that are read from the snapshot at one place to that at another."""

    split: DataSplit
    first: int
    last: int


def lifetime_rows(
    target: ScanTarget, snapshots: Sequence[Snapshot], columns: Sequence[str], where: Expression
) -> pa.RecordBatchReader | None:
    """Read the rows of several snapshots.

    Args:
        target: the table, with the schema of all snapshots.
        snapshots: in order.
        columns: to read.
        where: a filter; rows that do not match may be returned.

    Returns:
        The columns, `FIRST` and `LAST`; None if the rows of a snapshot are not those of its files.
    """
    target = target.for_read()
    if target.created_since is not None or target.only_bucket is not None:
        return None
    is_plain = target.keys is None and len(branches_read(target)) == 1
    for option in (DELETION_VECTORS_ENABLED, DATA_EVOLUTION_ENABLED):
        is_plain = is_plain and not target.options.value(option)
    found = _of_files(target, snapshots) if is_plain else _of_plans(target, snapshots, where)
    if found is None:
        return None
    reader = SplitReader(
        target=target, columns=tuple(columns), predicate=where if is_plain else TRUE
    )
    schema = arrow_schema(target.schema.project(columns))
    for name in (FIRST, LAST):
        schema = schema.append(pa.field(name, pa.int32()))

    def batches() -> Iterator[pa.RecordBatch]:
        with explain_missing_files(target.store, *snapshots):
            for life in found:
                for batch in read_split(reader, life.split):
                    ends = [
                        pa.array(np.full(batch.num_rows, end, np.int32))
                        for end in (life.first, life.last)
                    ]
                    yield pa.RecordBatch.from_arrays([*batch.columns, *ends], schema=schema)

    return pa.RecordBatchReader.from_batches(schema, batches())


def _of_files(target: ScanTarget, snapshots: Sequence[Snapshot]) -> list[_Lifetime] | None:
    """Files of an append table; those with the same lifetime are split as in a plan."""
    end = len(snapshots) - 1
    if [one.id for one in snapshots] != [*range(snapshots[0].id, snapshots[-1].id + 1)]:
        return None
    plan = plan_table(replace(target, snapshot=snapshots[0], travelled=True))
    if not isinstance(plan.splits, Splits):
        return None
    sources = [(0, plan.splits)]
    starts: dict[str, int] = {}
    lasts: dict[tuple[str, int], int] = {}
    for at, entries in enumerate(_deltas(target, snapshots[1:]), start=1):
        for name in _names(entries.of_kind(FileKind.DELETE)):
            lasts[name, starts.pop(name, 0)] = at - 1
        added = entries.of_kind(FileKind.ADD)
        if len(added):
            files = target.located_changes(added, snapshots[at])
            sources.append((at, files_as_splits(files, target.rules)))
            starts |= dict.fromkeys(_names(added), at)
    found: list[_Lifetime] = []
    for first, splits in sources:
        for split in splits:
            ends = np.array([lasts.get((name, first), end) for name in _names(split.files)])
            found += [
                _Lifetime(split=split.only(np.flatnonzero(ends == last)), first=first, last=last)
                for last in np.unique(ends).tolist()
                if last >= first
            ]
    return found


def _deltas(target: ScanTarget, snapshots: Sequence[Snapshot]) -> Iterator[ManifestEntries]:
    """The changes of each commit; all manifests are read at once."""
    manifests = target.store.manifests
    with explain_missing_files(target.store, *snapshots):
        lists = manifests.list_many([one.delta_manifest_list for one in snapshots])
        entries = manifests.read_many([name for files in lists for name in files.names])
    start = 0
    for files in lists:
        counts = [numbers(files.table, f"num_{kind}_files").sum() for kind in ("added", "deleted")]
        yield entries.slice(start, sum(map(int, counts)))
        start += sum(map(int, counts))


def _of_plans(
    target: ScanTarget, snapshots: Sequence[Snapshot], where: Expression
) -> list[_Lifetime] | None:
    """Splits of the plans of all snapshots."""
    open_ones: dict[object, _Lifetime] = {}
    found: list[_Lifetime] = []
    for at, snapshot in enumerate(snapshots):
        plan = plan_table(replace(target, snapshot=snapshot, travelled=True), where)
        if not all(isinstance(split, DataSplit) for split in plan.splits):
            return None
        here: dict[object, _Lifetime] = {}
        for split in plan.splits:
            assert isinstance(split, DataSplit)  # noqa: S101 - checked above
            vectors = tuple(sorted(split.deletion_files.items()))
            known = (split.partition, split.bucket, (*_names(split.files),), vectors)
            before = open_ones.pop(known, None)
            here[known] = (
                _Lifetime(split=split, first=at, last=at)
                if before is None
                else replace(before, last=at)
            )
        found += open_ones.values()
        open_ones = here
    return [*found, *open_ones.values()]


def _names(entries: ManifestEntries) -> list[str]:
    return [str(name) for name in as_python(column(entries.table, "file_name"))]
