"""Merging (compaction) of manifests during a commit, as Java's `ManifestFileMerger`.

Every commit adds at least one manifest. Small manifests are merged into larger ones, so that scan
planning reads few files and commits do not become slower with the number of snapshots. Two
strategies are tried in this order:

- *full* compaction: if small manifests and manifests with deletions exceed a total size, all
  deletions are applied: manifests with deleted files are rewritten without DELETE entries;
- *minor* compaction: adjacent manifests are merged when they reach the target size together, or
  when too many remain. ADD and DELETE entries of a file cancel; other DELETE entries are kept.

In the resulting list, the ADD entry of a file still precedes its DELETE entry.

Spec: maintenance/configurations, `manifest.*`. Seen in: golden java200/manifest_merge.
"""

from collections.abc import Sequence

import numpy as np

from paimon_explore.commit.manifest_writer import ManifestWriter
from paimon_explore.data_types.arrow_buffers import Bools, Ints
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.manifest.entry_cancellation import live_entries, merge_entries
from paimon_explore.metadata.manifest.manifest_entry import FileKind, ManifestEntries
from paimon_explore.metadata.manifest.manifest_list import ManifestFiles
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.table_options import TableOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeRules:
    """Thresholds for merging manifests.

    Attributes:
        target_bytes: target size of a manifest; smaller ones are small.
        full_bytes: total size of manifests to rewrite that triggers a full compaction.
        min_count: number of remaining manifests that triggers a minor compaction.
    """

    target_bytes: int
    full_bytes: int
    min_count: int


def merge_rules_of(options: TableOptions) -> MergeRules:
    """Return the thresholds of the table options."""
    return MergeRules(
        target_bytes=options.value(opt.MANIFEST_TARGET_FILE_SIZE),
        full_bytes=options.value(opt.MANIFEST_FULL_COMPACTION_THRESHOLD_SIZE),
        min_count=options.value(opt.MANIFEST_MERGE_MIN_COUNT),
    )


@dataclass(frozen=True, slots=True)
class MergeCandidates:
    """Sizes of manifests and their selection for a full compaction, in manifest order.

    Attributes:
        sizes: size of each manifest in bytes.
        has_deletions: mask of manifests with DELETE entries.
        to_rewrite: mask of manifests that a full compaction rewrites: small or with deletions.
    """

    sizes: Ints
    has_deletions: Bools
    to_rewrite: Bools

    @property
    def rewrite_bytes(self) -> int:
        """Total size of the manifests that a full compaction rewrites."""
        return int(self.sizes[self.to_rewrite].sum())


def merge_candidates(manifests: ManifestFiles, rules: MergeRules) -> MergeCandidates:
    """Return the sizes of manifests and their selection for a full compaction."""
    sizes, has_deletions = manifests.numbers("file_size"), _has_deletions(manifests)
    return MergeCandidates(sizes, has_deletions, has_deletions | (sizes < rules.target_bytes))


def merge_manifests(
    manifests: ManifestFiles, candidates: MergeCandidates, writer: ManifestWriter, rules: MergeRules
) -> ManifestFiles:
    """Merge manifests if a threshold is exceeded, else return the same manifests.

    Args:
        manifests: base list and delta list of a snapshot, in this order.
        candidates: their sizes and selection.
        writer: reads the manifests and writes new ones.
        rules: the thresholds.
    """
    merged = None
    if candidates.rewrite_bytes >= rules.full_bytes:
        merged = _full_merge(manifests, candidates, writer)
    return _minor_merge(manifests, candidates, writer, rules) if merged is None else merged


def _full_merge(
    manifests: ManifestFiles, candidates: MergeCandidates, writer: ManifestWriter
) -> ManifestFiles | None:
    """Apply all deletions; None if there is nothing to do."""
    to_rewrite = candidates.to_rewrite
    names = manifests.names
    read = writer.store.manifests.read
    deleted = ManifestEntries.concat(
        [
            read(names[position]).of_kind(FileKind.DELETE)
            for position in np.flatnonzero(candidates.has_deletions).tolist()
        ]
    )
    reading = to_rewrite | bool(len(deleted))
    if reading.sum() <= 1:
        return None
    kept: list[ManifestFiles] = []
    live: list[ManifestEntries] = []
    for position, name in enumerate(names):
        same = manifests.slice(position, 1)
        if not reading[position]:
            kept.append(same)
            continue
        entries = read(name)
        live_part = live_entries(ManifestEntries.concat([entries, deleted]))
        if not to_rewrite[position] and len(live_part) == len(entries):
            kept.append(same)
        else:
            live.append(live_part)
    return ManifestFiles.concat([*kept, *_written(live, writer)])


def _written(parts: Sequence[ManifestEntries], writer: ManifestWriter) -> list[ManifestFiles]:
    entries = ManifestEntries.concat([part for part in parts if len(part)])
    return [writer.entries(entries)] if len(entries) else []


def _minor_merge(
    manifests: ManifestFiles, candidates: MergeCandidates, writer: ManifestWriter, rules: MergeRules
) -> ManifestFiles:
    if len(manifests) < rules.min_count and int(candidates.sizes.sum()) < rules.target_bytes:
        return manifests
    result: list[ManifestFiles] = []
    start = size = 0
    for position, own in enumerate(candidates.sizes.tolist()):
        size += own
        if size >= rules.target_bytes:
            batch = manifests.slice(start, position + 1 - start)
            result.append(_merge_batch(batch, writer))
            start, size = position + 1, 0
    rest = manifests.slice(start)
    if len(rest):
        result.append(_merge_batch(rest, writer) if len(rest) >= rules.min_count else rest)
    return ManifestFiles.concat(result)


def _merge_batch(batch: ManifestFiles, writer: ManifestWriter) -> ManifestFiles:
    """Merge adjacent manifests into one, or more if they exceed the target size."""
    if len(batch) == 1:
        return batch
    if not _has_deletions(batch).any():
        concat_manifests = writer.concat_manifests(batch)
        if concat_manifests is not None:
            return concat_manifests
    entries = writer.store.manifests.read_many(batch.names)
    return writer.entries(merge_entries(entries))


def _has_deletions(manifests: ManifestFiles) -> Bools:
    """Return the mask of manifests with DELETE entries."""
    return manifests.numbers("num_deleted_files") > 0
