import secrets

import pyarrow as pa
import pytest

from paimon_explore import Table
from paimon_explore.data_types.definitions import AtomicType, TypeRoot
from paimon_explore.encoding.binary_row.row_encoder import encode_rows
from paimon_explore.metadata.manifest.manifest_codec import encode_records
from paimon_explore.metadata.manifest.manifest_filter import partition_filter
from paimon_explore.scan.live_entries import PartitionFilter, live_files, read_entries
from paimon_explore.scan.manifest_arrays import byte_rows, column, text
from paimon_explore.scan.predicate.expression import TRUE
from support.decoding import with_arity
from support.entries import entries, entry
from support.small_tables import append_table, columns

COLUMNS = columns(k=pa.int32(), dt=pa.string(), hr=pa.int32())


def table() -> Table:
    found = append_table(
        COLUMNS,
        [{"k": 1, "dt": "a", "hr": 1}, {"k": 2, "dt": None, "hr": 2}],
        [{"k": 3, "dt": "b", "hr": 1}],
        partition_by=["dt", "hr"],
    )
    found.drop_partitions({"dt": "a"})
    return found


def cut(source: Table, where: str | None) -> PartitionFilter:
    predicate = TRUE if where is None else source.scan(where=where).where
    return PartitionFilter(row_type=source.schema.partition_type, predicate=predicate)


def live(source: Table, where: str | None) -> list[dict[str, object]]:
    """The partitions of the live files."""
    assert source.snapshot is not None
    found = live_files(source._store, source.snapshot, cut(source, where))
    rows = cut(source, None).decode(column(found.table, "partition"))
    return sorted(rows.to_pylist(), key=repr)


def test_live_files_are_those_that_no_later_entry_deletes() -> None:
    assert live(table(), None) == [{"dt": "b", "hr": 1}, {"dt": None, "hr": 2}]


def test_live_files_are_cut_by_partition() -> None:
    assert live(table(), "dt = 'b'") == [{"dt": "b", "hr": 1}]
    assert live(table(), "dt = 'a'") == []
    assert live(table(), "hr = 1 OR dt IS NULL") == [{"dt": "b", "hr": 1}, {"dt": None, "hr": 2}]


def test_manifests_go_by_the_range_of_their_partitions() -> None:
    source = table()
    assert source.snapshot is not None
    manifests = source._store.manifests.all(source.snapshot)
    kept = cut(source, "dt = 'b'").manifest_mask(manifests)
    assert 0 < kept.sum() < len(kept)
    assert cut(source, None).manifest_mask(manifests).all()


def test_entries_are_read_with_their_deletions() -> None:
    source = table()
    assert source.snapshot is not None
    manifests = source._store.manifests.all(source.snapshot)
    found = read_entries(source._store, manifests, cut(source, "dt = 'a'"))
    assert len(found) == 2
    assert len(set(text(found.table, "file_name").to_pylist())) == 1


def test_each_distinct_partition_is_judged_once() -> None:
    source = table()
    assert source.snapshot is not None
    files = live_files(source._store, source.snapshot, cut(source, None))
    rows = byte_rows(column(files.table, "partition"))
    doubled = pa.array([*rows, *rows])
    kept = cut(source, "dt = 'b'").entry_mask(doubled).tolist()
    assert kept == [*kept[:2], *kept[:2]]
    assert sum(kept) == 2


def test_a_table_without_partitions_has_rows_without_columns() -> None:
    source = append_table(columns(k=pa.int32()), [{"k": 1}])
    assert source.snapshot is not None
    files = live_files(source._store, source.snapshot, cut(source, None))
    rows = cut(source, None).decode(column(files.table, "partition"))
    assert (rows.num_rows, rows.num_columns) == (1, 0)


@pytest.mark.parametrize(
    ("where", "needles"),
    [
        ("dt = 'noon'", (b"noon",)),
        ("dt = 'noon' AND hr = 7", (b"noon",)),
        ("hr = 258", (b"\x02\x01\x00\x00",)),
        ("dt IN ('noon', 'dusk')", (b"noon", b"dusk")),
        ("dt > 'noon'", ()),
        ("dt = 'noon' OR hr = 1", ()),
        ("dt IS NULL", ()),
        (None, ()),
    ],
)
def test_wanted_partitions_hold_the_bytes_of_constants(
    where: str | None, needles: tuple[bytes, ...]
) -> None:
    assert cut(table(), where).needles == needles


@pytest.mark.parametrize("day", ["2024-06-01", "noon", ""])
def test_blocks_without_a_wanted_partition_are_passed_over_and_counted(
    day: str,
) -> None:
    days = [day, *(f"2023-{number:05d}" for number in range(1, 6_000))]
    kind = AtomicType(root=TypeRoot.VARCHAR)
    rows = with_arity(encode_rows([pa.array(days)], [kind]), 1).to_pylist()
    frame = entries(
        *(entry(secrets.token_hex(40), partition=rows[n % len(rows)]) for n in range(len(rows)))
    )
    source = append_table(columns(k=pa.int32(), dt=pa.string()), partition_by=["dt"])
    store = source._store
    store.file_io.create(store.paths.manifest("m"), encode_records(frame, "null"))
    wanted = PartitionFilter(
        row_type=source.schema.partition_type, predicate=source.scan(where=f"dt = '{day}'").where
    )
    entry_filter = partition_filter(wanted.entry_mask, wanted.needles)
    found, tallies = store.manifests.read_filtered(
        ["m"], [entry_filter], ["partition", "file_name"]
    )
    assert (
        found.table.to_pylist()
        == frame.table.slice(0, 1).select(["partition", "file_name"]).to_pylist()
    )
    assert tallies[0, :2].tolist() == [1, 5_999]
