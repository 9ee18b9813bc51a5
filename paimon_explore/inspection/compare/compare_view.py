"""The view Compare of the explorer: a form, and the comparison with another side."""

import re
from collections.abc import Mapping
from dataclasses import replace

from paimon_explore.errors import InvalidInputError, NotFoundError, PaimonError, choices
from paimon_explore.fileio.paths import join, parent
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.compare.table_comparison import TableComparison, table_comparison
from paimon_explore.inspection.compare.table_side import TableSide
from paimon_explore.inspection.overview.example_inputs import example_point
from paimon_explore.inspection.problem import problem_of
from paimon_explore.inspection.rendering.code_snippet import Code, call_code, point_code
from paimon_explore.inspection.rendering.form_view import FormView, parse_settings
from paimon_explore.inspection.rendering.report import Form, FormField
from paimon_explore.inspection.table_view import TableView
from paimon_explore.inspection.views.inspector import Inspector
from paimon_explore.metadata.options.table_options import (
    DATA_FILE_PATH_DIRECTORY,
    INDEX_FILE_IN_DATA_FILE_DIR,
    TableOptions,
)
from paimon_explore.metadata.table_paths import MAIN_BRANCH, TablePaths
from paimon_explore.store.table_store import TableStore

ACTION = "with"
_SETTINGS = ("table", "branch", "at", "rows")
_ROWS = ("auto", "no", "yes")
_SAMPLE = 20
_MAX_READ = 16 * 1024 * 1024
_PART = re.compile(r"[^./\\$\x00-\x1f]{1,200}")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CompareView(FormView):
    """A form with the comparison of the table with another side.

    Attributes:
        result: the comparison; None if there is none.
    """

    result: TableComparison | None = None
    kind = "compare"


def compare_view(inspector: Inspector, text: str) -> CompareView:
    """The view for an input such as `with branch = dev, rows = yes`.

    Without an input, the selected snapshot is compared with the one before it.

    Args:
        inspector: the table at the selected snapshot, side a.
        text: `table`, `branch`, `at` (snapshot id, tag or time) and `rows` of side b.

    Raises:
        InvalidInputError: the input is malformed.
    """
    given = parse_settings(text.strip().removeprefix(ACTION))
    unknown = [name for name in given if name not in _SETTINGS]
    if unknown:
        raise InvalidInputError(
            f"{unknown[0]!r} is not a setting of a comparison.",
            hint="Settings: table, branch, at, rows.",
        )
    view = inspector.view
    form = _form(view, given, example_point(inspector))
    a = TableSide(view=view, snapshot=inspector.snapshot, travelled=not inspector.is_newest)
    code = Code(python=f"pe.compare({inspector.code}, …)")
    found = CompareView(name=view.name, form=form, code=code)
    try:
        b, python = _other_side(inspector, given)
        rows = given.get("rows") or "auto"
        if rows not in _ROWS:
            raise InvalidInputError(f"rows = {rows[:40]!r} must be one of auto, no, yes.")
        comparison = table_comparison(
            a,
            b,
            sample=0 if rows == "no" else _SAMPLE,
            max_read=None if rows == "yes" else _MAX_READ,
            code=Code(python=python),
        )
    except PaimonError as error:
        return replace(found, problem=problem_of(error))
    note = "" if given else "No other side is given: b is the snapshot before."
    return replace(found, result=comparison, note=note, code=comparison.code)


def _other_side(inspector: Inspector, given: Mapping[str, str]) -> tuple[TableSide, str]:
    """Side b, and the Python code of the comparison."""
    view = inspector.view
    table, branch, at = (given.get(name, "") for name in ("table", "branch", "at"))
    extra = {"no": ", rows=0", "yes": ", max_read=None"}.get(given.get("rows", ""), "")
    other = other_view(view, table, branch)
    if other is view:
        before = inspector.before(inspector.snapshot)
        snapshot = inspector.point(at) if at else before
        at_b = 0 if snapshot is None else snapshot.id
        tag = inspector.timeline().only_tag(at_b)
        point = f", {point_code(view.expression, at_b, tag)}" if at_b else ""
        code = f"pe.compare({inspector.code}{point}{extra})"
        return TableSide(view=view, snapshot=snapshot, travelled=True), code
    found = Inspector(other)
    snapshot = found.point(at) if at else found.snapshot
    side = TableSide(view=other, snapshot=snapshot, travelled=bool(at))
    if table:
        opened = call_code("pe.open_table", other.location, branch=branch or None)
    else:
        opened = call_code("pe.open_table", view.location, branch=branch)
    point = f".at({at!r})" if at else ""
    return side, f"pe.compare({inspector.code}, {opened}{point}{extra})"


def _form(view: TableView, given: Mapping[str, str], point: str) -> Form:
    branches = tuple(dict.fromkeys([MAIN_BRANCH, *view.store.branches.names()]))
    own = not given.get("table")
    fields = (
        FormField(
            name="table",
            current=view.name,
            tooltip="Side b: another table of the same warehouse, as database.table.",
        ),
        FormField(
            name="branch",
            current=view.branch if own else MAIN_BRANCH,
            allowed=branches if own else (),
            tooltip="Branch of side b.",
        ),
        FormField(
            name="at",
            label="snapshot, tag or time",
            current="latest",
            tooltip="Snapshot of side b: its id, a tag or a time. Of the same table and branch, "
            "the default is the snapshot before the selected one.",
            example=point if own else "",
        ),
        FormField(
            name="rows",
            label="compare rows",
            current="auto",
            allowed=_ROWS,
            tooltip="auto: compare rows if at most 16 MiB of data files are read. no: compare only "
            "metadata. yes: compare rows of any size.",
        ),
    )
    return Form(
        title="Side b of the comparison",
        actions=((ACTION, "Compare with"),),
        action=ACTION,
        fields=tuple(replace(one, value=given.get(one.name, "")) for one in fields),
        submit="Compare",
    )


def other_view(view: TableView, table: str, branch: str) -> TableView:
    """Another branch or table for a view.

    Args:
        view: a table.
        table: `table` or `database.table` in the same warehouse; empty for the same table.
        branch: the branch; empty for the same branch of the same table, else the main branch.

    Raises:
        InvalidInputError: the name is not a table name, or the tables of the catalog are not in
            folders of one warehouse.
        NotFoundError: there is no such table or branch.
    """
    if not table:
        if branch in ("", view.branch):
            return view
        if branch != MAIN_BRANCH and branch not in view.store.branches.names():
            known = [MAIN_BRANCH, *view.store.branches.names()]
            raise NotFoundError("branch", branch, hint=f"Branches: {choices(known, limit=10)}.")
        base = view.name.partition("$branch_")[0]
        name = base if branch == MAIN_BRANCH else f"{base}$branch_{branch}"
        store = view.store.for_branch(branch)
        return replace(
            view, store=store, schema=store.schemas.latest(), name=name, dynamic_options={}
        )
    root, name = _sibling(view, table)
    store = TableStore(view.store.file_io, TablePaths(root, branch or MAIN_BRANCH))
    schema = store.schemas.latest()
    if schema is None:
        raise NotFoundError("table", f"{name}{f', branch {branch}' if branch else ''}", root)
    options = TableOptions(schema.options)
    located = TablePaths(
        root,
        branch or MAIN_BRANCH,
        data_directory=options.value(DATA_FILE_PATH_DIRECTORY) or "",
        index_in_data_directory=options.value(INDEX_FILE_IN_DATA_FILE_DIR),
    )
    return replace(
        view,
        store=TableStore(view.store.file_io, located),
        schema=schema,
        name=f"{name}$branch_{branch}" if branch and branch != MAIN_BRANCH else name,
        dynamic_options={},
    )


def _sibling(view: TableView, table: str) -> tuple[str, str]:
    """Folder and name of another table of the warehouse."""
    if view.store.environment is not None:
        raise InvalidInputError(
            "Only branches and snapshots of this table can be compared here, because its catalog "
            "is not a folder.",
            hint="Compare tables of this catalog in Python: pe.compare(a, b).",
        )
    parts = table.split(".")
    if not 1 <= len(parts) <= 2 or not all(_PART.fullmatch(part) for part in parts):  # noqa: PLR2004
        raise InvalidInputError(
            f"{table[:80]!r} is not a table name.",
            hint="Write database.table of the same warehouse; compare other tables in Python: "
            "pe.compare(a, b).",
        )
    folder = parent(view.location)
    if len(parts) == 1:
        return join(folder, table), f"{view.database}.{table}" if view.database else table
    return join(parent(folder), f"{parts[0]}.db", parts[1]), table
