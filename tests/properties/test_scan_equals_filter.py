"""Scans with a predicate against the plain reading of SQL over all rows, on random tables."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import uuid4

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from paimon_explore import Catalog, Table
from paimon_explore.data_types.arrow import arrow_schema
from paimon_explore.scan.predicate.expression import Expression
from support.predicates import ROW_TYPE, Row, batch_of, predicates, rows, truth
from support.small_tables import columns

SCHEMA = arrow_schema(ROW_TYPE)


@dataclass(frozen=True, kw_only=True)
class Layout:
    """How a random table keeps its rows."""

    primary_key: Sequence[str]
    partition_by: Sequence[str]
    options: Mapping[str, str]


STATS = st.sampled_from(["none", "counts", "truncate(1)", "truncate(16)", "full"])

APPEND = st.builds(
    lambda partition, mode: Layout(
        primary_key=(), partition_by=partition, options={"metadata.stats-mode": mode}
    ),
    st.sampled_from([(), ("dt",), ("s",), ("flag", "i")]),
    STATS,
)
KEYED = st.builds(
    lambda key, partition, mode, buckets, engine: Layout(
        primary_key=(*partition, *key),
        partition_by=partition,
        options={
            "metadata.stats-mode": mode,
            "bucket": buckets,
            "merge-engine": engine,
            "write-only": "true",
        },
    ),
    st.sampled_from([("i",), ("s", "i")]),
    st.sampled_from([(), ("dt",)]),
    STATS,
    st.sampled_from(["1", "3"]),
    st.sampled_from(["deduplicate", "partial-update"]),
)


def written(layout: Layout, commits: Sequence[Sequence[Row]]) -> Table:
    catalog = Catalog(f"memory://{uuid4()}/wh")
    catalog.create_database("db")
    table = catalog.create_table(
        "db.t",
        SCHEMA,
        primary_key=layout.primary_key,
        partition_by=layout.partition_by,
        options=layout.options,
    )
    for found in commits:
        keyed = [row for row in found if all(row[name] is not None for name in layout.primary_key)]
        table.append(pa.Table.from_batches([batch_of(keyed)]))
    return table


def counted(found: Sequence[Row]) -> Counter[str]:
    return Counter(map(repr, found))


@given(st.one_of(APPEND, KEYED), st.lists(rows, min_size=1, max_size=3), predicates())
def test_a_scan_gives_the_rows_of_the_table_of_which_the_predicate_is_true(
    layout: Layout, commits: list[list[Row]], expr: Expression
) -> None:
    table = written(layout, commits)
    matching = [row for row in table.to_arrow().to_pylist() if truth(expr, row) is True]
    scan = table.scan(where=expr)
    assert counted(scan.to_arrow().to_pylist()) == counted(matching)
    assert scan.count() == len(matching)


@given(APPEND, st.lists(rows, min_size=1, max_size=3))
def test_an_append_table_holds_exactly_the_rows_that_were_written(
    layout: Layout, commits: list[list[Row]]
) -> None:
    found = written(layout, commits).to_arrow().to_pylist()
    given_rows = [row for part in commits for row in batch_of(part).to_pylist()]
    assert counted(found) == counted(given_rows)


KEYED_ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "k": st.integers(0, 4),
            "v": st.sampled_from(["a", "b", None]),
            "_ROW_KIND": st.sampled_from(["+I", "+U", "-D"]),
        }
    ),
    min_size=1,
    max_size=6,
)


@given(st.lists(KEYED_ROWS, min_size=1, max_size=4), st.sampled_from(["none", "input"]))
def test_replaying_the_changes_of_a_table_gives_its_rows(
    commits: list[list[dict[str, object]]], producer: str
) -> None:
    catalog = Catalog(f"memory://{uuid4()}/wh")
    catalog.create_database("db")
    table = catalog.create_table(
        "db.t",
        columns(k=pa.int32(), v=pa.string()),
        primary_key=["k"],
        options={"bucket": "2", "changelog-producer": producer, "write-only": "true"},
    )
    for found in commits:
        table.upsert(found)
    replayed: dict[object, object] = {}
    for change in table.changes():
        for row in change.rows.to_pylist():
            if row["rowkind"] in {"-D", "-U"}:
                replayed.pop(row["k"], None)
            else:
                replayed[row["k"]] = row["v"]
    now = table.to_arrow()
    assert replayed == {row["k"]: row["v"] for row in now.to_pylist()}
    difference = table.between(0, len(commits), mode="diff").to_arrow()
    assert counted(difference.to_pylist()) == counted(now.to_pylist())
