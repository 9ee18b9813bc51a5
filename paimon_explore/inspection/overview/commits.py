"""Sentences on how a table is written: commit users, kinds, intervals, compactions."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import median

from paimon_explore.inspection.overview.time_span import span_text
from paimon_explore.inspection.rendering.escape import truncate
from paimon_explore.inspection.rendering.number_format import plural
from paimon_explore.inspection.rendering.report import Cell, Sentence, sentence
from paimon_explore.inspection.views.inspector import Inspector
from paimon_explore.metadata.snapshot import CommitKind, Snapshot

_MAX_NAME = 40


def commit_sentences(inspector: Inspector, now_ms: int) -> Iterator[Sentence]:
    """The commits up to the inspected snapshot.

    Args:
        inspector: the table at a snapshot.
        now_ms: current time, epoch milliseconds.
    """
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
        who = f"{len(users):,} commit users; {truncate(name, _MAX_NAME)} made {most:,} of them"
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
