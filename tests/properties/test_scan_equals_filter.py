"""Scans with a predicate against the plain reading of SQL over all rows, on random tables."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from paimon_explore import Table
from paimon_explore.data_types.arrow import arrow_schema
from paimon_explore.scan.predicate.expression import Expression
from support.predicates import ROW_TYPE, Row, batch_of, predicates, rows, truth
from support.small_tables import new_catalog

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
    table = new_catalog().create_table(
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
