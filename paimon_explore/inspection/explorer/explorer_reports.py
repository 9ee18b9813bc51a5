"""The sheets of the explorer: what each view asks, in one line of text, and the result.

What a view is asked stands in its one field: a condition for Explain, a key for Key, and so on. The
words that a person types are kept in the widget's trait `asked`, and the line of Python beside them
asks the table the same.
"""

import re
from collections.abc import Callable, Mapping, Sequence

import pyarrow as pa

from paimon_explore.errors import InvalidInputError, NotFoundError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.explain.commit_replay import replay_commit
from paimon_explore.inspection.explain.expiry_preview import expiry_preview, parse_retention
from paimon_explore.inspection.explain.file_explanation import explain_file
from paimon_explore.inspection.explain.key_history import key_history
from paimon_explore.inspection.explain.scan_explanation import ExplainRequest, explain_scan
from paimon_explore.inspection.health.health_report import table_health
from paimon_explore.inspection.history.schema_history import schema_history
from paimon_explore.inspection.rendering.code_snippet import Code, call_code, read_code
from paimon_explore.inspection.rendering.report import Cell, Note, Sheet, grid
from paimon_explore.inspection.rendering.result import Result
from paimon_explore.inspection.views.inspector import Inspector
from paimon_explore.inspection.views.lsm_view import lsm_section
from paimon_explore.inspection.views.partition_heatmap import partition_heat
from paimon_explore.inspection.views.snapshot_diff_view import snapshot_diff
from paimon_explore.maintenance.expiry.snapshot_expiry import snapshot_retention
from paimon_explore.scan.predicate.binder import bind
from paimon_explore.scan.predicate.builder import col
from paimon_explore.scan.predicate.expression import TRUE
from paimon_explore.scan.predicate.sql_formatter import to_sql
from paimon_explore.scan.predicate.sql_parser import predicate

_LIMIT = re.compile(r"\s*\blimit\s+(\d{1,9})\s*$", re.IGNORECASE)
_BUCKET = re.compile(r",?\s*\bbucket\s*=?\s*(-?\d{1,9})\s*$", re.IGNORECASE)
_ROWS = re.compile(r",?\s*\brows\b\s*$", re.IGNORECASE)
_WHOLE = re.compile(r"-?\d{1,18}")
_SHOWN_ROWS = 100
_SUGGESTED = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a view is asked.

    Attributes:
        inspector: the table at the selected snapshot.
        text: what stands in the view's field.
        compare: the snapshot marked for comparison; 0 for none.
        file: name of the chosen file; empty for none.
        now_ms: the present, epoch milliseconds.
    """

    inspector: Inspector
    text: str
    compare: int = 0
    file: str = ""
    now_ms: int = 0

    @property
    def at(self) -> str:
        """The selected snapshot in Python."""
        return self.inspector.code

    @property
    def options(self) -> dict[str, object]:
        """The selected snapshot as options of a Spark read."""
        number = self.inspector.snapshot_id
        return {"scan.snapshot-id": number} if number and not self.inspector.is_newest else {}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Hint(Result):
    """What a view can be asked, while it was asked nothing.

    Attributes:
        pane: the view.
        title: what it answers.
        how: how to ask it.
        examples: questions that can be chosen.
    """

    pane: str
    title: str
    how: str
    examples: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        """Its name in the explorer."""
        return self.pane

    def to_arrow(self) -> pa.Table:
        """The examples."""
        return pa.table({"example": pa.array(self.examples, pa.string())})

    def figures(self) -> dict[str, object]:
        """The examples."""
        return {"examples": list(self.examples)}

    def sheet(self) -> Sheet:
        """How to ask, and examples."""
        note = Note(text=self.how)
        if not self.examples:
            return Sheet(title=self.title, sections=(note,))
        rows = [[Cell(text=one, selects=f"ask:{one}")] for one in self.examples]
        return Sheet(title=self.title, sections=(note, grid("For example", ("",), rows)))


def _diff(asked: Asked) -> Result:
    inspector = asked.inspector
    text, wants_rows = _taken(_ROWS, asked.text)
    after = inspector.snapshot
    if text.strip():
        before = inspector.point(text)
    elif asked.compare and asked.compare != inspector.snapshot_id:
        before = inspector.point(asked.compare)
    else:
        before = inspector.before(after)
    rows = _SHOWN_ROWS if wants_rows is not None else 0
    return snapshot_diff(inspector.view, before, after, rows=rows)


def _explain(asked: Asked) -> Result:
    inspector = asked.inspector
    view = inspector.view
    target = view.target(inspector.snapshot, travelled=not inspector.is_newest)
    text, limit = _taken(_LIMIT, asked.text)
    where = text.strip()
    bound = bind(predicate(where), target.schema.row_type) if where else TRUE
    most = None if limit is None else int(limit)
    then = f".where({where!r}).explain()" if where else ".explain()"
    request = ExplainRequest(
        where=bound,
        columns=target.schema.row_type.names,
        limit=most,
        code=Code(
            python=call_code(f"{asked.at}.explain", where=where or None, limit=most),
            spark=read_code(view.location, asked.options, then),
        ),
        screen=view.screen,
    )
    return explain_scan(target, request, view.name)


def _lsm(asked: Asked) -> Result:
    inspector = asked.inspector
    text, bucket = _taken(_BUCKET, asked.text)
    number = None if bucket is None else int(bucket)
    snapshot = inspector.snapshot
    try:
        return lsm_section(inspector.view, snapshot, text.strip() or None, number, at=asked.at)
    except NotFoundError:
        found = lsm_section(inspector.view, snapshot, at=asked.at)
        return Hint(
            pane="lsm",
            title=f"There is no {asked.text} at snapshot {inspector.snapshot_id}.",
            how="The bucket has no file there.",
            examples=tuple(one.words for one in found.buckets[:_SUGGESTED]),
            code=found.code,
        )


def _why(asked: Asked) -> Result:
    name = asked.text.strip() or asked.file
    if name:
        return explain_file(asked.inspector, name, asked.now_ms)
    snapshot = asked.inspector.snapshot
    names: list[str] = []
    if snapshot is not None:
        files = asked.inspector.files().table.column("file_name")
        names = [str(one) for one in files.slice(0, _SUGGESTED).to_pylist()]
        names += [snapshot.base_manifest_list, snapshot.delta_manifest_list]
    return Hint(
        pane="why",
        title="Why is this file here?",
        how="Choose a file in the tree or under Files, or type the name of any file of the table.",
        examples=tuple(names),
        code=Code(python=f"{asked.inspector.view.expression}.why('data-…')"),
    )


def _key(asked: Asked) -> Result:
    inspector = asked.inspector
    keys = [field.name for field in inspector.keys]
    if asked.text.strip():
        return key_history(inspector, asked.text)
    expression = f"{asked.at}.history"
    if not keys:
        return Hint(
            pane="key",
            title="The history of a key",
            how="This table has no primary key, so its rows have no history by key.",
            code=Code(python=expression),
        )
    examples = tuple(_some_keys(inspector, keys))
    return Hint(
        pane="key",
        title="The history of a key",
        how=f"Type a value of {', '.join(keys)}{', such as one of these' if examples else ''}.",
        examples=examples,
        code=Code(python=f"{expression}(…)"),
    )


def _some_keys(inspector: Inspector, keys: Sequence[str]) -> list[str]:
    """First keys of some files, as they can be asked for."""
    files = inspector.files().table.slice(0, _SUGGESTED).to_pylist()
    if len(keys) != 1:  # the texts of several columns cannot be told apart safely
        return []
    wanted = [col(keys[0]) == _value(str(row["min_key"])) for row in files]
    return list(dict.fromkeys(to_sql(term.expression) for term in wanted))


def _value(text: str) -> object:
    """A key's text as what it probably is: a whole number, else a text."""
    return int(text) if _WHOLE.fullmatch(text) else text


def _health(asked: Asked) -> Result:
    return table_health(asked.inspector, asked.now_ms)


def _schema(asked: Asked) -> Result:
    inspector = asked.inspector
    known = tuple(m.snapshot for m in inspector.timeline().marks if m.snapshot is not None)
    return schema_history(inspector.view, inspector.snapshot, known, at=inspector.code)


def _expiry(asked: Asked) -> Result:
    view = asked.inspector.view
    standing = snapshot_retention(view.options, lambda: asked.now_ms)
    retention = parse_retention(asked.text, standing, asked.now_ms)
    given = _words(asked.text)
    return expiry_preview(
        asked.inspector, retention, Code(python=f"{view.expression}.preview_expiry({given})")
    )


def _words(text: str) -> str:
    """The parts of a retention as arguments in Python."""
    parts = []
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        key, _, value = (piece.strip() for piece in part.partition("="))
        parts.append(f"{key}={value if value.isdecimal() else repr(value)}")
    return ", ".join(parts)


def _replay(asked: Asked) -> Result:
    snapshot = asked.inspector.snapshot
    if snapshot is None:
        return Hint(
            pane="replay", title="No snapshot, no commit to make again.", how="Choose a snapshot."
        )
    try:
        return replay_commit(asked.inspector.view, snapshot, asked.text.strip() or "alone")
    except NotFoundError as error:
        return Hint(pane="replay", title=error.message, how=error.hint)


SHEETS: Mapping[str, Callable[[Asked], Result]] = {
    "heat": lambda asked: partition_heat(asked.inspector),
    "lsm": _lsm,
    "diff": _diff,
    "explain": _explain,
    "key": _key,
    "why": _why,
    "health": _health,
    "schema": _schema,
    "expiry": _expiry,
    "replay": _replay,
}
"""The views that are sheets."""


def sheet_of(pane: str, asked: Asked) -> Result:
    """What a view shows.

    Raises:
        InvalidInputError: there is no such view, or the text cannot be understood.
        NotFoundError: what is asked for is not there.
        PaimonError: a file cannot be read.
    """
    if pane not in SHEETS:
        raise InvalidInputError(f"There is no view {pane[:40]!r}.")
    return SHEETS[pane](asked)


def _taken(pattern: re.Pattern[str], text: str) -> tuple[str, str | None]:
    """The text without what the pattern finds at its end, and that."""
    found = pattern.search(text)
    if found is None:
        return text, None
    return text[: found.start()], found.group(1) if found.groups() else ""
