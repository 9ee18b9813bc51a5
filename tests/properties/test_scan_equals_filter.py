"""Scans with a predicate against the plain reading of SQL over all rows, on random tables.

So are their explanations: what they call pruned holds no matching row.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from paimon_explore import Table
from paimon_explore.data_types.arrow import arrow_schema
from paimon_explore.inspection.explain.scan_explanation import ScanExplanation
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.read.split_reader import SplitReader
from paimon_explore.scan.predicate.expression import Expression
from paimon_explore.scan.splits.data_split import KnownPaths, LocatedFiles, Splits
from paimon_explore.scan.splits.file_locations import data_file_paths
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


def stored_rows(table: Table, entries: ManifestEntries) -> Iterator[dict[str, object]]:
    """The rows of data files as they are stored."""
    target = table._target()
    reader = SplitReader(
        target=target,
        columns=target.schema.row_type.names,
    )
    paths = data_file_paths(entries, target.schema, target.options, table._store.paths)
    files = LocatedFiles(
        entries=entries, paths_of=KnownPaths(paths), deletion_files={}, snapshot_id=None
    )
    for batch in reader.read(Splits.one(files)):
        yield from batch.to_pylist()


@given(st.one_of(APPEND, KEYED), st.lists(rows, min_size=1, max_size=3), predicates())
def test_a_scan_gives_the_rows_of_the_table_of_which_the_predicate_is_true(
    layout: Layout, commits: list[list[Row]], expr: Expression
) -> None:
    table = written(layout, commits)
    matching = [row for row in table.to_arrow().to_pylist() if truth(expr, row) is True]
    scan = table.scan(where=expr)
    assert counted(scan.to_arrow().to_pylist()) == counted(matching)
    assert scan.count() == len(matching)
    found = table.explain(expr)
    check_pruned(table, expr, found)
    check_stages(table, expr, found)


def check_pruned(table: Table, expr: Expression, found: ScanExplanation) -> None:
    """What the explanation calls pruned holds no matching row."""
    for items in found.items:
        if not items.stage:
            continue
        entries = ManifestEntries(items.rows) if items.unit == "file" else None
        if entries is None:
            names = [str(name) for name in items.rows.column("file_name").to_pylist()]
            entries = table._store.manifests.read_many(names)
        for row in stored_rows(table, entries):
            assert truth(expr, row) is not True, (items.stage, items.reason(0), row)


def check_stages(table: Table, expr: Expression, found: ScanExplanation) -> None:
    """What is read is what the plan reads, and each cut goes on from the last."""
    planned = [
        str(r["file_name"]) for s in table.scan(where=expr).plan().splits for r in s.files.rows()
    ]
    by_index = [
        i for items in found.items if items.stage == "file index" for i in items.rows.to_pylist()
    ]
    names = [*found.kept_files(), *(str(row["file_name"]) for row in by_index)]
    assert sorted(names) == sorted(planned)
    files = [stage for stage in found.stages if stage.unit == "files"]
    for before, after in pairwise(files):
        assert (before.kept, before.kept_rows, before.kept_bytes) == (
            after.total, after.total_rows, after.total_bytes,
        )  # fmt: skip
    for row in found.to_arrow().to_pylist():
        assert row["reason"]
        assert row["kept"] or row["condition"]
