"""Java reads what this library wrote, goes on writing to it, and compacts it."""

import pyarrow as pa
import pytest

from java_rows import compact, differences
from oracle import JavaPaimon
from paimon_explore import Catalog, Table
from support.rows import difference
from support.system_rows import facts
from support.written import KINDS, make

pytestmark = pytest.mark.interop

SYSTEM = (
    *("snapshots", "schemas", "options", "manifests", "files", "file_key_ranges", "partitions"),
    *("buckets", "table_indexes", "aggregation_fields"),
)


def assert_same_system_tables(java: JavaPaimon, table: Table) -> None:
    for system in SYSTEM:
        theirs = java.system_table(table.path, system)
        ours = table.inspect.system_table(system).to_arrow()
        assert facts(theirs) == facts(ours, theirs.schema.names), system


@pytest.mark.parametrize("name", KINDS)
def test_java_reads_every_snapshot_and_system_table_goes_on_and_expires(
    java: JavaPaimon, name: str, catalog: Catalog
) -> None:
    """Rows of all snapshots are compared at the end, with those that Java and we add."""
    kind = KINDS[name]
    table = make(catalog, name, kind)
    newest = len(table.snapshots)
    assert table.to_arrow().num_rows == kind.count
    theirs = java.system_table(table.path, "audit_log")
    assert difference(theirs, table.inspect.system_table("audit_log").to_arrow()) == ""
    assert_same_system_tables(java, table)
    later = table.snapshots[newest].time_millis + 1000
    assert java.remove_orphans(table.path, later, dry_run=True) == []

    if kind.more:
        java.write(table.path, list(kind.more))
    compact(java, table)
    kinds = [snapshot.commit_kind.value for snapshot in table.snapshots]
    assert kinds[newest + bool(kind.more)] == "COMPACT"
    assert table.to_arrow().num_rows >= max(kind.count, len(kind.more))
    kind.steps[0](table)
    compact(java, table)
    assert differences(java, table) == []
    assert_same_system_tables(java, table)

    before, newest = table.to_arrow(), max(snapshot.id for snapshot in table.snapshots)
    options = {"snapshot.num-retained.min": "1", "snapshot.num-retained.max": "1"}
    java.expire(table.path, {**options, "snapshot.time-retained": "1 ms"})
    assert [snapshot.id for snapshot in table.snapshots] == [newest]
    assert difference(before, table.to_arrow()) == ""
    assert differences(java, table) == []


@pytest.mark.parametrize("compression", ["zstd", "zlib", "none"])
def test_java_reads_orc_timestamps_before_1970(
    java: JavaPaimon, catalog: Catalog, compression: str
) -> None:
    columns = {
        "id": "INT",
        "t": "TIMESTAMP(9)",
        "z": "TIMESTAMP_LTZ(6)",
        "l": "ARRAY<TIMESTAMP(3)>",
    }
    options = {"file.format": "orc", "file.compression": compression}
    catalog.create_database("db", if_not_exists=True)
    table = catalog.create_table("db.early", columns, options=options)
    seconds = [-1, -2, -1000, -631_152_000, -6_000_000_000, 0, 1_700_000_000]
    nanos = [n * 10**9 - part for n in seconds for part in (0, 1, 999_999, 1_000_000, 500_000_000)]
    ticks = [n for n in nanos if not -999_000_000 <= n < 0]  # which ORC has no place for
    rows = {
        "id": pa.array(range(len(ticks)), pa.int32()),
        "t": pa.array(ticks, pa.timestamp("ns")),
        "z": pa.array([n // 10**6 * 10**3 for n in ticks], pa.timestamp("us", "UTC")),
        "l": pa.array([[n // 10**9 * 10**3, None] for n in ticks], pa.list_(pa.timestamp("ms"))),
    }
    table.append(pa.table(rows))
    assert differences(java, table) == []
