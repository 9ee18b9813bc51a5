"""The explorer as text: at most 25 lines, without control characters from data."""

from collections import Counter
from collections.abc import Iterator

from paimon_explore.errors import PaimonError
from paimon_explore.inspection.explorer.table_properties import table_chips
from paimon_explore.inspection.history.timeline import Flag, FlagKind, letter_of
from paimon_explore.inspection.rendering.escape import truncate
from paimon_explore.inspection.rendering.number_format import (
    bytes_text,
    count_text,
    plural,
    short_plural,
    time_text,
)
from paimon_explore.inspection.views.files_view import column_sum
from paimon_explore.inspection.views.inspector import Inspector
from paimon_explore.sanitize import sanitized

_LINE = 110
_LETTERS = 60
_MAX_PROBLEMS = 5


def explorer_text(inspector: Inspector) -> str:
    """The table, the snapshot, its files and the timeline as text."""
    return "\n".join(truncate(sanitized(line), _LINE) for line in _lines(inspector))


def _lines(inspector: Inspector) -> Iterator[str]:
    view = inspector.view
    branch = "" if view.branch == "main" else f"   branch {view.branch}"
    yield f"{view.short_name}  ({view.location}){branch}   {'   '.join(table_chips(view.schema))}"
    timeline = inspector.timeline()
    if not len(timeline):
        yield "no snapshot yet"
        return
    yield from _snapshot_lines(inspector)
    first, last = timeline.marks[0].snapshot_id, timeline.marks[-1].snapshot_id
    letters = "".join(letter_of(mark) for mark in timeline.marks[-_LETTERS:])
    yield f"snapshots {first} to {last}  {'…' if len(timeline) > _LETTERS else ''}{letters}"
    flags = [_flag_text(flag) for flag in timeline.flags]
    if flags:
        yield "   ".join(flags)
    for problem in timeline.problems[:_MAX_PROBLEMS]:
        yield f"{problem.kind}: {problem.message}"


def _snapshot_lines(inspector: Inspector) -> Iterator[str]:
    try:
        snapshot = inspector.timeline().snapshot(inspector.snapshot_id)
    except PaimonError as error:
        yield error.message
        return
    rows = count_text(snapshot.total_record_count)
    head = f"snapshot {snapshot.id} {snapshot.commit_kind.value} {time_text(snapshot.time_millis)}"
    yield f"{head}   schema {snapshot.schema_id}   stored rows: {rows}"
    try:
        files = inspector.files().table
    except PaimonError as error:
        yield f"The files cannot be listed. {error.message}"
        return
    size = column_sum(files, "file_size")
    count = short_plural(column_sum(files, "row_count"), "row")
    levels = sorted(Counter(files.column("level").to_pylist()).items())
    shown = "  ".join(f"L{level}: {plural(number, 'file')}" for level, number in levels)
    yield f"{plural(len(files), 'file')}  {bytes_text(size)}  {count}   {shown}".rstrip()


def _flag_text(flag: Flag) -> str:
    if flag.kind is FlagKind.HINT:
        return f"{flag.name} {flag.snapshot_id}"
    return f"{flag.kind.value} {truncate(flag.name, 30)}({flag.target_text})"
