"""Questions that people in trouble ask, each with the view and the input that answers it."""

from collections.abc import Iterator, Mapping

from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.rendering.code_snippet import call_code
from paimon_explore.inspection.rendering.number_format import time_text
from paimon_explore.inspection.views.inspector import Inspector
from paimon_explore.metadata.snapshot import CommitKind

_DAY_MS = 86_400_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question about a table.

    Attributes:
        text: the question.
        selects: the selection that answers it, as in `Cell.selects`.
        code: Python code that gives the same answer.
    """

    text: str
    selects: str
    code: str


def questions(inspector: Inspector, examples: Mapping[str, str], now_ms: int) -> Iterator[Question]:
    """The questions that apply to a table.

    Args:
        inspector: the table at a snapshot.
        examples: example inputs of the views, see `example_inputs`.
        now_ms: current time, epoch milliseconds.
    """
    if not inspector.snapshot_id:
        return
    at = inspector.code
    keyed = bool(inspector.keys.fields)
    where = examples.get("explain", "")
    explain = call_code(f"{at}.explain", where=where or None)
    yield Question(text="Why is my query slow?", selects="explain:", code=f"{at}.explain()")
    yield Question(text="Which files does my query read?", selects=f"explain:{where}", code=explain)
    yield _growth(inspector)
    yield _changes(inspector, now_ms)
    yield from _rows(inspector, examples, keyed=keyed)
    yield _file(inspector, examples)
    yield Question(
        text="Which partition is skewed?" if _partitioned(inspector) else "Is a bucket skewed?",
        selects="partitions:" if _partitioned(inspector) else "lsm:",
        code=f"{at}.partitions()" if _partitioned(inspector) else f"{at}.inspect.lsm()",
    )
    yield _compaction(inspector, keyed=keyed)
    yield Question(
        text="What will expiry remove?",
        selects="expiry:",
        code=f"{inspector.view.expression}.what_if.expire_snapshots()",
    )


def _compaction(inspector: Inspector, *, keyed: bool) -> Question:
    """The sorted runs of a primary-key table, or the last compaction of an append table."""
    text = "Is my table being compacted?"
    if keyed:
        return Question(text=text, selects="lsm:", code=f"{inspector.code}.inspect.lsm()")
    found = [
        mark.snapshot_id
        for mark in inspector.timeline().marks
        if mark.snapshot and mark.snapshot.commit_kind is CommitKind.COMPACT
    ]
    code = f"{inspector.view.expression}.inspect.timeline()"
    return Question(text=text, selects=f"snapshot:{found[-1]}" if found else "health:", code=code)


def _growth(inspector: Inspector) -> Question:
    first = inspector.timeline().marks[0].snapshot_id
    before = first if first != inspector.snapshot_id else 0
    code = call_code(f"{inspector.view.expression}.diff", before, inspector.snapshot_id)
    return Question(text="Why did my table grow?", selects=f"diff:{before}", code=code)


def _changes(inspector: Inspector, now_ms: int) -> Question:
    """Changes since yesterday, or of the last day with commits."""
    snapshot = inspector.snapshot
    last = now_ms if snapshot is None else snapshot.time_millis
    recent = last > now_ms - _DAY_MS
    moment = (now_ms if recent else last) - _DAY_MS
    times = [mark.snapshot.time_millis for mark in inspector.timeline().marks if mark.snapshot]
    known = bool(times) and times[0] <= moment
    point = time_text(moment, zone="+00:00") if known else "0"
    code = call_code(
        f"{inspector.view.expression}.diff", point if known else 0, inspector.snapshot_id
    )
    text = "What changed since yesterday?" if recent else "What changed on the last day of commits?"
    return Question(text=text, selects=f"diff:{point}", code=code)


def _rows(inspector: Inspector, examples: Mapping[str, str], *, keyed: bool) -> Iterator[Question]:
    """Questions about single rows: the history of a key, or the changed rows of a commit."""
    if keyed:
        key = examples.get("key", "")
        code = call_code(f"{inspector.code}.history", key or "…")
        yield Question(text="Who deleted this row?", selects=f"key:{key}", code=code)
        yield Question(text="Why do I not see my upsert?", selects=f"key:{key}", code=code)
        return
    before = inspector.before(inspector.snapshot)
    number = 0 if before is None else before.id
    code = call_code(f"{inspector.view.expression}.diff", number, inspector.snapshot_id, rows=100)
    yield Question(text="Who deleted this row?", selects=f"diff:{number}, rows", code=code)
    yield Question(text="Why do I not see my new rows?", selects=f"diff:{number}, rows", code=code)


def _file(inspector: Inspector, examples: Mapping[str, str]) -> Question:
    name = examples.get("why", "")
    return Question(
        text="Can I delete this file?",
        selects=f"why:{name}",
        code=call_code(f"{inspector.view.expression}.inspect.why", name or "data-…"),
    )


def _partitioned(inspector: Inspector) -> bool:
    schema = inspector.view.schema
    return schema is not None and bool(schema.partition_keys)
