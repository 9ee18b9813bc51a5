"""Queries of system tables return what their conditions select, and read only what they need."""

from collections.abc import Callable
from datetime import date, datetime
from functools import cache
from itertools import product
from random import Random
from typing import NamedTuple

import pyarrow as pa
import pytest

import paimon_explore as pe
from paimon_explore.inspection.system_tables.history_tables import SYSTEM_TABLES
from paimon_explore.metadata.consumer import Consumer
from paimon_explore.table.audit_log_binlog_tables import ROW_TABLES
from paimon_explore.table.row_reader import RowSource
from paimon_explore.table.table import Table
from support.memory_files import forget_manifests
from support.paused_file_io import PausedFileIO
from support.small_tables import append_table, columns, keyed_table
from support.through import through

Row = dict[str, object]
Test = Callable[[Row], bool | None]
TEXTS = [None, "null", "", "a", "a, b", "x/y", "dt=a", "{a}", "7", "__DEFAULT_PARTITION__", "b"]
DAYS = [None, date(1969, 12, 31), date(2026, 1, 2), date(1, 1, 1)]
COMPARISONS: dict[str, Callable[[object, object], bool]] = {
    "=": lambda a, b: a == b,
    "<": lambda a, b: a < b,  # type: ignore[operator]  # of one type
    "<=": lambda a, b: a <= b,  # type: ignore[operator]
    ">": lambda a, b: a > b,  # type: ignore[operator]
    ">=": lambda a, b: a >= b,  # type: ignore[operator]
}


class Condition(NamedTuple):
    """A condition as SQL, and as Python with None for unknown."""

    text: str
    test: Test


def with_references(table: Table) -> Table:
    """Add tags, branches, consumers and schemas."""
    for number in range(1, 12):
        table.create_tag(f"tag{number}", number)
        table._store.consumers.save(f"c{number}", Consumer(next_snapshot=number))
    for name in ("b1", "b2", "null"):
        table.create_branch(name)
    table.add_column("w", pa.int64())
    return pe.open_table(table.path)


@cache
def partitioned() -> Table:
    """Partitions whose texts are hard to take apart."""
    schema = columns(k=pa.int32(), dt=pa.string(), day=pa.date32())
    rows = [{"k": n, "dt": TEXTS[n % 11], "day": DAYS[n % 4]} for n in range(33)]
    options = {"row-tracking.enabled": "true"}
    commits = ([row] for row in rows)
    partition_by = ["dt", "day"]
    return with_references(
        append_table(schema, *commits, partition_by=partition_by, options=options)
    )


@cache
def by_number() -> Table:
    schema = columns(k=pa.int32(), p=pa.int64(), v=pa.string())
    numbers = [0, 7, -7, 2**63 - 1, 10]
    rows = [{"k": n, "p": numbers[n % 5], "v": TEXTS[n % 11]} for n in range(20)]
    rows.append({**rows[3], "_ROW_KIND": "-D"})
    options = {"bucket": "3", "write-only": "false"}
    keyed = {"primary_key": ["p", "k"], "partition_by": ["p"], "options": options}
    return with_references(keyed_table(schema, *([r] for r in rows), **keyed))  # type: ignore[arg-type]


TABLES = {"texts": partitioned, "numbers": by_number}


def literal(value: object) -> str:
    if isinstance(value, datetime):
        return f"TIMESTAMP_NTZ '{value}'"
    if isinstance(value, date):
        return f"DATE '{value}'"
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)


def comparison(name: str, values: list[object], choose: Random) -> Condition:
    """A random condition on one column."""
    value = choose.choice(values)
    kind = choose.choice([*COMPARISONS, "=", "IN", "BETWEEN", "IS NULL", "IS NOT NULL"])
    if kind in {"IS NULL", "IS NOT NULL"}:
        wants = kind == "IS NULL"
        return Condition(f"{name} {kind}", lambda row: (row[name] is None) == wants)
    if kind == "IN":
        many = choose.sample(values, min(3, len(values)))
        listed = ", ".join(map(literal, many))
        return Condition(
            f"{name} IN ({listed})",
            lambda row: None if row[name] is None else row[name] in many,
        )
    if kind == "BETWEEN":
        low, high = sorted([value, choose.choice(values)])  # type: ignore[type-var]
        return Condition(
            f"{name} BETWEEN {literal(low)} AND {literal(high)}",
            lambda row: None if row[name] is None else low <= row[name] <= high,  # type: ignore[operator]
        )
    return Condition(
        f"{name} {kind} {literal(value)}",
        lambda row: None if row[name] is None else COMPARISONS[kind](row[name], value),
    )


def combined(parts: list[Condition], choose: Random) -> Condition:
    """Conditions joined by AND or OR."""
    first, *others = parts
    if not others:
        return first
    rest, word = combined(others, choose), choose.choice(["AND", "AND", "OR"])
    joined = all if word == "AND" else any
    return Condition(
        f"({first.text}) {word} ({rest.text})",
        lambda row: joined(bool(one.test(row)) for one in (first, rest)),
    )


def texts_of(row: Row) -> str:
    return repr([*row.values()])


@pytest.mark.parametrize("seed", range(1))
@pytest.mark.parametrize(
    ("kind", "name"),
    [
        *product(TABLES, [*SYSTEM_TABLES, "audit_log", "binlog", "ro"]),
        ("texts", "row_tracking"),
    ],
)
def test_conditions_select_what_they_select_of_the_whole_table(
    kind: str, name: str, seed: int
) -> None:
    choose, table = Random(f"{kind}{name}{seed}"), TABLES[kind]()  # noqa: S311 - no secret
    source = table.inspect.system_table(name)
    rows = source.to_arrow().to_pylist()
    known: dict[str, list[object]] = {}
    for column in source.schema.names:
        values = [row[column] for row in rows if isinstance(row[column], int | str | date)]
        known |= {column: [*dict.fromkeys(values)]} if values else {}
    for _ in range(6 if known else 0):
        names = choose.choices([*known, *[source.schema.names[0]] * 3], k=choose.randint(1, 3))
        names = [one for one in names if one in known]
        parts = [comparison(one, known[one], choose) for one in names]
        condition = combined(parts, choose) if parts else Condition("1 = 1", lambda _: True)
        wanted = [row for row in rows if condition.test(row)]
        check_queries(source, table, name, condition.text, wanted, choose)


def check_queries(
    source: RowSource, table: Table, name: str, where: str, wanted: list[Row], choose: Random
) -> None:
    """Compare queries with the rows that they should return."""
    text = f"FROM t${name} WHERE {where}"
    assert pe.sql(f"SELECT * {text}", t=table).to_arrow().to_pylist() == wanted, text
    assert pe.sql(f"SELECT count(*) AS n {text}", t=table).to_arrow().to_pylist() == [
        {"n": len(wanted)}
    ], text
    shown = choose.sample(source.schema.names, choose.randint(1, 2))
    narrow = [{one: row[one] for one in shown} for row in wanted]
    limit, offset, key = choose.randint(0, 5), choose.randint(0, 2), source.schema.names[0]
    names = ", ".join(f"`{one}`" for one in shown)
    found = pe.sql(f"SELECT {names} {text} LIMIT {limit} OFFSET {offset}", t=table).to_arrow()
    assert found.to_pylist() == narrow[offset : offset + limit], text
    if where != "1 = 1":
        scan = source.scan(shown, where.replace("TIMESTAMP_NTZ", "TIMESTAMP"), limit)
        assert scan.to_arrow().to_pylist() == narrow[:limit], text
        assert scan.to_arrow().schema == scan.schema
    for order in ("", " DESC"):
        keys = sorted([str(row[key]).zfill(30) for row in wanted], reverse=bool(order))[:limit]
        query = f"SELECT * {text} ORDER BY {key}{order} LIMIT {limit}"
        rows = pe.sql(query, t=table).to_arrow().to_pylist()
        if all(isinstance(row[key], int) for row in wanted):
            assert [str(row[key]).zfill(30) for row in rows] == keys, query
        assert len(rows) == min(limit, len(wanted))
        assert set(map(texts_of, rows)) <= set(map(texts_of, wanted)), query


def files_read(table: Table, query: str) -> list[str]:
    """The files that a query of a table `t` reads below its folder, without what opening takes."""
    forget_manifests()
    lines: list[str] = []
    noted = through(table, PausedFileIO(table._store.file_io, lines.append))
    pe.sql(query, t=noted).to_arrow()
    names = [line.removeprefix("read ") for line in lines if line.startswith("read ")]
    once = files_of_opening(noted, lines)
    return sorted(name for name in names if name not in once)


def files_of_opening(table: Table, lines: list[str]) -> set[str]:
    lines.clear()
    pe.sql("SELECT * FROM t$options", t=table).to_arrow()
    return {line.removeprefix("read ") for line in lines}


@pytest.mark.parametrize(
    ("query", "files"),
    [
        ("SELECT * FROM t$snapshots WHERE snapshot_id = 7", ["snapshot-7"]),
        ("SELECT * FROM t$snapshots WHERE 7 < snapshot_id AND snapshot_id <= 8", ["snapshot-8"]),
        ("SELECT * FROM t$snapshots WHERE snapshot_id IN (5, 3, 99)", ["snapshot-3", "snapshot-5"]),
        ("SELECT * FROM t$snapshots WHERE snapshot_id = 3 + 4", ["snapshot-7"]),
        ("SELECT * FROM t$snapshots WHERE snapshot_id = 99", []),
        ("SELECT commit_kind FROM t$snapshots LIMIT 2", ["snapshot-1", "snapshot-2"]),
        ("SELECT * FROM t$snapshots LIMIT 1 OFFSET 1", ["snapshot-1", "snapshot-2"]),
        ("SELECT * FROM t$snapshots ORDER BY snapshot_id LIMIT 1", ["snapshot-1"]),
        (
            "SELECT * FROM t$snapshots WHERE snapshot_id < 9 ORDER BY snapshot_id DESC LIMIT 2",
            ["snapshot-7", "snapshot-8"],
        ),
        ("SELECT max(snapshot_id) FROM t$snapshots", []),
        ("SELECT count(*) FROM t$snapshots", []),
        ("SELECT snapshot_id FROM t$snapshots WHERE snapshot_id > 4", []),
        (
            """SELECT s.commit_user FROM t$snapshots s JOIN t$tags g USING (snapshot_id)
            WHERE g.tag_name = 'tag3' AND s.snapshot_id = 3""",
            ["snapshot-3", "tag-tag3"],
        ),
        (
            """SELECT * FROM t$snapshots
            WHERE snapshot_id = (SELECT max(snapshot_id) - 30 FROM t$snapshots)""",
            ["snapshot-3"],
        ),
        ("SELECT * FROM t$tags WHERE tag_name = 'tag1'", ["tag-tag1"]),
        ("SELECT count(*) FROM t$tags", []),
        ("SELECT * FROM t$consumers WHERE consumer_id LIKE 'c11%'", ["consumer-c11"]),
        ("SELECT count(*) FROM t$branches", []),
    ],
)
def test_a_query_reads_only_the_files_that_it_needs(query: str, files: list[str]) -> None:
    assert files_read(partitioned(), query) == files


@pytest.mark.parametrize(
    "name", ["files", "file_key_ranges", "file_indexes", "buckets", "partitions"]
)
def test_a_condition_on_the_partition_prunes_manifests(name: str) -> None:
    table = by_number()
    value = "p=-7" if name == "partitions" else "{-7}"
    whole = files_read(table, f"FROM t${name}")
    part = files_read(table, f"FROM t${name} WHERE partition = '{value}'")
    assert 0 < sum(one.startswith("manifest-") for one in part) < len(whole) // 2


@pytest.mark.parametrize("name", ["audit_log", "ro", "row_tracking"])
def test_a_condition_on_rows_of_the_table_prunes_data_files(name: str) -> None:
    lines: list[str] = []
    table = through(partitioned(), PausedFileIO(partitioned()._store.file_io, lines.append))
    assert pe.sql(f"FROM t${name} SELECT k WHERE dt = 'a'", t=table).to_arrow().num_rows == 3
    assert len({line.split()[-1] for line in lines if line.endswith(".parquet")}) == 3


@pytest.mark.parametrize("name", sorted([*SYSTEM_TABLES, *ROW_TABLES]))
def test_rows_without_columns_are_counted(name: str) -> None:
    table = partitioned() if name == "row_tracking" else by_number()
    rows = table.inspect.system_table(name)
    count = rows.to_arrow().num_rows
    none = rows.scan([])
    assert none.to_arrow().shape == (count, 0)
    assert sum(batch.num_rows for batch in none.to_batches()) == count
    assert len(none.to_pandas()) == count
    assert none.scan(limit=1).to_arrow().num_rows == min(count, 1)
    condition = f"{rows.schema.names[0]} IS NOT NULL"
    found = rows.scan(where=condition).to_arrow().num_rows
    assert rows.scan([], where=condition).to_arrow().shape == (found, 0)
