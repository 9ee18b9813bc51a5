"""Two copies of a table, one compacted by Java and one by us: the same files, row by row.

Java writes the rows. Sizes of files decide what is picked and rolled, so both copies begin each
round with the same files.
"""

import random
import shutil
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from oracle import ROW_KIND, JavaPaimon
from paimon_explore import open_table
from paimon_explore.metadata.manifest.entry_cancellation import live_entries
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.read.data_file import SystemColumn
from paimon_explore.read.split_reader import SplitReader
from paimon_explore.scan.plan import ScanTarget
from paimon_explore.scan.splits.data_split import Splits
from paimon_explore.scan.splits.split_generator import whole_buckets
from paimon_explore.table.table import Table
from support.compacting import deleted
from support.rows import difference

pytestmark = pytest.mark.interop

COLUMNS = [("k", "INT NOT NULL"), ("a", "INT"), ("b", "STRING"), ("s", "INT")]
SUMS = {
    "merge-engine": "aggregation",
    "fields.a.aggregate-function": "sum",
    "fields.b.aggregate-function": "last_non_null_value",
    "fields.s.aggregate-function": "max",
}
PARTIAL = {"merge-engine": "partial-update", "partial-update.remove-record-on-delete": "true"}
FIRST = {"merge-engine": "first-row"}
LOOKUP = {"changelog-producer": "lookup"}
FULL = {"changelog-producer": "full-compaction"}
VECTORS = {"deletion-vectors.enabled": "true"}
SEQUENCE = {"sequence.field": "s"}
DEDUPLICATE = {"changelog-producer.row-deduplicate": "true"}
TABLES: Mapping[str, Mapping[str, str]] = {
    "plain": {},
    "small_files": {"target-file-size": "2 kb"},
    "three_levels": {"num-levels": "3", "num-sorted-run.compaction-trigger": "3"},
    "level_0_up": {"compaction.force-up-level-0": "true"},
    "rewrite_all": {"compaction.force-rewrite-all-files": "true"},
    "sums": SUMS,
    "partial": PARTIAL,
    "lookup": LOOKUP,
    "lookup_avro_below": {**LOOKUP, "file.format.per.level": "0:avro"},
    "lookup_distinct": {**LOOKUP, **DEDUPLICATE, **SEQUENCE},
    "lookup_sums": {**LOOKUP, **SUMS},
    "lookup_forced_sums": {"force-lookup": "true", **SUMS},
    "full": {**FULL, **SEQUENCE},
    "full_distinct": {**FULL, **DEDUPLICATE},
    "full_sums": {**FULL, **SUMS},
    "vectors": VECTORS,
    "vectors_wide": {**VECTORS, "deletion-vectors.bitmap64": "true"},
    "vectors_lookup": {**VECTORS, **LOOKUP, **SEQUENCE, "target-file-size": "2 kb"},
    "vectors_sums": {**VECTORS, **SUMS},
    "vectors_partial": {**VECTORS, **LOOKUP, **PARTIAL, **DEDUPLICATE},
    "first_row": {**FIRST, **LOOKUP},
}
ROUNDS = 4


@pytest.mark.parametrize("name", TABLES)
def test_our_compactions_make_the_files_that_java_makes(
    java: JavaPaimon, tmp_path: Path, name: str
) -> None:
    chance = random.Random(name)  # noqa: S311 - test data
    theirs, ours = tmp_path / "a.db" / "t", tmp_path / "b.db" / "t"
    options = {"bucket": chance.choice("12"), "write-only": "true", **TABLES[name]}
    theirs.parent.mkdir()
    java.create_table(theirs, COLUMNS, primary_keys=["k"], options=options)
    for _ in range(ROUNDS):
        for _ in range(chance.randint(1, 6)):
            java.write(theirs, some_rows(chance, deletes="merge-engine" not in options))
        shutil.rmtree(ours, ignore_errors=True)
        shutil.copytree(theirs, ours)
        full = chance.random() < 0.4
        java.compact(theirs, full=full)
        open_table(ours).compact(full=full)
        assert state(open_table(ours)) == state(open_table(theirs))
        assert difference(java.read(theirs), open_table(ours).to_arrow()) == ""
        assert difference(java.read(ours), open_table(ours).to_arrow()) == ""


def some_rows(chance: random.Random, *, deletes: bool) -> list[dict[str, object]]:
    low, size = chance.choice([0, 0, 50]), chance.choice([1, 3, 20, 150])
    return [
        {
            "k": key,
            "a": chance.choice([None, chance.randint(0, 9)]),
            "b": chance.choice([None, f"v{chance.randint(0, 3)}"]),
            "s": chance.choice([None, chance.randint(0, 9)]),
            ROW_KIND: "-D" if deletes and chance.random() < 0.2 else "+I",
        }
        for key in chance.sample(range(low, low + 200), size)
    ]


def state(table: Table) -> dict[str, object]:
    """What two tables have in common if they were compacted alike: all but names and sizes."""
    snapshot = table._store.snapshots.latest()
    assert snapshot is not None
    manifests = table._store.manifests
    changelog = snapshot.changelog_manifest_list
    told = manifests.read_many(manifests.list(changelog).names) if changelog else None
    index = manifests.index_of(snapshot).rows()
    return {
        "kind": snapshot.commit_kind,
        "id": snapshot.id,
        "counts": (snapshot.total_record_count, snapshot.delta_record_count),
        "files": files(
            table, snapshot, live_entries(manifests.read_many(manifests.all(snapshot).names))
        ),
        "changelog": None if told is None else files(table, snapshot, told),
        "deleted": deleted(table),
        "index": sorted((row["bucket"], row["index_type"], row["row_count"]) for row in index),
    }


def files(table: Table, snapshot: Snapshot, entries: ManifestEntries) -> list[str]:
    """Place, figures and rows of every file, with kinds and sequence numbers, in file order."""
    if not len(entries):
        return []
    options = TableOptions(table.schema.options)
    target = ScanTarget(store=table._store, schema=table.schema, options=options, snapshot=snapshot)
    reader = SplitReader(
        target=target,
        columns=table.schema.row_type.names,
        system_columns=(SystemColumn.SEQUENCE_NUMBER, SystemColumn.VALUE_KIND),
    )
    figures = ["level", "min_sequence_number", "max_sequence_number", "delete_row_count"]
    found = []
    for split in whole_buckets(target.located(entries, snapshot)):
        for row in range(split.count):
            file = Splits.one(split.source.take(np.array([split.start + row])))
            rows = [row for batch in reader.read(file) for row in batch.to_pylist()]
            facts = file.files.table.select([*figures, "file_source"]).to_pylist()
            found.append(repr((split.bucket, facts, [tuple(row.values()) for row in rows])))
    return sorted(found)
