"""Keeping the number of manifests small.

Every commit adds at least one manifest. Once there are many small ones, they are merged into few
larger ones, so that a plan reads few files and the cost of a commit does not grow with the number
of commits before it. Two ways, tried in this order:

- *full*: when small manifests and manifests with deletions have grown large together, deletions are
  carried out: every manifest that holds a deleted file is rewritten, and DELETE entries vanish;
- *minor*: neighbours are merged as soon as together they reach the target size, or when too many
  are left. An entry that is added and deleted within them cancels out; other DELETE entries stay.

In the list that results, a file's ADD still comes before its DELETE.

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
    """When manifests are merged.

    Attributes:
        target_bytes: size of a manifest that is large enough.
        full_bytes: size of what would change, together, that makes a full merge worth it.
        min_count: number of manifests left that makes a minor merge worth it.
    """

    target_bytes: int
    full_bytes: int
    min_count: int


def merge_rules_of(options: TableOptions) -> MergeRules:
    """The rules that the table's options ask for."""
    return MergeRules(
        target_bytes=options.value(opt.MANIFEST_TARGET_FILE_SIZE),
        full_bytes=options.value(opt.MANIFEST_FULL_COMPACTION_THRESHOLD_SIZE),
        min_count=options.value(opt.MANIFEST_MERGE_MIN_COUNT),
    )


@dataclass(frozen=True, slots=True)
class Weights:
    """What manifests weigh, in their order.

    Attributes:
        sizes: bytes of each.
        deleting: which hold deletions.
        changing: which a full merge is about: small ones and those with deletions.
    """

    sizes: Ints
    deleting: Bools
    changing: Bools

    @property
    def changing_bytes(self) -> int:
        """Bytes of the manifests that a full merge is about."""
        return int(self.sizes[self.changing].sum())


def weigh(manifests: ManifestFiles, rules: MergeRules) -> Weights:
    """What manifests weigh by the rules."""
    sizes, deleting = manifests.numbers("file_size"), _deleting(manifests)
    return Weights(sizes, deleting, deleting | (sizes < rules.target_bytes))


def merge_manifests(
    manifests: ManifestFiles, weights: Weights, writer: ManifestWriter, rules: MergeRules
) -> ManifestFiles:
    """The same live files in fewer manifests, or the very same manifests.

    Args:
        manifests: base list and delta list of a snapshot, in this order.
        weights: what they weigh.
        writer: reads the manifests and writes new ones.
        rules: when to merge.
    """
    merged = None
    if weights.changing_bytes >= rules.full_bytes:
        merged = _full(manifests, weights, writer)
    return _minor(manifests, weights, writer, rules) if merged is None else merged


def _full(
    manifests: ManifestFiles, weights: Weights, writer: ManifestWriter
) -> ManifestFiles | None:
    """All deletions carried out; None if there is nothing to do."""
    changing = weights.changing
    names = manifests.names
    read = writer.store.manifests.read
    deleted = ManifestEntries.concat(
        [
            read(names[position]).of_kind(FileKind.DELETE)
            for position in np.flatnonzero(weights.deleting).tolist()
        ]
    )
    reading = changing | bool(len(deleted))
    if reading.sum() <= 1:
        return None
    kept: list[ManifestFiles] = []
    survivors: list[ManifestEntries] = []
    for position, name in enumerate(names):
        same = manifests.slice(position, 1)
        if not reading[position]:
            kept.append(same)
            continue
        entries = read(name)
        alive = live_entries(ManifestEntries.concat([entries, deleted]))
        if not changing[position] and len(alive) == len(entries):
            kept.append(same)
        else:
            survivors.append(alive)
    return ManifestFiles.concat([*kept, *_written(survivors, writer)])


def _written(parts: Sequence[ManifestEntries], writer: ManifestWriter) -> list[ManifestFiles]:
    entries = ManifestEntries.concat([part for part in parts if len(part)])
    return [writer.entries(entries)] if len(entries) else []


def _minor(
    manifests: ManifestFiles, weights: Weights, writer: ManifestWriter, rules: MergeRules
) -> ManifestFiles:
    if len(manifests) < rules.min_count and int(weights.sizes.sum()) < rules.target_bytes:
        return manifests
    result: list[ManifestFiles] = []
    start = size = 0
    for position, own in enumerate(weights.sizes.tolist()):
        size += own
        if size >= rules.target_bytes:
            batch = manifests.slice(start, position + 1 - start)
            result.append(_merged(batch, writer))
            start, size = position + 1, 0
    rest = manifests.slice(start)
    if len(rest):
        result.append(_merged(rest, writer) if len(rest) >= rules.min_count else rest)
    return ManifestFiles.concat(result)


def _merged(batch: ManifestFiles, writer: ManifestWriter) -> ManifestFiles:
    """Neighbouring manifests as one, or as few as their size allows."""
    if len(batch) == 1:
        return batch
    if not _deleting(batch).any():
        copied = writer.copied(batch)
        if copied is not None:
            return copied
    entries = writer.store.manifests.read_many(batch.names)
    return writer.entries(merge_entries(entries))


def _deleting(manifests: ManifestFiles) -> Bools:
    """Which manifests hold deletions."""
    return manifests.numbers("num_deleted_files") > 0
