"""The overview of a table: sentences with links into the views of the explorer.

What is already known is told at once (`quick`): the schema, the snapshots, and the number of files.
Sizes, findings and examples follow when the manifests have been read.

Formats lengths of time in one unit.

Totals of the live files of one snapshot, from what has been read or from the manifest lists.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import median

import numpy as np
import pyarrow as pa

from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.health.findings import Finding
from paimon_explore.inspection.health.health_report import TONES, Health, table_health
from paimon_explore.inspection.history.timeline import FlagKind, Timeline
from paimon_explore.inspection.overview.definition import definition_sentences
from paimon_explore.inspection.overview.example_inputs import example_inputs, level_0
from paimon_explore.inspection.overview.questions import Question, questions
from paimon_explore.inspection.problem import Problem, attempt
from paimon_explore.inspection.rendering.code_snippet import Code, call_code
from paimon_explore.inspection.rendering.escape import truncate
from paimon_explore.inspection.rendering.number_format import (
    bytes_text,
    plural,
    short_plural,
    time_text,
)
from paimon_explore.inspection.rendering.report import (
    Cell,
    Entry,
    Failed,
    Report,
    Section,
    Sentence,
    Sentences,
    grid,
    sentence,
)
from paimon_explore.inspection.rendering.result import Result, rows_table
from paimon_explore.inspection.views.inspector import Inspector
from paimon_explore.metadata.options.table_options import BUCKET, DYNAMIC_BUCKET
from paimon_explore.metadata.snapshot import CommitKind, Snapshot
from paimon_explore.scan.manifest_arrays import numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class FileTotals:
    """Totals of the live files; None where the manifests have not been read.

    Attributes:
        files: number of files.
        bytes: total size.
        rows: stored rows before merging.
        partitions: number of partitions.
        buckets: number of buckets of all partitions.
        level_0: number of files in level 0.
        manifests: number of manifests that a read opens.
        manifest_bytes: total size of these manifests.
    """

    files: int
    bytes: int | None = None
    rows: int | None = None
    partitions: int | None = None
    buckets: int | None = None
    level_0: int | None = None
    manifests: int
    manifest_bytes: int


def file_totals(inspector: Inspector, *, quick: bool) -> FileTotals | None:
    """The totals of a snapshot; None without snapshots.

    Args:
        inspector: the table at the snapshot.
        quick: only count files if the manifests have not been read.

    Raises:
        PaimonError: a manifest list or a manifest cannot be read.
    """
    snapshot = inspector.snapshot
    if snapshot is None:
        return None
    manifests = inspector.view.store.manifests.all(snapshot)
    totals = FileTotals(
        files=manifests.total("num_added_files") - manifests.total("num_deleted_files"),
        manifests=len(manifests),
        manifest_bytes=manifests.total_size,
    )
    known = inspector.known_files()
    if known is None and quick:
        return totals
    lifetimes = inspector.current_files() if known is None else known
    rows = lifetimes.live_at(inspector.timeline().position_of(snapshot.id))
    files, codes = lifetimes.files, lifetimes.partitions.codes[rows]
    levels, buckets = (numbers(files, name)[rows] for name in ("level", "bucket"))
    return replace(
        totals,
        files=len(rows),
        bytes=int(numbers(files, "file_size")[rows].sum()),
        rows=int(numbers(files, "row_count")[rows].sum()),
        partitions=len(np.unique(codes)),
        buckets=np.unique(np.stack([codes, buckets]), axis=1).shape[1] if len(rows) else 0,
        level_0=int((levels == 0).sum()),
    )


_MAX_FINDINGS = 8

SENTENCES = pa.schema((pa.field("topic", pa.string()), pa.field("sentence", pa.string())))
"""One row per sentence, in order; `topic` is the heading."""
_MAX_NAME = 40


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Overview(Result):
    """What a table is, how large, how it is written, what is wrong, and what to ask next.

    Attributes:
        name: the table.
        snapshot_id: the described snapshot; 0 for a table without snapshots.
        topics: headings with their sentences.
        questions: questions with the views that answer them.
        totals: totals of the live files; None if they are unknown.
        health: the findings; None if the health rules have not been evaluated.
        problems: errors of metadata that cannot be read.
        quick: whether more follows when the manifests have been read.
    """

    name: str
    snapshot_id: int
    topics: tuple[Sentences, ...]
    questions: tuple[Question, ...]
    totals: FileTotals | None
    health: Health | None
    problems: tuple[Problem, ...]
    quick: bool = False
    kind = "overview"

    def to_arrow(self) -> pa.Table:
        """The sentences as `SENTENCES`."""
        rows = ((topic.title, text) for topic in self.topics for text in topic.texts)
        return rows_table(rows, SENTENCES)

    def figures(self) -> dict[str, object]:
        """The totals of the files, and the number of findings if known."""
        totals = self.totals
        return {
            "snapshot": self.snapshot_id,
            "files": None if totals is None else totals.files,
            "bytes": None if totals is None else totals.bytes,
            "partitions": None if totals is None else totals.partitions,
            "findings": None if self.health is None else len(self.health),
            "quick": self.quick,
        }

    def to_report(self) -> Report:
        """The sentences by topic, then the questions."""
        title = f"{self.name} at snapshot {self.snapshot_id}" if self.snapshot_id else self.name
        return Report(title=title, sections=tuple(self._sections()))

    def description(self) -> tuple[Section, ...]:
        """The problems and the sentences by topic, without the questions."""
        return (*(Failed(problem=problem) for problem in self.problems), *self.topics)

    def _sections(self) -> Iterator[Section]:
        yield from self.description()
        if self.questions:
            rows: list[list[Entry]] = [
                [Cell(text=q.text, selects=q.selects), q.code] for q in self.questions
            ]
            yield grid("Questions", ("question", "in Python"), rows)


def table_overview(
    inspector: Inspector,
    now_ms: int,
    *,
    quick: bool = False,
    health: Health | None = None,
    max_files: int | None = None,
) -> Overview:
    """Describe a table at a snapshot.

    Args:
        inspector: the table at the snapshot.
        now_ms: current time, epoch milliseconds.
        quick: read no manifests and evaluate no health rules.
        health: the findings, if they are known.
        max_files: larger tables are not checked; None to check any.
    """
    problems = list(inspector.timeline().problems[:5])
    totals = attempt(lambda: file_totals(inspector, quick=quick), problems)
    is_checked = totals is not None and (max_files is None or totals.files <= max_files)
    if health is None and is_checked and not quick:
        health = table_health(inspector, now_ms)
    topics = [
        ("What this table is", list(definition_sentences(inspector.view))),
        ("How large it is", attempt(lambda: [*size_sentences(inspector, totals)], problems)),
        ("How it is written", attempt(lambda: [*commit_sentences(inspector, now_ms)], problems)),
        ("What is wrong", list(_findings(health, totals, quick=quick))),
    ]
    asked = attempt(
        lambda: tuple(questions(inspector, example_inputs(inspector), now_ms)), problems
    )
    view = inspector.view
    return Overview(
        name=view.name,
        snapshot_id=inspector.snapshot_id,
        topics=tuple(
            Sentences(title=title, items=tuple(found)) for title, found in topics if found
        ),
        questions=asked or (),
        totals=totals,
        health=health,
        problems=tuple(dict.fromkeys(problems)),
        quick=quick,
        code=Code(python=call_code(f"{inspector.code}.inspect.overview")),
    )


def _findings(
    health: Health | None, totals: FileTotals | None, *, quick: bool
) -> Iterable[Sentence]:
    if quick:
        yield sentence("The health rules are being evaluated …")
    elif health is None:
        if totals is not None:
            link = Cell(text="Health", selects="health:")
            text = f"Not checked, because the table has {plural(totals.files, 'file')}: open "
            yield sentence(text, link, " to check it.")
    elif not health.findings:
        yield sentence("Nothing: all ", Cell(text="health rules", selects="health:"), " passed.")
    else:
        yield from (_finding(one) for one in health.findings[:_MAX_FINDINGS])
        rest = len(health) - _MAX_FINDINGS
        if rest > 0:
            yield sentence(Cell(text=plural(rest, "more finding"), selects="health:"), ".")


def _finding(found: Finding) -> Sentence:
    option = f", set by {found.option}" if found.option else ""
    advice = found.advice[:1].upper() + found.advice[1:]
    return sentence(
        Cell(text=found.severity.value, tone=TONES[found.severity]),
        ": ",
        Cell(text=found.what, selects=found.evidence),
        f" (measured {found.shown}, threshold {found.shown_threshold}{option}). {advice}.",
    )


def commit_sentences(inspector: Inspector, now_ms: int) -> Iterator[Sentence]:
    """The commits up to the inspected snapshot.

    Args:
        inspector: the table at a snapshot.
        now_ms: current time, epoch milliseconds.
    """
    if not inspector.snapshot_id:
        return
    timeline = inspector.timeline()
    position = timeline.position_of(inspector.snapshot_id)
    commits = [mark.snapshot for mark in timeline.marks[: position + 1] if mark.snapshot]
    if not commits:
        return
    yield _kinds(commits)
    yield _interval(commits, now_ms)
    yield _compaction(commits, keyed=bool(inspector.keys.fields))


def _kinds(commits: Sequence[Snapshot]) -> Sentence:
    kinds = Counter(one.commit_kind for one in commits)
    users = Counter(one.commit_user for one in commits)
    counts = ", ".join(f"{kinds[kind]:,} {kind.value}" for kind in CommitKind if kinds[kind])
    name, most = users.most_common(1)[0]
    link = Cell(text=plural(len(commits), "kept commit"), selects="heat:")
    verb = "was" if len(commits) == 1 else "were"
    who = f"commit user {truncate(name, _MAX_NAME)}"
    if len(users) > 1:
        who = f"{len(users):,} commit users"
        if most > 1:
            who += f"; {truncate(name, _MAX_NAME)} made {most:,} of them"
    return sentence(link, f" ({counts}) {verb} made by {who}.")


def _interval(commits: Sequence[Snapshot], now_ms: int) -> Sentence:
    last = commits[-1]
    link = Cell(text=f"snapshot {last.id}", selects=f"snapshot:{last.id}")
    ago = f"{span_text(now_ms - last.time_millis)} ago"
    times = [one.time_millis for one in commits]
    gaps = [after - before for before, after in pairwise(times)]
    often = f"The median time between two commits is {span_text(median(gaps))}; t" if gaps else "T"
    return sentence(f"{often}he last one, ", link, f" ({last.commit_kind.value}), was {ago}.")


def _compaction(commits: Sequence[Snapshot], *, keyed: bool) -> Sentence:
    target = "lsm:" if keyed else "health:"
    found = [at for at, one in enumerate(commits) if one.commit_kind is CommitKind.COMPACT]
    if not found:
        link = Cell(text="compaction", selects=target)
        return sentence("None of the kept commits is a ", link, ".")
    last = commits[found[-1]]
    link = Cell(text="last compaction", selects=target)
    later = len(commits) - 1 - found[-1]
    since = f"{plural(later, 'commit')} followed it" if later else "no commit followed it"
    snapshot = Cell(text=f"snapshot {last.id}", selects=f"snapshot:{last.id}")
    return sentence("The ", link, " is ", snapshot, f"; {since}.")


def size_sentences(inspector: Inspector, totals: FileTotals | None) -> Iterator[Sentence]:
    """The size of a snapshot, and of the history.

    Args:
        inspector: the table at the snapshot.
        totals: the totals of its files; None if they cannot be read.
    """
    snapshot = inspector.snapshot
    if snapshot is None:
        yield sentence("The table has no snapshot yet: nothing has been written.")
        return
    if totals is not None:
        yield _files(inspector, snapshot, totals)
        schema = inspector.view.schema
        if totals.level_0 and schema is not None and inspector.keys.fields:
            selects = f"filter:{level_0(schema)}"
            link = Cell(text=plural(totals.level_0, "file"), selects=selects)
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
        parts.append(f" with {short_plural(rows, 'stored row')}")
    if totals.bytes is not None:
        parts.append(f", {bytes_text(totals.bytes)}")
    if schema is None or totals.partitions is None:
        return sentence(*parts, ".")
    if schema.partition_keys:
        parts += [", in ", Cell(text=plural(totals.partitions, "partition"), selects="partitions:")]
    has_buckets = schema.primary_keys or inspector.view.options.value(BUCKET) != DYNAMIC_BUCKET
    if has_buckets and totals.buckets is not None and totals.buckets > 1:
        before = " and " if schema.partition_keys else ", in "
        parts.append(f"{before}{plural(totals.buckets, 'bucket')}")
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
    shown = [plural(counts[kind], noun) for kind, noun in kinds if counts[kind]]
    if shown:
        verb = "refers" if sum(counts[kind] for kind, _ in kinds) == 1 else "refer"
        yield sentence(Cell(text=", ".join(shown), selects="expiry:"), f" {verb} to snapshots.")


def _minute(millis: int) -> str:
    return f"{time_text(millis)[:16]} UTC"


_UNITS = (("s", 1), ("min", 60), ("h", 3600), ("d", 86_400))
_LEAST = 2
"""A larger unit is used from this many of it."""


def span_text(millis: float) -> str:
    """Format a length of time.

    >>> span_text(1500), span_text(300_000), span_text(3 * 86_400_000)
    ('2 s', '5 min', '3 d')
    >>> span_text(120)
    '120 ms'
    """
    seconds = max(millis, 0) / 1000
    if seconds < 1:
        return f"{max(millis, 0):.0f} ms"
    unit, length = next(((u, n) for u, n in reversed(_UNITS) if seconds >= _LEAST * n), _UNITS[0])
    return f"{seconds / length:,.0f} {unit}"
