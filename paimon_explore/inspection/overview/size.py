"""Sentences on how large a table is: files, rows, bytes, partitions, snapshots, time span."""

from collections import Counter
from collections.abc import Iterator

from paimon_explore.inspection.history.timeline import FlagKind, Timeline
from paimon_explore.inspection.overview.file_totals import FileTotals
from paimon_explore.inspection.overview.time_span import span_text
from paimon_explore.inspection.rendering.number_format import (
    bytes_text,
    plural,
    short_plural,
    time_text,
)
from paimon_explore.inspection.rendering.report import Cell, Sentence, sentence
from paimon_explore.inspection.views.inspector import Inspector
from paimon_explore.metadata.snapshot import Snapshot


def size_sentences(
    inspector: Inspector, snapshot: Snapshot, totals: FileTotals | None
) -> Iterator[Sentence]:
    """The size of a snapshot, and of the history.

    Args:
        inspector: the table at the snapshot.
        snapshot: the snapshot.
        totals: the totals of its files; None if they cannot be read.
    """
    if totals is not None:
        yield _files(inspector, snapshot, totals)
        if totals.level_0 and inspector.keys.fields:
            link = Cell(text=plural(totals.level_0, "file"), selects="filter:level = 0")
            verb = "is" if totals.level_0 == 1 else "are"
            yield sentence(link, f" {verb} in level 0 and not yet compacted.")
        size = bytes_text(totals.manifest_bytes)
        yield sentence(
            "A read opens ",
            Cell(text=plural(totals.manifests, "manifest"), selects="explain:"),
            f" ({size}) to find the files.",
        )
    yield from _history(inspector.timeline())


def _files(inspector: Inspector, snapshot: Snapshot, totals: FileTotals) -> Sentence:
    schema = inspector.view.schema
    if not totals.files:
        return sentence(
            f"Snapshot {snapshot.id} has no ", Cell(text="data files", selects="filter:"), "."
        )
    rows = totals.rows if totals.rows is not None else snapshot.total_record_count
    parts: list[Cell | str] = [
        f"Snapshot {snapshot.id} has ",
        Cell(text=plural(totals.files, "data file"), selects="filter:"),
    ]
    if rows is not None:
        parts.append(f" with {short_plural(rows, 'row')} before merging")
    if totals.bytes is not None:
        parts.append(f", {bytes_text(totals.bytes)}")
    if totals.partitions is not None and schema is not None and schema.partition_keys:
        parts += [", in ", Cell(text=plural(totals.partitions, "partition"), selects="partitions:")]
    if totals.buckets is not None and totals.buckets > 1:
        parts.append(f" and {plural(totals.buckets, 'bucket')}")
    return sentence(*parts, ".")


def _history(timeline: Timeline) -> Iterator[Sentence]:
    marks = [mark for mark in timeline.marks if mark.snapshot is not None]
    if not marks:
        return
    first, last = marks[0], marks[-1]
    times = [mark.snapshot.time_millis for mark in marks if mark.snapshot]
    verb = "is" if len(timeline.marks) == 1 else "are"
    yield sentence(
        f"{plural(len(timeline.marks), 'snapshot')} {verb} kept: ",
        Cell(text=str(first.snapshot_id), selects=f"snapshot:{first.snapshot_id}"),
        f" ({_minute(times[0])}) to ",
        Cell(text=str(last.snapshot_id), selects=f"snapshot:{last.snapshot_id}"),
        f" ({_minute(times[-1])}), over {span_text(times[-1] - times[0])}.",
    )
    counts = Counter(flag.kind for flag in timeline.flags)
    kinds = ((FlagKind.TAG, "tag"), (FlagKind.BRANCH, "branch"), (FlagKind.CONSUMER, "consumer"))
    shown = [_counted(counts[kind], noun) for kind, noun in kinds if counts[kind]]
    if shown:
        verb = "refers" if sum(counts[kind] for kind, _ in kinds) == 1 else "refer"
        yield sentence(Cell(text=", ".join(shown), selects="expiry:"), f" {verb} to snapshots.")


def _minute(millis: int) -> str:
    return f"{time_text(millis)[:16]} UTC"


def _counted(count: int, noun: str) -> str:
    return f"{count:,} branches" if noun == "branch" and count > 1 else plural(count, noun)
