"""The report views of the explorer: parse the input of a view and compute its result.

Each view has one input field: a condition for Explain, a key for Key, and so on. The inputs are
kept in the trait `asked` of the widget; the code line shows the equivalent Python.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

import pyarrow as pa

from paimon_explore.errors import InvalidInputError, NotFoundError, choices
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.compare.compare_view import compare_view
from paimon_explore.inspection.explain.commit_replay import replay_commit
from paimon_explore.inspection.explain.expiry_preview import (
    expiry_of_settings,
    retention_settings,
)
from paimon_explore.inspection.explain.file_explanation import explain_file
from paimon_explore.inspection.explain.key_history import key_history
from paimon_explore.inspection.explain.scan_explanation import (
    ExplainRequest,
    explain_code,
    explain_scan,
)
from paimon_explore.inspection.health.health_facts import MAX_CHECKED_FILES
from paimon_explore.inspection.health.health_report import Health, table_health
from paimon_explore.inspection.overview.example_inputs import example_keys
from paimon_explore.inspection.overview.overview_report import table_overview
from paimon_explore.inspection.problem import Problem, attempt
from paimon_explore.inspection.profile.profile_session import snapshot_profile
from paimon_explore.inspection.rendering.code_snippet import Code
from paimon_explore.inspection.rendering.report import Cell, Failed, Note, Report, Section, grid
from paimon_explore.inspection.rendering.result import Result
from paimon_explore.inspection.views.inspector import Inspector
from paimon_explore.inspection.views.lsm_tree_view import lsm_section
from paimon_explore.inspection.views.partition_heatmap import partition_heat
from paimon_explore.inspection.views.schema_history import schema_history
from paimon_explore.inspection.views.snapshot_diff_view import snapshot_diff
from paimon_explore.inspection.what_if.what_if_view import what_if_view
from paimon_explore.scan.predicate.binder import bind
from paimon_explore.scan.predicate.expression import TRUE
from paimon_explore.scan.predicate.sql_parser import predicate

_LIMIT = re.compile(r"\s*\blimit\s+(\d{1,9})\s*$", re.IGNORECASE)
_BUCKET = re.compile(r",?\s*\bbucket\s*=?\s*(-?\d{1,9})\s*$", re.IGNORECASE)
_ROWS = re.compile(r",?\s*\brows\b\s*$", re.IGNORECASE)
_SHOWN_ROWS = 100
_MAX_EXAMPLES = 12
QUICK = "quick"
"""Input of the overview that asks for what is known without reading manifests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportRequest:
    """The input of a report view.

    Attributes:
        inspector: the table at the selected snapshot.
        text: text of the input field.
        compare: id of the snapshot marked for comparison; 0 for none.
        file: name of the selected file; empty for none.
        now_ms: current time, epoch milliseconds.
        health: the findings, if the health rules have been evaluated.
    """

    inspector: Inspector
    text: str
    compare: int = 0
    file: str = ""
    now_ms: int = 0
    health: Health | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Hint(Result):
    """Shown by a view that needs an input: what to type, with examples.

    Attributes:
        pane: the view.
        title: the question that the view answers.
        how: what to type.
        examples: example inputs, which can be selected.
        problems: why there are no examples; none if they could be determined.
    """

    pane: str
    title: str
    how: str
    examples: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def kind(self) -> str:
        """Name of the view in the explorer."""
        return self.pane

    def to_arrow(self) -> pa.Table:
        """The example inputs."""
        return pa.table({"example": pa.array(self.examples, pa.string())})

    def figures(self) -> dict[str, object]:
        """The example inputs."""
        return {"examples": list(self.examples)}

    def to_report(self) -> Report:
        """The instructions and examples."""
        sections: list[Section] = [Note(text=self.how)]
        sections += [Failed(problem=problem) for problem in self.problems]
        if self.examples:
            rows = [[Cell(text=one, selects=f"ask:{one}")] for one in self.examples]
            sections.append(grid("Examples", ("input",), rows))
        return Report(title=self.title, sections=tuple(sections))


def _diff(request: ReportRequest) -> Result:
    inspector = request.inspector
    text, wants_rows = _split_suffix(_ROWS, request.text)
    after = inspector.snapshot
    if text.strip():
        before = inspector.point(text)
    elif request.compare and request.compare != inspector.snapshot_id:
        before = inspector.point(request.compare)
    else:
        before = inspector.before(after)
    rows = _SHOWN_ROWS if wants_rows is not None else 0
    return snapshot_diff(inspector.view, before, after, rows=rows)


def _explain(request: ReportRequest) -> Result:
    inspector = request.inspector
    view = inspector.view
    target = inspector.target
    text, limit = _split_suffix(_LIMIT, request.text)
    where = text.strip() or None
    max_rows = None if limit is None else int(limit)
    scan = ExplainRequest(
        where=bind(predicate(where), target.schema.row_type) if where else TRUE,
        columns=target.schema.row_type.names,
        limit=max_rows,
        code=explain_code(
            inspector.code, view.location, inspector.point_options, where=where, limit=max_rows
        ),
    )
    return explain_scan(target, scan, view.name)


def _lsm(request: ReportRequest) -> Result:
    inspector = request.inspector
    text, bucket = _split_suffix(_BUCKET, request.text)
    number = None if bucket is None else int(bucket)
    try:
        return lsm_section(inspector, text.strip() or None, number)
    except NotFoundError:
        found = lsm_section(inspector)
        return Hint(
            pane="lsm",
            title=f"{request.text} does not exist in snapshot {inspector.snapshot_id}.",
            how="The snapshot has no data files in this bucket. Select an existing one.",
            examples=tuple(one.text for one in found.buckets[:_MAX_EXAMPLES]),
            code=found.code,
        )


def _why(request: ReportRequest) -> Result:
    name = request.text.strip() or request.file
    if name:
        return explain_file(request.inspector, name, request.now_ms)
    snapshot = request.inspector.snapshot
    names: list[str] = []
    problems: list[Problem] = []
    if snapshot is not None:
        files = attempt(request.inspector.files, problems)
        if files is not None:
            column = files.table.column("file_name")
            names = [str(one) for one in column.slice(0, _MAX_EXAMPLES).to_pylist()]
        names += [snapshot.base_manifest_list, snapshot.delta_manifest_list]
    return Hint(
        pane="why",
        title="Why does this file exist?",
        how="Select a file in a view of the explorer, or type the name of any file of the table.",
        examples=tuple(names),
        problems=tuple(problems),
        code=Code(python=f"{request.inspector.view.expression}.inspect.why('data-…')"),
    )


def _key(request: ReportRequest) -> Result:
    inspector = request.inspector
    keys = [field.name for field in inspector.keys]
    if request.text.strip():
        return key_history(inspector, request.text)
    expression = f"{request.inspector.code}.history"
    hint = Hint(
        pane="key",
        title="History of a primary key",
        how="Not available: the table has no primary key.",
        code=Code(python=expression),
    )
    if not keys:
        return hint
    problems: list[Problem] = []
    examples = attempt(lambda: example_keys(inspector, _MAX_EXAMPLES), problems) or ()
    return replace(
        hint,
        how=f"Type a value for {', '.join(keys)}{' or select an example' if examples else ''}.",
        examples=examples,
        problems=tuple(problems),
        code=Code(python=f"{expression}(…)"),
    )


def _expiry(request: ReportRequest) -> Result:
    settings = retention_settings(request.text)
    return expiry_of_settings(request.inspector, settings, request.now_ms)


def _replay(request: ReportRequest) -> Result:
    snapshot = request.inspector.snapshot
    if snapshot is None:
        return Hint(
            pane="replay",
            title="The table has no snapshot to replay.",
            how="Write data to the table first.",
        )
    try:
        return replay_commit(request.inspector.view, snapshot, request.text.strip() or "alone")
    except NotFoundError as error:
        return Hint(pane="replay", title=error.message, how=error.hint)


REPORTS: Mapping[str, Callable[[ReportRequest], Result]] = {
    "overview": lambda request: table_overview(
        request.inspector,
        request.now_ms,
        quick=request.text.strip() == QUICK,
        health=request.health,
        max_files=MAX_CHECKED_FILES,
    ),
    "profile": lambda request: snapshot_profile(request.inspector, request.text),
    "heat": lambda request: partition_heat(request.inspector),
    "lsm": _lsm,
    "diff": _diff,
    "explain": _explain,
    "key": _key,
    "why": _why,
    "health": lambda request: table_health(request.inspector, request.now_ms),
    "schema": lambda request: schema_history(request.inspector),
    "expiry": _expiry,
    "compare": lambda request: compare_view(request.inspector, request.text),
    "what_if": lambda request: what_if_view(request.inspector, request.text, request.now_ms),
    "replay": _replay,
}
"""The report views by name."""


def view_result(pane: str, request: ReportRequest) -> Result:
    """Compute the result of a report view.

    Raises:
        InvalidInputError: the view does not exist, or the input is invalid.
        NotFoundError: the input names something that does not exist.
        PaimonError: a file cannot be read.
    """
    if pane not in REPORTS:
        raise InvalidInputError(
            f"The view {pane[:40]!r} has no result.",
            hint=f"Views with results: {choices(REPORTS)}.",
        )
    return REPORTS[pane](request)


def _split_suffix(pattern: re.Pattern[str], text: str) -> tuple[str, str | None]:
    """Split a trailing match of the pattern from the text."""
    found = pattern.search(text)
    if found is None:
        return text, None
    return text[: found.start()], found.group(1) if found.groups() else ""
