"""What the explanation of a scan calls pruned holds no matching row, on random tables."""

from collections.abc import Iterator
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from paimon_explore import Table
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.read.split_reader import SplitReader
from paimon_explore.scan.predicate.expression import Expression
from paimon_explore.scan.splits.data_split import KnownPaths, LocatedFiles, Splits
from paimon_explore.scan.splits.file_locations import data_file_paths
from properties.test_scan_equals_filter import APPEND, KEYED, Layout, written
from support.predicates import Row, predicates, rows, truth


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
def test_what_is_pruned_holds_no_matching_row(
    layout: Layout, commits: list[list[Row]], expr: Expression
) -> None:
    table = written(layout, commits)
    found = table.explain(expr)
    for items in found.items:
        if not items.stage:
            continue
        entries = ManifestEntries(items.rows) if items.unit == "file" else None
        if entries is None:
            names = [str(name) for name in items.rows.column("file_name").to_pylist()]
            entries = table._store.manifests.read_many(names)
        for row in stored_rows(table, entries):
            assert truth(expr, row) is not True, (items.stage, items.reason(0), row)


@given(st.one_of(APPEND, KEYED), st.lists(rows, min_size=1, max_size=3), predicates())
def test_what_is_read_is_what_the_plan_reads_and_each_cut_goes_on_from_the_last(
    layout: Layout, commits: list[list[Row]], expr: Expression
) -> None:
    table = written(layout, commits)
    found = table.explain(expr)
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
