"""Frames of index files and of manifest lists."""

import numpy as np
import pyarrow as pa

from paimon_explore.metadata.manifest.index_manifest import (
    DELETION_VECTORS_INDEX,
    HASH_INDEX,
    INDEX_SCHEMA,
    IndexEntries,
)
from paimon_explore.metadata.manifest.manifest_entry import FileKind
from paimon_explore.metadata.manifest.manifest_list import MANIFEST_LIST_SCHEMA, ManifestFiles
from support.entries import index_row, manifest


def names(entries: IndexEntries) -> list[object]:
    return [row["file_name"] for row in entries.rows()]


def test_index_files_are_picked_by_mask_position_and_type() -> None:
    frame = IndexEntries.from_rows(
        [index_row("a"), index_row("b", index_type=DELETION_VECTORS_INDEX), index_row("c")]
    )
    assert frame.table.schema.equals(INDEX_SCHEMA)
    assert names(frame.of_type(HASH_INDEX)) == ["a", "c"]
    assert names(frame.filter(np.array([False, True, True]))) == ["b", "c"]
    assert names(frame.take(np.array([2, 0]))) == ["c", "a"]
    assert names(frame.slice(1, 1)) == ["b"]
    assert len(frame.column("bucket")) == 3
    assert {row["kind"] for row in frame.with_kind(FileKind.DELETE).rows()} == {1}
    assert names(IndexEntries.concat([frame, frame.slice(0, 1)])) == ["a", "b", "c", "a"]
    assert len(IndexEntries.concat([])) == 0


def test_manifests_are_picked_by_mask_and_position() -> None:
    rows = [manifest("a"), manifest("b"), manifest("c")]
    frame = ManifestFiles(pa.Table.from_pylist(rows, schema=MANIFEST_LIST_SCHEMA))
    assert frame.filter(pa.array([True, None, True])).names == ["a", "c"]
    assert frame.take(np.array([1])).names == ["b"]
    assert frame.slice(2).names == ["c"]
    assert len(frame.column("schema_id")) == 3
    assert [row["file_name"] for row in frame.rows()] == ["a", "b", "c"]
    assert ManifestFiles.concat([frame, frame]).total_size == 600
    assert ManifestFiles.concat([]).total_size == 0
