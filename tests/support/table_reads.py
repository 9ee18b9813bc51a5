"""Acts of a state machine that read a table in many ways, at points in time or between them."""

import pickle
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType

import hypothesis.strategies as st
import pyarrow as pa
from hypothesis.stateful import precondition, rule

from paimon_explore import Table, compare
from paimon_explore.errors import NotFoundError
from paimon_explore.scan.predicate.sql_parser import predicate
from paimon_explore.table.scan import Scan
from support.iceberg_reader import IcebergReader
from support.predicates import truth
from support.table_commits import CommitActs
from support.table_kinds import MORE, PARTITIONS, K, P, Row, V, W
from support.table_lines import WHO
from support.table_model import (
    Columns,
    State,
    found_in,
    replayed,
    shown,
)

_LEAVES = (
    *("v >= {n}", "v < {n}", "v IS NULL", "v IN ({n}, 3, NULL)", "v BETWEEN 2 AND {n}", "v <> {n}"),
    *("w = 'a'", "w > 'a'", "w LIKE 'b%'", "w IS NOT NULL", "w NOT IN ('', 'bb')", "v <=> {n}"),
    *("k = {n}", "k IN (1, {n})", "p = '2024-01-01'", "p <> '2024-01-02'", "p > '2024-01-01'"),
    *("{x} > {n}", "{x} IS NULL"),
)
_LEAF = st.builds(
    lambda text, n: text.format(n=n, x="{x}"), st.sampled_from(_LEAVES), st.integers(0, 9)
)
CONDITIONS = st.recursive(
    _LEAF,
    lambda inner: st.one_of(
        st.builds("({} AND {})".format, inner, inner),
        st.builds("({} OR {})".format, inner, inner),
        st.builds("NOT ({})".format, inner),
    ),
    max_leaves=3,
)
"""Conditions; `{x}` is for an added column."""
POINTS = st.sampled_from(["latest", "snapshot", "tag", "timestamp", "watermark"])
_BACK = st.integers(0, 5)
_Rows = Iterable[Mapping[str, object]]


def _by_duckdb(scan: Scan) -> _Rows:
    found: pa.Table = scan.to_duckdb(lazy=True).sql("SELECT * FROM t").to_arrow_table()
    return found.to_pylist()


_WAYS: Mapping[str, Callable[[Scan], _Rows]] = MappingProxyType(
    {
        "Arrow": lambda scan: scan.to_arrow().to_pylist(),
        "batches": lambda scan: [row for one in scan.to_batches() for row in one.to_pylist()],
        "C stream": lambda scan: pa.table(scan).to_pylist(),
        "dataset": lambda scan: scan.to_dataset().to_table().to_pylist(),
        "DuckDB": _by_duckdb,
        "pandas": lambda scan: pa.Table.from_pandas(
            scan.to_pandas(dtype_backend="pyarrow")
        ).to_pylist(),
        "parts": lambda scan: [
            row
            for part in scan.parts()
            for row in pickle.loads(pickle.dumps(part)).to_batches().read_all().to_pylist()  # noqa: S301
        ],
        "Polars": lambda scan: scan.to_polars().to_arrow().to_pylist(),
        "Polars, lazy": lambda scan: scan.to_polars(lazy=True).collect().to_arrow().to_pylist(),
    }
)


class ReadActs(CommitActs):
    """Reads of rows, changes, histories and system tables; they leave the table as it is.

    Attributes:
        is_interrupted: whether acts are cut off, after which Iceberg metadata may be behind.
    """

    is_interrupted = False

    def view(self, who: int, by: str, back: int) -> tuple[Table, State, str]:
        """A branch at a point in time, what it holds there, and the point in SQL."""
        picked, line = self.pick(who)
        table = self.open(picked._store.paths.branch)
        if by == "tag" and line.tags:
            name = sorted(line.tags)[back % len(line.tags)]
            return table.at(tag=name), line.tags[name][1], f"VERSION AS OF '{name}'"
        if by in {"latest", "tag"} or not line.states:
            return table, replace(line.latest, columns=line.columns), ""
        number = sorted(line.states)[-1 - back % len(line.states)]
        mark = line.states[number].watermark
        if by == "timestamp":
            times = {one.id: one.time_millis for one in table.snapshots}
            moment = times[number]
            number = max(i for i, time in times.items() if time <= moment)
            point = f"TIMESTAMP AS OF CAST({moment / 1000} AS TIMESTAMP)"
            return table.at(timestamp=moment), line.states[number], point
        if by == "watermark" and mark is not None:
            marks = {i: state.watermark for i, state in line.states.items()}
            number = min(i for i, found in marks.items() if found is not None and found >= mark)
            return table.at(watermark=mark), line.states[number], f"VERSION AS OF {number}"
        return table.at(snapshot=number), line.states[number], f"VERSION AS OF {number}"

    @rule(
        point=st.tuples(WHO, POINTS, _BACK),
        where=st.none() | CONDITIONS,
        picks=st.lists(_BACK, max_size=3, unique=True),
        limit=st.none() | st.integers(0, 6),
        way=st.sampled_from(list(_WAYS)),
    )
    def read(
        self,
        point: tuple[int, str, int],
        where: str | None,
        picks: list[int],
        limit: int | None,
        way: str,
    ) -> None:
        view, state, _ = self.view(*point)
        where = filled(where, state.columns)
        columns = [column for i, column in enumerate(state.columns) if i in picks]
        expected = shown(_matching(state.visible, state.columns, where), tuple(columns))
        scan = view.scan([name for name, _ in columns] or None, where)
        if not columns:
            expected = shown(_matching(state.visible, state.columns, where), state.columns)
        if limit is not None:
            scan = scan.limit(limit)
        found = found_in(_WAYS[way](scan))
        count = expected.total() if limit is None else min(limit, expected.total())
        assert found <= expected, found - expected
        assert (found.total(), scan.count()) == (count, count)
        self.count(f"read by {way}")

    @rule(point=st.tuples(WHO, POINTS, _BACK), where=st.none() | CONDITIONS, form=_BACK)
    def read_by_sql(self, point: tuple[int, str, int], where: str | None, form: int) -> None:
        view, state, at = self.view(*point)
        where = filled(where, state.columns)
        rows = _matching(state.visible, state.columns, where)
        tail = f"{at} WHERE {where or 'true'}"
        name = view.name
        if form % 2:
            text = f"SELECT p, count(*) n, sum(v) s, min(w) m FROM {name} {tail} GROUP BY p"  # noqa: S608 - of the test
            parts = {row[P]: [other for other in rows if other[P] == row[P]] for row in rows}
            expected = Counter(_grouped(part, own) for part, own in parts.items())
        else:
            text = f"SELECT * FROM {name} {tail}"  # noqa: S608 - of the test
            expected = shown(rows, state.columns)
        assert found_in(self.sql(text).to_pylist()) == expected, text
        self.count("read by SQL")

    @rule(
        who=WHO,
        ends=st.tuples(_BACK, _BACK),
        how=st.sampled_from(["auto", "diff", "commits", "stream"]),
        where=st.none() | CONDITIONS,
    )
    def read_changes(self, who: int, ends: tuple[int, int], how: str, where: str | None) -> None:
        """The changes between two snapshots, or of the commits between them, give the rows."""
        table, line = self.pick(who)
        if not line.states:
            return
        where = filled(where, line.columns)
        ids = sorted(line.states)
        start, end = sorted(ids[-1 - back % len(ids)] for back in ends)
        if how == "stream" and start < end:
            stream = table.follow(start + 1, until=end, timeout=0, where=where)
            found = [batch.rows for batch in stream]
        elif how in {"commits", "stream"}:
            found = [change.rows for change in table.changes(start + 1, end, where=where)]
        else:
            rows = table.between(start, end, mode=how, where=where, row_kinds=True)
            found = [rows.to_arrow()]
        before, after = (
            shown(_matching(line.states[i].visible, line.columns, where), line.columns)
            for i in (start, end)
        )
        assert replayed(found, before, line.columns, self.kind) == after, (start, end)
        self.count(f"changes, {how}")

    @rule(who=WHO, where=CONDITIONS, condition=CONDITIONS)
    def find_the_first_change(self, who: int, where: str, condition: str) -> None:
        table, line = self.pick(who)
        where, condition = (str(filled(one, line.columns)) for one in (where, condition))
        matching = {
            number: shown(
                _matching(state.visible, line.columns, f"({where}) AND ({condition})"),
                line.columns,
            )
            for number, state in line.states.items()
        }
        try:
            found = table.first_change(where, condition)
        except NotFoundError:
            assert not line.states or not matching[line.latest_id]
            return
        assert matching[found.snapshot.id]
        assert found.before == max((i for i in matching if i < found.snapshot.id), default=None)
        assert found.before is None or not matching[found.before]
        self.count("first change")

    @precondition(lambda self: self.kind.merge is not None)
    @rule(who=WHO, partition=st.sampled_from(PARTITIONS), k=st.integers(0, 4))
    def read_a_history(self, who: int, partition: str, k: int) -> None:
        """The row of a key at each snapshot, also of those that only tags hold."""
        table, line = self.pick(who)
        known = dict(line.tags.values()) | line.states
        key: Row = {P: partition, K: k}
        given = {"k": k} if self.kind.crosses else {"p": partition, "k": k}
        for state in table.history(given).states:
            own = known[state.snapshot_id]
            rows = [row for row in own.visible if self.kind.key(row) == self.kind.key(key)]
            found = [] if state.row is None else [state.row]
            assert found_in(found) == shown(rows, line.columns), state.snapshot_id
        self.count("history of a key")

    @rule(point=st.tuples(WHO, POINTS, _BACK))
    def read_system_tables(self, point: tuple[int, str, int]) -> None:
        view, state, _ = self.view(*point)
        _, line = self.pick(point[0])

        def rows(name: str) -> list[dict[str, object]]:
            return view.inspect.system_table(name).to_arrow().to_pylist()

        def total(name: str, column: str = "record_count") -> int:
            return sum(int(str(row[column] or 0)) for row in rows(name))

        marks = {row["snapshot_id"]: row["watermark"] for row in rows("snapshots")}
        assert marks == {number: one.watermark for number, one in line.states.items()}
        assert {row["tag_name"] for row in rows("tags")} == line.tags.keys()
        assert {row["consumer_id"] for row in rows("consumers")} == line.consumers.keys()
        assert {row["branch_name"] for row in rows("branches")} == self.lines.keys() - {"main"}
        held = {f"p={row[P]}" for row in state.visible}
        assert held <= {row["partition"] for row in rows("partitions")}
        is_late = self.kind_name == "postponed buckets"
        assert is_late or total("files") == total("buckets") == total("partitions")
        if self.kind.merge is None and "data-evolution.enabled" not in self.kind.options:
            deleted = total("partitions", "deleted_record_count")
            assert total("files") - deleted == len(state.visible)
        if "row-tracking.enabled" in self.kind.options:
            ids = [row["_ROW_ID"] for row in rows("row_tracking")]
            assert len({*ids} - {None}) == len(state.visible)
        log = [row for row in rows("audit_log") if row.pop("rowkind") in {"+I", "+U"}]
        assert found_in(log) == shown(state.visible, state.columns)
        self.count("system tables")

    @rule(one=st.tuples(WHO, POINTS, _BACK), other=st.tuples(WHO, POINTS, _BACK))
    def compare(self, one: tuple[int, str, int], other: tuple[int, str, int]) -> None:
        """Rows of two points in time, or of two branches, in the columns that both have."""
        (first, old, _), (second, new, _) = self.view(*one), self.view(*other)
        names = sorted(dict(old.columns).keys() & dict(new.columns).keys())
        before, after = (
            shown(state.visible, tuple((name, dict(state.columns)[name]) for name in names))
            for state in (old, new)
        )
        assert compare(first, second, rows=3).rows_equal == (before == after)
        self.count("compare")

    @rule(point=st.tuples(WHO, POINTS, _BACK))
    def profile(self, point: tuple[int, str, int]) -> None:
        view, state, _ = self.view(*point)
        profile = view.profile(["v"], exact=True)
        values = [row[V] for row in state.visible if row.get(V) is not None]
        nulls = len(state.visible) - len(values)
        found = [(one.nulls, one.distinct) for one in profile.columns]
        assert (profile.rows, found) == (len(state.visible), [(nulls, len({*values}))])
        self.count("profile")

    @precondition(lambda self: self.kind_name == "append, Iceberg" and not self.is_interrupted)
    @rule()
    def read_iceberg_metadata(self) -> None:
        line = self.lines["main"]
        if not line.states or not line.states[line.latest_id].visible:
            return
        paths = self.table._store.paths
        found = IcebergReader(self.table._store.file_io.read, f"{paths.root}/metadata")
        if found.metadata["location"] != paths.root:
            return  # it was renamed, and the next commit writes the metadata anew
        assert found_in(found.rows()) == shown(line.latest.visible, line.latest.columns)
        self.count("read of Iceberg metadata")


def filled(where: str | None, columns: Columns) -> str | None:
    """A condition on columns that there are."""
    added = [name for name, _ in columns if name in MORE and MORE[name][0] == "INT"]
    return where and where.format(x=added[-1] if added else "v")


def _matching(rows: Iterable[Row], columns: Columns, where: str | None) -> list[Row]:
    """The rows of which a condition is true."""
    if where is None:
        return list(rows)
    tree = predicate(where)
    return [
        row
        for row in rows
        if truth(tree, {name: row.get(number) for name, number in columns}) is True
    ]


def _grouped(part: object, rows: list[Row]) -> tuple[tuple[str, object], ...]:
    """The row of a partition in a query of aggregates."""
    numbers = [int(str(row[V])) for row in rows if row.get(V) is not None]
    texts = [str(row[W]) for row in rows if row.get(W) is not None]
    total = sum(numbers) if numbers else None
    return ("p", part), ("n", len(rows)), ("s", total), ("m", min(texts, default=None))
