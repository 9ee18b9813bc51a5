"""What a compaction preview names is what the compaction then replaces, on drawn tables."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paimon_explore import Table
from paimon_explore.inspection.what_if.compaction_preview import CompactedBucket, CompactionPreview
from paimon_explore.maintenance.compaction.append_compaction import AppendCompaction
from paimon_explore.maintenance.compaction.bucket_compaction import UnitCompaction
from paimon_explore.maintenance.compaction.clustered_compaction import ClusteredCompaction
from paimon_explore.maintenance.compaction.compaction_plan import Rewrite
from paimon_explore.maintenance.compaction.data_evolution_compaction import DataEvolutionCompaction
from paimon_explore.metadata.manifest.manifest_entry import FileKind
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.scan.manifest_arrays import Rows
from paimon_explore.scan.splits.data_split import DataSplit
from support.depth import DEEP
from support.table_kinds import (
    PARTITIONS,
    SCHEMA,
    TABLE_KINDS,
    TableKind,
    first,
    replaced,
)

WRITE = st.lists(
    st.tuples(st.sampled_from(PARTITIONS[:2]), st.integers(0, 40), st.integers(0, 9)),
    min_size=1,
    max_size=25,
)
STEPS = st.lists(WRITE | st.sampled_from(["minor", "full", "delete"]), min_size=1, max_size=8)
OPTIONS: tuple[Mapping[str, str], ...] = (
    {},
    {"num-sorted-run.compaction-trigger": "2"},
    {"num-sorted-run.compaction-trigger": "3", "compaction.size-ratio": "50"},
    {"num-sorted-run.compaction-trigger": "3", "num-levels": "3"},
    {"compaction.max-size-amplification-percent": "10"},
    {"compaction.min.file-num": "2", "compaction.delete-ratio-threshold": "0"},
    {"target-file-size": "2 kb", "compaction.min.file-num": "3"},
    {"compaction.force-rewrite-all-files": "true"},
)
CLUSTERED = {"pk-clustering-override": "true", "clustering.columns": "v", "bucket": "1"}
KINDS = {
    **{name: kind for name, kind in TABLE_KINDS.items() if name != "postponed buckets"},
    "append, clustered": TableKind(
        options={"clustering.incremental": "true", "clustering.columns": "k"}
    ),
    "clustered keys": TableKind(
        options={**CLUSTERED, "deletion-vectors.enabled": "true"}, merge=replaced, deletes=True
    ),
    "clustered first rows": TableKind(
        options={**CLUSTERED, "merge-engine": "first-row"}, merge=first
    ),
    "wide vectors, lookup": TableKind(
        options={
            "bucket": "1",
            "deletion-vectors.enabled": "true",
            "deletion-vectors.bitmap64": "true",
            "changelog-producer": "lookup",
        },
        merge=replaced,
        deletes=True,
    ),
}
"""All kinds of tables that a compaction rewrites in place."""


def written(table: Table, steps: list[object], *, deletes: bool) -> None:
    """Write the steps to a table."""
    for step in steps:
        if step == "delete":
            if deletes:
                table.delete("k < 9")
        elif isinstance(step, str):
            table.compact(full=step == "full")
        else:
            assert isinstance(step, list)
            rows = {(p, k): {"p": p, "k": k, "v": v, "w": "w" * 90} for p, k, v in step}
            data = pa.Table.from_pylist(list(rows.values()), schema=SCHEMA)
            table.upsert(data) if table.schema.primary_keys else table.append(data)


@contextmanager
def recorded_rewrites() -> Iterator[set[frozenset[str]]]:
    """The names of the files of each rewrite that the compactions do."""
    found: set[frozenset[str]] = set()

    def names(split: DataSplit, files: Iterable[int]) -> frozenset[str]:
        table = split.files.table.take(pa.array(list(files), pa.int64()))
        return frozenset(str(name) for name in table.column("file_name").to_pylist())

    with pytest.MonkeyPatch.context() as patch:
        clustered = ClusteredCompaction.run
        unit, append = UnitCompaction._rewrite, AppendCompaction._rewrite
        evolution = DataEvolutionCompaction._rewrite

        def of_unit(self: UnitCompaction, step: Rewrite, result: object, **given: bool) -> None:
            if given.get("writes_data", True):
                found.add(names(self._bucket.split, step.files))
            unit(self, step, result, **given)  # type: ignore[arg-type]

        def of_append(self: AppendCompaction, group: Sequence[int]) -> object:
            found.add(names(self._bucket.split, group))
            return append(self, group)

        def of_clustered(self: ClusteredCompaction) -> object:
            split = self._bucket.split
            found.add(names(split, range(split.count)))
            return clustered(self)

        def of_evolution(self: DataEvolutionCompaction, run: Sequence[Rows]) -> object:
            found.add(names(self._split, np.concatenate(list(run)).tolist()))
            return evolution(self, run)

        patch.setattr(ClusteredCompaction, "run", of_clustered)
        patch.setattr(UnitCompaction, "_rewrite", of_unit)
        patch.setattr(AppendCompaction, "_rewrite", of_append)
        patch.setattr(DataEvolutionCompaction, "_rewrite", of_evolution)
        yield found


def groups(preview: CompactionPreview, action: str) -> set[frozenset[str]]:
    """The names of the files of each group."""
    return {
        frozenset(str(name) for name in group.files.column("file_name").to_pylist())
        for bucket in preview.compacted
        for group in bucket.groups
        if group.action == action
    }


def changes(table: Table, snapshot: Snapshot) -> dict[FileKind, list[dict[str, object]]]:
    """The added and deleted files of a commit."""
    manifests = table._store.manifests
    names = manifests.delta(snapshot).names
    rows = manifests.read_many(names).rows()
    return {
        kind: [row for row in rows if row["kind"] == kind.value]
        for kind in (FileKind.ADD, FileKind.DELETE)
    }


def number(value: object) -> int:
    """An integer of a manifest."""
    assert isinstance(value, int)
    return value


@pytest.mark.parametrize("name", KINDS)
@settings(max_examples=40 if DEEP else 4)
@given(steps=STEPS, options=st.sampled_from(OPTIONS), full=st.booleans())
def test_a_compaction_replaces_what_its_preview_names(
    name: str,
    steps: list[object],
    options: Mapping[str, str],
    full: bool,  # noqa: FBT001 - drawn
) -> None:
    kind = KINDS[name]
    kind = replace(kind, options={**kind.options, "write-only": "true"})
    table = kind.create(f"memory://{uuid4()}/wh")
    written(table, steps, deletes=kind.deletes)
    preview = table.what_if.compact(full=full, options=options)
    with recorded_rewrites() as rewrites:
        made = replace(table, _dynamic_options=options).compact(full=full)
    assert groups(preview, "rewrite") == rewrites
    if made is None:
        assert preview.to_arrow().num_rows == 0
        return
    done = changes(table, made)
    gone = {str(row["file_name"]) for row in done[FileKind.DELETE]}
    assert set(preview.to_arrow().column("file_name").to_pylist()) == gone
    moved = {
        (str(row["file_name"]), row["level"])
        for row in done[FileKind.ADD]
        if str(row["file_name"]) in gone
    }
    planned = preview.to_arrow().to_pylist()
    moves = [row for row in planned if row["action"] == "move"]
    assert {(row["file_name"], row["level_after"]) for row in moves} == moved
    levels = {row["level_after"] for row in planned if row["action"] == "rewrite"}
    assert {
        row["level"] for row in done[FileKind.ADD] if str(row["file_name"]) not in gone
    } <= levels
    check_estimates(preview, table.what_if.compact(full=full, options=options))


def check_estimates(before: CompactionPreview, after: CompactionPreview) -> None:
    """What was estimated includes what came."""
    now = {one.text: one for one in after.buckets}
    for bucket in before.compacted:
        found = now.get(bucket.text)
        if found is None:
            assert bucket.after.rows.low == 0
            continue
        check_bucket(bucket, found, keyed=before.keyed)


def check_bucket(bucket: CompactedBucket, found: CompactedBucket, *, keyed: bool) -> None:
    """The estimate of a bucket includes its files."""
    low, high = bucket.after.rows
    assert low <= found.before.rows.high <= high
    certain = all(group.estimate.rows.low for group in bucket.groups)
    if keyed and certain:
        assert found.before.runs == bucket.after.runs
        assert found.before.max_depth <= bucket.after.max_depth
