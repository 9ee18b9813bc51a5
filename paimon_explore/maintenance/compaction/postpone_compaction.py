"""Compaction of postpone buckets: write their rows to real buckets.

Tables with `bucket = -2` store new rows in Avro files of one postpone bucket per partition, in
input order. Their compaction writes these rows like new input: with sequence numbers, merged, to
level-0 files of real buckets, which replace the Avro files in one commit. The number of buckets is
that of the partition's existing files, or else that of the options
`postpone.target-row-num-per-bucket` and `postpone.default-bucket-num`.

Spec: primary-key-table/data-distribution, postpone bucket. Seen in: golden
java200/postpone_compacted.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa

from paimon_explore.errors import undo_on_error
from paimon_explore.metadata.commit_message import CommitMessage
from paimon_explore.metadata.manifest.manifest_entry import POSTPONE_TOTAL_BUCKETS, ManifestEntries
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.table_options import POSTPONE_BUCKET, TableOptions
from paimon_explore.read.data_file import SystemColumn
from paimon_explore.read.split_reader import SplitReader
from paimon_explore.scan.splits.data_split import DataSplit, Splits
from paimon_explore.scan.splits.postponed_splits import write_order
from paimon_explore.write.input.row_kinds import ROW_KIND
from paimon_explore.write.primary_key_writer import UpsertWriter
from paimon_explore.write.write_target import WriteTarget, abort


def compact_postpone_buckets(
    target: WriteTarget, buckets: Sequence[DataSplit]
) -> list[CommitMessage]:
    """Write the rows of postpone buckets to real buckets.

    Args:
        target: the table.
        buckets: all live files, one split per bucket.

    Returns:
        Messages that replace the files of postpone buckets; empty without such files.

    Raises:
        FormatError: a file is malformed.
        StorageError: a file cannot be read or written.
    """
    known = {split.partition: split.total_buckets for split in buckets if split.total_buckets > 0}
    rows: Counter[bytes] = Counter()
    for split in buckets:
        if split.bucket == POSTPONE_BUCKET:
            rows[split.partition] += split.row_count
    messages: list[CommitMessage] = []
    with undo_on_error(abort, target, messages):
        for split in buckets:
            if split.bucket == POSTPONE_BUCKET:
                count = known.get(split.partition)
                new = _new_bucket_count(target.options, rows[split.partition])
                messages += _rewrite(target, split, new if count is None else count)
    return messages


def _new_bucket_count(options: TableOptions, rows: int) -> int:
    """Return the number of buckets of a partition that has none yet."""
    target_rows = options.value(opt.POSTPONE_TARGET_ROW_NUM_PER_BUCKET)
    if target_rows is None:
        return max(options.value(opt.POSTPONE_DEFAULT_BUCKET_NUM), 1)
    return max(-(-rows // max(target_rows, 1)), 1)


def _rewrite(target: WriteTarget, split: DataSplit, count: int) -> list[CommitMessage]:
    options = TableOptions({**target.options, opt.BUCKET.key: str(count)})
    reader = SplitReader(
        unrestricted=True,
        as_stored=True,
        target=replace(target, options=options),
        columns=target.schema.row_type.names,
        system_columns=(SystemColumn.VALUE_KIND,),
    )
    # the stored row kinds apply, not the column of `rowkind.field`
    own = {key: text for key, text in options.items() if key != opt.ROWKIND_FIELD.key}
    rewritten = replace(target, options=TableOptions(own), stored_mark=b"")
    with UpsertWriter(rewritten) as writer:
        for batch in reader.read(_unmerged(split)):
            writer.write(pa.Table.from_batches([_with_kinds(batch)]))
        written = writer.prepare_commit()
    removed = CommitMessage(
        partition=split.partition,
        bucket=POSTPONE_BUCKET,
        total_buckets=POSTPONE_TOTAL_BUCKETS,
        compact_before=split.files,
    )
    return [removed, *(_as_compaction(message) for message in written)]


def _unmerged(split: DataSplit) -> DataSplit:
    """Return the files in write order, without a merge."""
    return Splits.one(split.source.take(write_order(split.files) + split.start))


def _with_kinds(batch: pa.RecordBatch) -> pa.RecordBatch:
    names = [ROW_KIND if n == SystemColumn.VALUE_KIND else n for n in batch.schema.names]
    return batch.rename_columns(names)


def _as_compaction(message: CommitMessage) -> CommitMessage:
    return replace(
        message,
        new_files=ManifestEntries.empty(),
        changelog_files=ManifestEntries.empty(),
        compact_after=message.new_files,
        compact_changelog=message.changelog_files,
    )
