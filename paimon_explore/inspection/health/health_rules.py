"""The rules of `health`: each yields the findings whose figure exceeds a threshold.

Thresholds come from table options where such an option exists, else from the constants below.
`health_rules.csv` has the severity and the advice of each rule.
"""

import csv
import pkgutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from statistics import median

import numpy as np

from paimon_explore import arrow_compute as pc
from paimon_explore.commit.iceberg.metadata_folder import MetadataFolder
from paimon_explore.commit.iceberg.settings import has_iceberg_metadata, iceberg_folder
from paimon_explore.data_types.arrow_buffers import as_python
from paimon_explore.errors import MissingFileError
from paimon_explore.fileio.paths import parent
from paimon_explore.inspection.explain.expiry_preview import tag_only_files
from paimon_explore.inspection.health.findings import Finding, Severity
from paimon_explore.inspection.health.health_facts import MAX_CHECKED_FILES, TableFacts
from paimon_explore.inspection.history.timeline import FlagKind
from paimon_explore.inspection.rendering.number_format import bytes_text, count_text, plural
from paimon_explore.inspection.views.lsm_tree_view import BucketSummary, bucket_text
from paimon_explore.maintenance.expiry.snapshot_expiry import (
    expiring_ids,
    kept_from,
    snapshot_retention,
)
from paimon_explore.metadata.options.effective_options import stop_trigger, target_file_bytes
from paimon_explore.metadata.options.iceberg_options import ICEBERG_STORAGE
from paimon_explore.metadata.options.table_options import (
    BUCKET,
    COMPACTION_DELETE_RATIO_THRESHOLD,
    COMPACTION_MIN_FILE_NUM,
    COMPACTION_SMALL_FILE_RATIO,
    MANIFEST_FULL_COMPACTION_THRESHOLD_SIZE,
    MANIFEST_MERGE_MIN_COUNT,
    METADATA_STATS_MODE,
    NUM_SORTED_RUN_COMPACTION_TRIGGER,
    NUM_SORTED_RUN_STOP_TRIGGER,
    POSTPONE_BUCKET,
    SNAPSHOT_NUM_RETAINED_MAX,
    SNAPSHOT_TIME_RETAINED,
)
from paimon_explore.metadata.options.tag_options import CONSUMER_EXPIRATION_TIME
from paimon_explore.metadata.table_paths import MAIN_BRANCH
from paimon_explore.scan.manifest_arrays import column, numbers
from paimon_explore.scan.splits.deletion_vector_files import deletion_files
from paimon_explore.scan.splits.file_locations import data_file_paths
from paimon_explore.store.snapshots import last_run

_MAX_FINDINGS_PER_RULE = 3
_SKEW = 3.0
"""Maximum ratio of the largest bucket of a partition to the mean of its buckets."""
_PARTITION_SKEW = 10.0
"""Maximum ratio of the largest partition to the median one."""
_MIN_ROWS = 1_000
"""Tables with fewer rows are not checked for skew."""
_MANIFEST_BYTES_PER_FILE = 4_096
_MIN_MANIFESTS = 10
_DELETE_SHARE = 0.3
_MIN_ENTRIES = 100
_TAG_SHARE = 0.25
_CONSUMER_LAG = 100
_OVERDUE = 10


_TEXT = (pkgutil.get_data(__package__, "health_rules.csv") or b"").decode()
_RULE = {
    row["rule"]: Finding(severity=Severity(row["severity"]), rule=row["rule"], advice=row["advice"])
    for row in csv.DictReader(_TEXT.splitlines())
}
"""Findings of each rule, to be completed with what was measured."""


def _percent(share: float) -> str:
    return f"{share:.0%}"


def _times(factor: float) -> str:
    return f"{factor:.1f}x"


def unreadable(facts: TableFacts) -> Iterator[Finding]:
    """Find metadata files that cannot be read."""
    problems = facts.inspector.timeline().problems
    if problems:
        yield replace(
            _RULE["unreadable metadata"],
            what=f"{plural(len(problems), 'metadata file')} cannot be read: {problems[0].message}",
            figure=len(problems),
        )


def missing_metadata(facts: TableFacts) -> Iterator[Finding]:
    """Find snapshots and schemas that should exist, but have no file."""
    store = facts.inspector.view.store
    ids = facts.snapshot_ids
    if gaps := sorted({*range(ids[0], ids[-1])} - {*ids}) if ids else []:
        yield _missing("snapshot", gaps, f"between snapshots {ids[0]} and {ids[-1]}", "")
    used = {*numbers(facts.files.table, "schema_id").tolist()}
    if absent := sorted(used - {*store.schemas.ids()}):
        yield _missing("schema", absent, "in which live data files are written", "schema:")


def _missing(kind: str, ids: list[int], which: str, evidence: str) -> Finding:
    names = [f"{kind}-{number}" for number in ids]
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    verb = "do not exist" if more else "does not exist"
    what = f"{names[0]}{more}, {which}, {verb}"
    return replace(_RULE[f"missing {kind}"], what=what, figure=len(names), evidence=evidence)


def sorted_runs(facts: TableFacts) -> Iterator[Finding]:
    """Find buckets with more sorted runs than the compaction trigger."""
    if not facts.keyed:
        return
    trigger = facts.options.value(NUM_SORTED_RUN_COMPACTION_TRIGGER)
    stop = stop_trigger(facts.options)
    late = [one for one in facts.buckets if one.runs > trigger]
    for one in late[:_MAX_FINDINGS_PER_RULE]:
        waits = one.bucket == POSTPONE_BUCKET
        stops = one.runs > stop and not waits
        which = "files that wait for a compaction" if waits else "sorted runs"
        option = NUM_SORTED_RUN_STOP_TRIGGER if stops else NUM_SORTED_RUN_COMPACTION_TRIGGER
        others = (
            f"; {plural(len(late) - 1, 'more bucket')} above the trigger" if len(late) > 1 else ""
        )
        yield replace(
            _RULE["level-0 backlog"],
            severity=Severity.ERROR if stops else Severity.WARNING,
            what=f"{one.text} has {one.runs} {which}{others}",
            figure=one.runs,
            threshold=stop if stops else trigger,
            option=option.key,
            evidence=f"lsm:{one.text}",
        )


def small_files(facts: TableFacts) -> Iterator[Finding]:
    """Find partitions or buckets of append tables that have many small files to merge."""
    if facts.keyed or not len(facts.files):
        return
    target = target_file_bytes(facts.options, has_primary_key=False)
    limit = target * facts.options.value(COMPACTION_SMALL_FILE_RATIO)
    threshold = facts.options.value(COMPACTION_MIN_FILE_NUM)
    is_blob = facts.is_blob
    small = np.flatnonzero((numbers(facts.files.table, "file_size") < limit) & ~is_blob)
    places = np.stack([facts.partitions.codes, numbers(facts.files.table, "bucket")])[:, small]
    (codes, buckets), counts = np.unique(places, axis=1, return_counts=True)
    tests = {"size": f"< {int(limit)}", **({"file": "NOT LIKE '%.blob'"} if is_blob.any() else {})}
    for at in np.argsort(-counts, kind="stable")[:_MAX_FINDINGS_PER_RULE].tolist():
        if counts[at] <= threshold:
            return
        name = text = facts.partitions.texts[codes[at]]
        if facts.options.value(BUCKET) > 0:
            text = bucket_text(name, buckets[at])
            tests["bucket"] = f"= {buckets[at]}"
        yield replace(
            _RULE["small files"],
            what=f"{text or 'the table'} has {counts[at]:,} files below {bytes_text(limit)}",
            figure=float(counts[at]),
            threshold=threshold,
            option=COMPACTION_MIN_FILE_NUM.key,
            evidence=facts.condition(name, **tests),
        )


def bucket_skew(facts: TableFacts) -> Iterator[Finding]:
    """Find partitions in which one bucket is much larger than the others."""
    by_partition: dict[str, list[BucketSummary]] = {}
    for one in facts.buckets:
        by_partition.setdefault(one.partition, []).append(one)
    found = []
    for sums in by_partition.values():
        rows = sum(one.rows for one in sums)
        largest = max(sums, key=lambda one: one.rows)
        mean = rows / len(sums)
        if len(sums) > 1 and rows >= _MIN_ROWS and largest.rows > _SKEW * mean:
            found.append((largest.rows / mean, largest, rows))
    for factor, one, rows in sorted(found, key=lambda f: -f[0])[:_MAX_FINDINGS_PER_RULE]:
        yield replace(
            _RULE["bucket skew"],
            what=f"{one.text} contains {one.rows / rows:.0%} of the rows of its partition",
            figure=factor,
            threshold=_SKEW,
            option="bucket-key" if facts.options.value(BUCKET) > 0 else "",
            evidence=facts.condition(one.partition, bucket=f"= {one.bucket}"),
            unit=_times,
        )


def partition_skew(facts: TableFacts) -> Iterator[Finding]:
    """Find a partition that is much larger than the median partition."""
    texts = facts.partitions.texts
    if len(texts) < 5:  # noqa: PLR2004 - the median of few partitions says little
        return
    rows = np.bincount(
        facts.partitions.codes,
        weights=numbers(facts.files.table, "row_count"),
        minlength=len(texts),
    )
    median_rows = float(median(rows.tolist()))
    largest = int(rows.argmax())
    if rows.sum() >= _MIN_ROWS and median_rows and rows[largest] > _PARTITION_SKEW * median_rows:
        yield replace(
            _RULE["partition skew"],
            what=f"{texts[largest]} has {plural(int(rows[largest]), 'row')}; "
            f"the median partition has {plural(round(median_rows), 'row')}",
            figure=float(rows[largest]) / median_rows,
            threshold=_PARTITION_SKEW,
            evidence=facts.condition(texts[largest]),
            unit=_times,
        )


def manifest_size(facts: TableFacts) -> Iterator[Finding]:
    """Find too many manifests, or manifests that are large for the number of live files."""
    count, files = len(facts.manifests), len(facts.files)
    threshold = facts.options.value(MANIFEST_MERGE_MIN_COUNT)
    number = facts.inspector.snapshot_id
    if count > threshold:
        yield replace(
            _RULE["many manifests"],
            what=f"every read opens {count:,} manifests",
            figure=count,
            threshold=threshold,
            option=MANIFEST_MERGE_MIN_COUNT.key,
            evidence=f"snapshot:{number}",
        )
    each = facts.manifests.total_size / files if files else 0
    if count > _MIN_MANIFESTS and each > _MANIFEST_BYTES_PER_FILE:
        yield replace(
            _RULE["manifest bytes per file"],
            what=f"{bytes_text(facts.manifests.total_size)} of manifests for {files:,} live files",
            figure=each,
            threshold=_MANIFEST_BYTES_PER_FILE,
            evidence=f"snapshot:{number}",
            unit=bytes_text,
        )


def delete_entries(facts: TableFacts) -> Iterator[Finding]:
    """Find a large share of DELETE entries, which every scan reads and cancels."""
    deleted = int(numbers(facts.manifests.table, "num_deleted_files").sum())
    entries = deleted + int(numbers(facts.manifests.table, "num_added_files").sum())
    if entries >= _MIN_ENTRIES and deleted > _DELETE_SHARE * entries:
        size = facts.options.value(MANIFEST_FULL_COMPACTION_THRESHOLD_SIZE)
        yield replace(
            _RULE["DELETE entries"],
            what=f"{deleted:,} of {entries:,} manifest entries are deletions",
            figure=deleted / entries,
            threshold=_DELETE_SHARE,
            option=MANIFEST_FULL_COMPACTION_THRESHOLD_SIZE.key,
            advice=_RULE["DELETE entries"].advice.format(bytes_text(size)),
            evidence=f"snapshot:{facts.inspector.snapshot_id}",
            unit=_percent,
        )


def deleted_rows(facts: TableFacts) -> Iterator[Finding]:
    """Find a large share of rows that deletion vectors mark as deleted."""
    view, snapshot = facts.inspector.view, facts.snapshot
    if snapshot is None or view.schema is None or snapshot.index_manifest is None:
        return
    found = deletion_files(view.store, snapshot, view.schema, view.options)
    vectors = [vector for files in found.values() for vector in files.values()]
    gone = sum(vector.cardinality or 0 for vector in vectors)
    rows = facts.files.total_rows
    threshold = facts.options.value(COMPACTION_DELETE_RATIO_THRESHOLD)
    if rows and gone > threshold * rows:
        yield replace(
            _RULE["deleted rows"],
            what=f"{gone:,} of {rows:,} stored rows are deleted by "
            f"{plural(len(vectors), 'deletion vector')}",
            figure=gone / rows,
            threshold=threshold,
            option=COMPACTION_DELETE_RATIO_THRESHOLD.key,
            evidence="lsm:",
            unit=_percent,
        )


def stale_hints(facts: TableFacts) -> Iterator[Finding]:
    """Find EARLIEST and LATEST hints that name the wrong snapshot."""
    timeline = facts.inspector.timeline()
    ids = [mark.snapshot_id for mark in timeline.marks if not mark.expired]
    if not ids:
        return
    right = {"EARLIEST": ids[0], "LATEST": ids[-1]}
    for flag in timeline.flags:
        if flag.kind is FlagKind.HINT and flag.snapshot_id != right[flag.name]:
            yield replace(
                _RULE["stale hint"],
                what=f"hint {flag.name} contains {flag.snapshot_id}, but the "
                f"{flag.name.lower()} snapshot is {right[flag.name]}",
                figure=flag.snapshot_id,
                threshold=right[flag.name],
                evidence=f"snapshot:{right[flag.name]}",
            )


def missing_files(facts: TableFacts) -> Iterator[Finding]:
    """Find live data files that do not exist in storage."""
    view = facts.inspector.view
    if view.schema is None or not 0 < len(facts.files) <= MAX_CHECKED_FILES:
        return
    paths = data_file_paths(facts.files, view.schema, view.options, view.store.paths)
    expected = [str(path) for path in as_python(paths)]
    existing: set[str] = set()
    for folder in sorted({parent(path) for path in expected}):
        with suppress(MissingFileError):
            existing |= {status.path for status in view.store.file_io.list(folder)}
    gone = [path for path in expected if path not in existing]
    if gone:
        name = gone[0].rpartition("/")[2]
        yield replace(
            _RULE["missing files"],
            what=f"{plural(len(gone), 'live data file')} "
            f"{'is' if len(gone) == 1 else 'are'} missing from storage, for example {name}",
            figure=len(gone),
            evidence=f"file:{name}",
        )


def consumers(facts: TableFacts) -> Iterator[Finding]:
    """Find consumers whose next snapshot has expired, and consumers that lag."""
    timeline, view = facts.inspector.timeline(), facts.inspector.view
    ids = [mark.snapshot_id for mark in timeline.marks if not mark.expired]
    logs = view.store.changelogs.earliest_id()
    if not ids:
        return
    expiration = facts.options.value(CONSUMER_EXPIRATION_TIME)
    for flag in timeline.flags:
        if flag.kind is not FlagKind.CONSUMER:
            continue
        earliest = ids[0] if logs is None else min(ids[0], logs)
        lag = ids[-1] + 1 - flag.snapshot_id
        if flag.snapshot_id < earliest:
            yield replace(
                _RULE["expired consumer"],
                what=f"consumer {flag.name} needs snapshot {flag.snapshot_id}, which has "
                f"expired; the earliest snapshot is {earliest}",
                figure=flag.snapshot_id,
                threshold=earliest,
                evidence=f"snapshot:{ids[0]}",
            )
        elif lag > _CONSUMER_LAG:
            age = facts.now_ms - view.store.consumers.modified_ms(flag.name)
            hours = f"{age // 3_600_000:,} h"
            note = "" if expiration else f", and {CONSUMER_EXPIRATION_TIME.key} is not set"
            yield replace(
                _RULE["consumer lag"],
                what=f"consumer {flag.name} lags by {lag:,} snapshots; "
                f"last progress {hours} ago{note}",
                figure=lag,
                threshold=_CONSUMER_LAG,
                option=CONSUMER_EXPIRATION_TIME.key,
                evidence=f"snapshot:{flag.snapshot_id}",
            )


def tags_hold(facts: TableFacts) -> Iterator[Finding]:
    """Find tags that keep a large share of data files that no snapshot needs."""
    live = facts.files.total_size
    for flag, rows, size in tag_only_files(facts.inspector, frozenset()):
        if live and size > _TAG_SHARE * live:
            yield replace(
                _RULE["tag retains space"],
                what=f"tag {flag.name} keeps {bytes_text(size)} in {plural(rows, 'file')} that no "
                "snapshot needs",
                figure=size / live,
                threshold=_TAG_SHARE,
                option="tag.default-time-retained",
                advice=_RULE["tag retains space"].advice.format(bytes_text(live)),
                evidence=f"snapshot:{flag.snapshot_id}",
                unit=_percent,
            )


def missing_statistics(facts: TableFacts) -> Iterator[Finding]:
    """Find files without value statistics, which no predicate can prune."""
    waits = numbers(facts.files.table, "bucket") == POSTPONE_BUCKET
    files = facts.files.filter(~facts.is_blob & ~waits)
    columns = [column(files.table, "value_null_counts")]
    lengths = as_python(pc.call_function("list_value_length", columns))
    count = sum(not length for length in lengths)
    if count:
        yield replace(
            _RULE["no value statistics"],
            what=f"{count_text(count)} of {len(files):,} files have no value "
            "statistics; predicates cannot prune them",
            figure=count / len(files),
            option=METADATA_STATS_MODE.key,
            evidence="filter:",
            unit=_percent,
        )


def overdue_expiry(facts: TableFacts) -> Iterator[Finding]:
    """Find snapshots that may expire under the retention options but still exist."""
    timeline, store = facts.inspector.timeline(), facts.inspector.view.store
    ids = last_run(facts.snapshot_ids)
    times = {m.snapshot_id: m.snapshot.time_millis for m in timeline.marks if m.snapshot}
    retention = snapshot_retention(facts.options, lambda: facts.now_ms)
    retention = replace(retention, limit=len(ids) + 1)  # of all calls, not of one
    kept = kept_from(store, facts.options, ids)
    gone = expiring_ids(ids, lambda i: times.get(i, 0), retention, kept)
    if len(gone) > _OVERDUE:
        by_count = retention.retain_max < len(ids)
        yield replace(
            _RULE["overdue expiry"],
            what=f"{len(gone):,} of {len(ids):,} snapshots exceed the retention options "
            "but have not expired",
            figure=len(gone),
            threshold=_OVERDUE,
            option=(SNAPSHOT_NUM_RETAINED_MAX if by_count else SNAPSHOT_TIME_RETAINED).key,
            evidence="expiry:",
        )


def iceberg_metadata(facts: TableFacts) -> Iterator[Finding]:
    """Find Iceberg metadata of an older snapshot than the latest one."""
    store = facts.inspector.view.store
    is_exported = has_iceberg_metadata(facts.options) and store.paths.branch == MAIN_BRANCH
    if not is_exported or facts.snapshot is None:
        return
    folder = iceberg_folder(store.paths.root, facts.options)
    newest = MetadataFolder(store.file_io, folder).hint()
    lag = (store.snapshots.latest_id() or 0) - (newest or 0)
    if not lag:
        return
    state = "does not exist" if newest is None else f"is at snapshot {newest}"
    yield replace(
        _RULE["iceberg metadata"],
        what=f"the Iceberg metadata {state}, the table is at snapshot {facts.snapshot.id}: "
        f"Iceberg readers return other rows ({folder})",
        figure=abs(lag),
        option=ICEBERG_STORAGE.key,
        evidence=f"snapshot:{facts.snapshot.id}",
    )


def stray_snapshots(facts: TableFacts) -> Iterator[Finding]:
    """Find snapshot files that follow a gap in the ids after the latest snapshot."""
    known = facts.snapshot_ids
    if strays := facts.snapshot_files[len(known) :]:
        yield replace(
            _RULE["stray snapshot"],
            what=f"snapshot-{strays[0]} exists, but snapshot-{known[-1] + 1} is missing: "
            f"readers see no snapshot after {known[-1]}",
            figure=strays[0],
            threshold=known[-1],
            advice=_RULE["stray snapshot"].advice.format(f"snapshot-{strays[0]}"),
        )


RULES: tuple[Callable[[TableFacts], Iterator[Finding]], ...] = (
    unreadable,
    missing_metadata,
    missing_files,
    sorted_runs,
    small_files,
    deleted_rows,
    consumers,
    manifest_size,
    delete_entries,
    missing_statistics,
    stale_hints,
    stray_snapshots,
    tags_hold,
    overdue_expiry,
    bucket_skew,
    partition_skew,
    iceberg_metadata,
)
