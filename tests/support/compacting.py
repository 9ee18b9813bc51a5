"""What tests of compaction look at: files, levels, changelogs and deletion vectors of a table."""

from collections.abc import Mapping, Sequence

import pyarrow as pa
from pyroaring import BitMap

from paimon_explore import Catalog, Table
from paimon_explore.commit.committer import Committer
from paimon_explore.maintenance.compaction.compaction_deletion_vectors import BucketVectors
from paimon_explore.metadata.commit_message import CommitMessage
from paimon_explore.metadata.manifest.entry_cancellation import live_entries
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.read.deletion_vector_filter import load_vector
from paimon_explore.scan.splits.data_split import DataSplit
from paimon_explore.scan.splits.deletion_vector_files import deletion_files
from paimon_explore.write.write_target import WriteTarget
from support.written import columns

ROWS = columns({"k": pa.int32(), "v": pa.int32(), "s": pa.int32()})


def numbered_table(
    folder: object, options: Mapping[str, str] | None = None, *, keyed: bool = True
) -> Table:
    """An empty table of one bucket with the key `k` and the columns `v` and `s`.

    Only `compact` compacts it, not the writes.
    """
    catalog = Catalog(str(folder))
    catalog.create_database("db", if_not_exists=True)
    given = {"bucket": "1" if keyed else "-1", "write-only": "true", **(options or {})}
    keys = ["k"] if keyed else []
    return catalog.create_table("db.t", ROWS, primary_key=keys, options=given)


def numbered(*values: tuple[int, int | None], kind: str = "+I") -> list[dict[str, object]]:
    """Rows by key and value."""
    return [{"k": k, "v": v, "s": None, "_ROW_KIND": kind} for k, v in values]


def live(table: Table) -> list[dict[str, object]]:
    """The live files, by level and first sequence number."""
    snapshot = table._store.snapshots.latest()
    if snapshot is None:
        return []
    manifests = table._store.manifests
    rows = live_entries(manifests.read_many(manifests.all(snapshot).names)).rows()
    return sorted(rows, key=lambda row: (str(row["level"]), str(row["min_sequence_number"])))


def levels(table: Table) -> list[tuple[object, object]]:
    """Level and row count of the live files."""
    return [(row["level"], row["row_count"]) for row in live(table)]


def values(table: Table) -> dict[object, object]:
    """Key to value."""
    return {row["k"]: row["v"] for row in table.to_arrow().to_pylist()}


def changelog(table: Table, snapshot: int) -> list[tuple[object, ...]]:
    """Kind, key and value of the changelog of one commit."""
    rows = table.between(snapshot - 1, snapshot, mode="changelog", row_kinds=True).to_arrow()
    return [(row["rowkind"], row["k"], row["v"]) for row in rows.to_pylist()]


def deleted(table: Table) -> list[list[int]]:
    """The deleted positions of each file that has some."""
    snapshot = table._store.snapshots.latest()
    if snapshot is None:
        return []
    found = deletion_files(table._store, snapshot, table.schema, table._target().options)
    vectors = (vector for files in found.values() for vector in files.values())
    return sorted(sorted(load_vector(table._store.file_io, vector)) for vector in vectors)


def applied(state: dict[object, object], told: Sequence[tuple[object, ...]]) -> None:
    """Replay a changelog on key to value; every record must fit what is there."""
    for kind, key, value in told:
        if kind in ("-U", "-D"):
            assert state.pop(key) == value
        else:
            assert key not in state
            state[key] = value


def marked(table: Table, vectors: Mapping[int, list[int]]) -> None:
    """Delete rows of the files of one bucket, by the files' order of writing."""
    (split,) = table.scan().plan().splits
    assert isinstance(split, DataSplit)
    target = WriteTarget(
        store=table._store, schema=table.schema, options=TableOptions(table.schema.options)
    )
    names = [str(row["file_name"]) for row in split.files.rows()]
    index = BucketVectors(target, split).write_index(
        [(names[file], BitMap(positions)) for file, positions in vectors.items()]
    )
    message = CommitMessage(**split.bucket_fields, new_index_files=index)
    Committer(table._store, table.schema).commit([message])
