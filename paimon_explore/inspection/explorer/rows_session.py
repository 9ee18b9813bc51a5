"""The row views that a front end has open, and the answers to its requests for rows."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import TypeAlias

import numpy as np

from paimon_explore.arguments import invalid_argument
from paimon_explore.data_types.arrow_buffers import Numbers
from paimon_explore.data_types.definitions import NUMBERS
from paimon_explore.data_types.formatter import type_text
from paimon_explore.data_types.traversal import is_root
from paimon_explore.errors import InvalidInputError, PaimonError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.byte_inspector.file_of_tree_node import node_path
from paimon_explore.inspection.problem import problem_of
from paimon_explore.inspection.rendering.cell_texts import cell_texts, table_texts
from paimon_explore.inspection.rendering.escape import CELL_LIMIT, truncate
from paimon_explore.inspection.rows.row_code import sql_codes
from paimon_explore.inspection.rows.row_sort import MAX_SORTED
from paimon_explore.inspection.rows.rows_view import RowsView
from paimon_explore.inspection.rows.table_rows import RowsArguments, table_rows
from paimon_explore.inspection.rows.unit_reader import RowPage
from paimon_explore.inspection.views.inspector import Inspector
from paimon_explore.metadata.options.table_options import MERGE_ENGINE

MAX_PAGE = 500
"""Maximum number of rows of an answer."""
MAX_COLUMNS = 64
"""Maximum number of columns of an answer."""
MAX_TEXT = 100_000
"""Maximum number of characters of a value that is shown in full."""
SORT_STEP = 500_000
"""Number of rows that are sorted before the front end is told about the progress."""
_OPEN_VIEWS = 3
_MAX_PARTS = 50
_ENTRY_DEPTH = 2
_MAX_PARTITIONS = 200

Body: TypeAlias = dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsInput:
    """What the Rows view shows, as the front end keeps it: JSON in `Explorer.asked["rows"]`.

    Attributes:
        where: SQL condition; empty for all rows.
        scope: `all`, `partition`, `bucket` or `file`.
        partition: of the scopes `partition` and `bucket`; empty for an unpartitioned table.
        bucket: of the scope `bucket`.
        file: of the scope `file`; empty for the selected file.
        merged: whether to merge records.
        sort: column to sort by; empty for none.
        descending: whether the greatest value is first.
        columns: names of the columns; empty for all.
    """

    where: str = ""
    scope: str = "all"
    partition: str = ""
    bucket: int = 0
    file: str = ""
    merged: bool = True
    sort: str = ""
    descending: bool = False
    columns: tuple[str, ...] = ()


_TYPES: Mapping[str, type] = {
    one.name: type(one.default) for one in fields(RowsInput) if one.name != "columns"
}
SCOPES = ("all", "partition", "bucket", "file")


def parse_input(text: str) -> RowsInput:
    """Parse the input of the Rows view.

    Raises:
        InvalidInputError: it is not JSON, or a member has another type.

    >>> parse_input('{"where": "k > 3"}').where
    'k > 3'
    """
    try:
        found = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError) as error:
        raise InvalidInputError("The input of the Rows view is not JSON.") from error
    if not isinstance(found, dict):
        raise InvalidInputError("The input of the Rows view is not a JSON object.")
    given = {name: found[name] for name in _TYPES if name in found}
    for name, value in given.items():
        kind = _TYPES[name]
        if type(value) is not kind:  # a bool is no number
            raise invalid_argument(f"{name!r} of the Rows view", value, f"of type {kind.__name__}")
    columns = found.get("columns", [])
    if not isinstance(columns, list) or not all(isinstance(one, str) for one in columns):
        raise InvalidInputError("'columns' of the Rows view must be a list of names.")
    made = RowsInput(**given, columns=tuple(columns))
    if made.scope not in SCOPES:
        raise InvalidInputError(f"'scope' of the Rows view must be one of {', '.join(SCOPES)}.")
    return made


def rows_of_input(inspector: Inspector, given: RowsInput, selected_file: str = "") -> RowsView:
    """The view that an input describes.

    Args:
        inspector: the table at the selected snapshot.
        given: the input.
        selected_file: the file that is selected in the explorer; empty for none.

    Raises:
        InvalidInputError: the input is invalid.
        NotFoundError: a partition, bucket or file does not exist.
        PaimonError: a manifest cannot be read.
    """
    file = (given.file or selected_file) if given.scope == "file" else ""
    if given.scope == "file" and not file:
        raise InvalidInputError(
            "No file is selected.", hint="Select a data file in the Files tab or the manifest tree."
        )
    has_partition = given.scope in ("partition", "bucket") and given.partition
    schema = inspector.view.schema
    keyed_file = bool(file and schema is not None and schema.primary_keys)
    arguments = RowsArguments(
        where=given.where.strip() or None,
        columns=given.columns or None,
        partition=given.partition if has_partition else None,
        bucket=given.bucket if given.scope == "bucket" else None,
        file=file or None,
        merged=False if keyed_file or not given.merged else None,
    )
    view = table_rows(inspector, arguments)
    return view.sort(given.sort, descending=given.descending) if given.sort else view


def file_of_tree_node(inspector: Inspector, node: str) -> str:
    """The name of the file of a path such as `7/delta/0/3`; empty for other paths.

    Raises:
        PaimonError: metadata that references the file cannot be read.
    """
    head, _, rest = node.partition("/")
    if not head.isdecimal() or rest.count("/") < _ENTRY_DEPTH:
        return ""
    return node_path(inspector.at(int(head)), rest).rpartition("/")[2]


class RowsSession:
    """The open row views, by handle."""

    def __init__(self) -> None:
        self._views: dict[int, RowsView] = {}
        self._next = 1

    def open(
        self, inspector: Inspector, text: str, selected_file: str = ""
    ) -> tuple[Body, dict[str, Numbers]]:
        """Open a view; returns what describes it, and its units as columns.

        Raises:
            PaimonError: see `rows_of_input`.
        """
        given = parse_input(text)
        view = rows_of_input(inspector, given, selected_file)
        handle = self._next
        self._next += 1
        self._views = dict([*self._views.items(), (handle, view)][-_OPEN_VIEWS:])
        if view.order is None:
            most = [unit.most for unit in view.units]
            exact = [unit.is_exact for unit in view.units]
        else:
            most, exact = [min(view.max_rows, MAX_SORTED)], [False]
        columns: dict[str, Numbers] = {
            "most": np.array(most, np.int64),
            "exact": np.array(exact, np.uint8),
        }
        return {"handle": handle, **_described(view)}, columns

    def view(self, handle: int) -> RowsView:
        """An open view.

        Raises:
            InvalidInputError: it is no longer open.
        """
        if handle not in self._views:
            raise InvalidInputError("These rows are no longer open; reload the view.")
        return self._views[handle]

    def page(
        self,
        handle: int,
        start: tuple[int, int],
        count: int,
        columns: Sequence[int],
        limit: int = CELL_LIMIT,
    ) -> Body:
        """Some rows from a unit and offset on, also of the units after it.

        Args:
            handle: the view.
            start: number of the unit, and of the first row within it.
            count: maximum number of rows.
            columns: indices of the columns.
            limit: maximum length of a value.

        The error of a file that cannot be read is a part of the answer.

        Raises:
            InvalidInputError: a number is out of range.
        """
        view = self.view(handle)
        names = _names(view, columns)
        if not 1 <= count <= MAX_PAGE:
            raise InvalidInputError(f"'count' must be from 1 to {MAX_PAGE}.")
        parts: list[Body] = []
        unit, offset = start
        units = 1 if view.order is not None else len(view.units)
        while count > 0 and unit < units and len(parts) < _MAX_PARTS:
            try:
                page = view.page(unit, offset, count, names)
            except PaimonError as error:
                failure = problem_of(error).state()
                parts.append({**part_body(unit, offset, ()), "failure": failure})
                unit, offset, count = unit + 1, 0, count - 1
                continue
            parts.append(_page_body(view, page, names, limit))
            offset += page.rows.num_rows
            count -= page.rows.num_rows
            if page.is_partial or (page.end is None and not page.rows.num_rows):
                break
            if page.end is not None and offset >= page.end:
                unit, offset = unit + 1, 0
        return {"parts": parts}

    def sort(self, handle: int) -> Body:
        """Continue to sort; returns the progress."""
        sorter = self.view(handle).sorter()
        sorter.step(SORT_STEP)
        return {
            "done": sorter.is_done,
            "rows": sorter.rows_read,
            "read": sorter.units_read,
            "skipped": sorter.units_skipped,
        }

    def cell(self, handle: int, unit: int, offset: int, column: int) -> Body:
        """The whole text of a value.

        Raises:
            InvalidInputError: there is no such row or column.
        """
        view = self.view(handle)
        names = _names(view, [column])
        page = view.page(unit, offset, 1, names)
        if not page.rows.num_rows:
            raise InvalidInputError("There is no such row.")
        kind = view.target.schema.project(names).fields[0].type
        values = page.rows.column(0).combine_chunks()
        text = cell_texts(values, kind, max_binary=MAX_TEXT // 2)[0]
        return {"text": None if text is None else truncate(text, MAX_TEXT)}


def _names(view: RowsView, columns: Sequence[int]) -> tuple[str, ...]:
    if not 1 <= len(columns) <= MAX_COLUMNS:
        raise InvalidInputError(
            f"'columns' must have 1 to {MAX_COLUMNS} numbers of columns, not {len(columns)}."
        )
    if max(columns) >= len(view.columns):
        raise InvalidInputError(
            f"'columns' has {max(columns)}, but the columns are 0 to {len(view.columns) - 1}."
        )
    return tuple(view.columns[at] for at in columns)


def _page_body(view: RowsView, page: RowPage, names: Sequence[str], limit: int) -> Body:
    fields = view.target.schema.project(names).fields
    texts = table_texts(page.rows, fields)
    records = None if page.records is None else [list(one) for one in page.records]
    part = part_body(page.unit, page.offset, texts, limit, page.end)
    return {**part, "records": records, "partial": page.is_partial}


def part_body(
    unit: int,
    offset: int,
    columns: Sequence[Sequence[str | None]],
    limit: int = CELL_LIMIT,
    end: int | None = None,
) -> Body:
    """Rows of a unit as JSON, of the texts of their columns."""
    rows = [[cell_state(text, limit) for text in row] for row in zip(*columns, strict=True)]
    part = {"unit": unit, "offset": offset, "rows": rows, "records": None}
    return {**part, "end": end, "partial": False}


def cell_state(text: str | None, limit: int = CELL_LIMIT) -> object:
    """A value's text; a long one is cut and marked."""
    if text is None or len(text) <= limit:
        return text
    return {"text": truncate(text, limit), "length": len(text)}


def _described(view: RowsView) -> Body:
    schema = view.target.schema
    options = view.target.options
    codes = {"python": view.code.python, "pyspark": view.code.spark, **sql_codes(view.request)}
    return {
        "title": view.scope.text,
        "columns": [
            {
                "name": one.name,
                "type": type_text(one.type),
                "right": is_root(one.type, *NUMBERS),
                "key": one.name in schema.primary_keys,
            }
            for one in schema.project(view.columns).fields
        ],
        "rows": view.max_rows,
        "exact": view.is_exact,
        "merged": view.is_merged,
        "keyed": bool(schema.primary_keys),
        "engine": options.value(MERGE_ENGINE).value if schema.primary_keys else "",
        "partition_keys": list(schema.partition_keys),
        "partitions": list(view.partitions[:_MAX_PARTITIONS]),
        "scope": {
            "partition": view.scope.partition,
            "bucket": view.scope.bucket,
            "file": view.scope.file,
        },
        "order": "" if view.order is None else view.order.text,
        "sort_cost": view.explain_sort(),
        "limit": MAX_SORTED,
        "codes": {name: code for name, code in codes.items() if code},
        "snapshot": view.target.snapshot is not None,
    }
