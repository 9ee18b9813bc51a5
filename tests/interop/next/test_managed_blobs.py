"""BLOB columns of primary-key tables that we made, read and continued by the next version of Java.

Needs the next version, which `tests/interop/next/run` builds; other runs skip these tests.
"""

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pytest

from implementations import JAVA
from next.features import gone
from oracle import JavaPaimon
from paimon_explore import Catalog, Table, open_table
from support.rows import difference

pytestmark = [
    pytest.mark.interop,
    pytest.mark.skipif(not JAVA.endswith("-SNAPSHOT"), reason="PAIMON_EXPLORE_JAVA is a release"),
]

COLUMNS = {
    "k": "INT",
    "n": "INT",
    "b": "BLOB",
    "a": "ARRAY<BLOB>",
    "m": "MAP<STRING NOT NULL, BLOB>",
}
PARTIAL = {"merge-engine": "partial-update"}
KINDS: Mapping[str, Mapping[str, str]] = {
    "deduplicate": {},
    "vectors": {"deletion-vectors.enabled": "true"},
    "partial": PARTIAL,
    "group": {**PARTIAL, "fields.n.sequence-group": "b,a"},
    "removes": {**PARTIAL, "partial-update.remove-record-on-delete": "true"},
    "first-row": {"merge-engine": "first-row"},
    "orc": {"file.format": "orc"},
    "avro": {"file.format": "avro", "data-file.thin-mode": "true"},
    "sequence": {"sequence.field": "n"},
    "several": {"bucket": "3", "blob.target-file-size": "60 b"},
}
NO_DELETES = {"partial", "group", "first-row"}


def rows(start: int, end: int, text: str) -> list[dict[str, object]]:
    """Rows with null, empty and short BLOBs."""
    return [
        {
            "k": k,
            "n": None if k % 5 == 4 else k,
            "b": None if k % 4 == 0 else b"" if k % 5 == 0 else f"{text}-{k}".encode(),
            "a": None if k % 3 == 0 else [b"%d" % k, None, b""][: k % 4],
            "m": None if k % 3 == 1 else [("x", b"%d" % k), ("y", None)][: k % 3],
        }
        for k in range(start, end)
    ]


def new_table(folder: Path, options: Mapping[str, str]) -> Table:
    catalog = Catalog(folder)
    catalog.create_database("db")
    return catalog.create_table(
        "db.t", COLUMNS, primary_key="k", options={"bucket": "1", **options}
    )


def check(java: JavaPaimon, table: Table, step: str) -> None:
    """Java and we read the same rows, and all files are in order."""
    ours = open_table(table.path).to_arrow()
    assert difference(java.read(table.path), ours) == "", step
    assert [*open_table(table.path).maintenance.fsck(read_rows=True)] == [], step


@pytest.mark.parametrize("kind", list(KINDS))
def test_java_reads_and_continues_what_we_wrote(
    java: JavaPaimon, tmp_path: Path, kind: str
) -> None:
    table = new_table(tmp_path, KINDS[kind])
    table.upsert(rows(0, 12, "x"))
    check(java, table, "written")
    table.upsert(rows(6, 20, "y"))
    check(java, table, "written again")
    if kind != "first-row":
        table.update({"b": b"new"}, where="k IN (0, 7)")
        source = pa.table({"k": pa.array([1, 30], pa.int32()), "b": [b"merged", b"inserted"]})
        merge = table.merge(source, on="k").when_matched_update({"b": "source.b"})
        merge.when_not_matched_insert({"k": "source.k", "b": "source.b"}).execute()
        check(java, table, "changed")
    if kind not in NO_DELETES:
        table.delete("k IN (2, 8)")
        check(java, table, "deleted")
    table.compact(full=True)
    check(java, table, "compacted")
    java.write(table.path, rows(10, 25, "z"))
    check(java, table, "java wrote")
    if kind not in NO_DELETES:
        java.write(table.path, gone(rows(10, 12, "z")))
        check(java, table, "java deleted")
    table.upsert(rows(3, 11, "w"))
    java.compact(table.path)
    check(java, table, "java compacted")
    table.upsert(rows(5, 6, "v"))
    table.compact(full=True)
    java.expire(table.path, {"snapshot.num-retained.max": "1", "snapshot.num-retained.min": "1"})
    assert java.remove_orphans(table.path, 1 << 45) == []
    check(java, table, "expired")


def test_buckets_branches_and_tags(java: JavaPaimon, tmp_path: Path) -> None:
    table = new_table(tmp_path, {})
    table.upsert(rows(0, 12, "x"))
    table.create_tag("one")
    java.create_branch(table.path, "side", "one")
    side = open_table(table.path, branch="side")
    side.upsert(rows(3, 6, "side"))
    side.compact(full=True)
    table.upsert(rows(0, 12, "y"))
    table.maintenance.rescale(3)
    table.maintenance.expire_snapshots(retain_max=1)
    check(java, table, "rescaled")
    assert difference(java.read(table.path, branch="side"), side.to_arrow()) == ""
    assert difference(java.read(table.path, tag="one"), table.at(tag="one").to_arrow()) == ""


def test_postponed_rows(java: JavaPaimon, tmp_path: Path) -> None:
    table = new_table(tmp_path, {"bucket": "-2", "postpone.default-bucket-num": "2"})
    table.upsert(rows(0, 12, "x"))
    java.write_postponed(table.path, rows(6, 20, "y"))
    table.upsert(rows(10, 12, "z"))
    table.compact()
    check(java, table, "compacted")
    assert table.to_arrow().num_rows == 20
