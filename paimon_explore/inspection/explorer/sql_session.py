"""The SQL tab: runs a query on the table at a snapshot, in a thread, so that it can be stopped.

A statement that writes runs once it is confirmed: by the token that the first request for it got.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from math import isfinite
from secrets import token_hex
from threading import Thread
from weakref import finalize

import pyarrow as pa
import pyarrow.types as pat

from paimon_explore.data_types.formatter import type_text
from paimon_explore.errors import InvalidInputError, PaimonError, UnsupportedFeatureError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.explorer.rows_session import MAX_PAGE, MAX_TEXT, Body, part_body
from paimon_explore.inspection.rendering.cell_texts import arrow_texts, paimon_type
from paimon_explore.inspection.rendering.chart import BarChart, LineChart, Points, Series
from paimon_explore.inspection.rendering.code_snippet import (
    Code,
    call_code,
    point_code,
    point_options,
    read_code,
)
from paimon_explore.inspection.rendering.escape import CELL_LIMIT, truncate
from paimon_explore.inspection.rendering.report import Report, grid
from paimon_explore.inspection.rendering.result import TableResult
from paimon_explore.inspection.rendering.result_charts import charts_of, is_number
from paimon_explore.inspection.system_tables.history_tables import SYSTEM_TABLES
from paimon_explore.inspection.table_view import QueryRows, TableSql
from paimon_explore.inspection.views.inspector import Inspector

MAX_ROWS = 100_000
"""Maximum number of rows that are read; the code reads all."""
_MAX_COLUMNS = 64
_MAX_BARS = 60
_STEP_SECONDS = 0.25
"""The longest time that a request waits for a query, during which the kernel does nothing else."""
_OPEN_RESULTS = 3
MAX_HISTORY = 100
"""How many snapshots a history has."""
_MAX_LINES = 4
_MAX_NAMED = 5


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SqlRowsView(TableResult):
    """The first rows of a query on the table at a snapshot.

    Attributes:
        table: at most `MAX_ROWS` rows.
        is_cut: whether the query has more rows.
        text: the query.
        snapshot_id: the snapshot; 0 for none.
        note: how the rows were computed; empty for none.
    """

    is_cut: bool
    text: str
    snapshot_id: int
    note: str
    kind = "sql"

    def figures(self) -> dict[str, object]:
        """The number of rows, and whether there are more."""
        return {"rows": self.table.num_rows, "is_cut": self.is_cut}

    def to_report(self) -> Report:
        """The first rows, and a chart if each has a label and a number."""
        names = [f"{one.name}#" if is_number(one.type) else one.name for one in self.table.schema]
        rows = [list(row) for row in zip(*self.texts(0, MAX_PAGE), strict=True)]
        shown = grid("Rows", names, rows, total=self.table.num_rows)
        chart = self.chart()
        title = f"Rows of a query at snapshot {self.snapshot_id}"
        return Report(title=title, sections=(shown,) if chart is None else (chart, shown))

    def chart(self) -> BarChart | None:
        """The chart of a result with one number for each value of its first column."""
        schema = self.table.schema
        if len(schema) != 2 or not 1 < self.table.num_rows <= _MAX_BARS or self.is_cut:  # noqa: PLR2004 - label, number
            return None
        first, number = schema.types
        if pat.is_floating(first) or pat.is_nested(first) or not is_number(number):
            return None
        labels = tuple("null" if text is None else text for text in self.texts(0, _MAX_BARS)[0])
        values = [float("nan" if v is None else str(v)) for v in self.table.column(1).to_pylist()]
        if len(set(labels)) < len(labels) or not all(map(isfinite, values)):
            return None
        series = Series(name=schema.names[1], values=tuple(values))
        title = f"{schema.names[1]} by {schema.names[0]}"
        return BarChart(title=title, categories=labels, series=(series,))

    def texts(self, offset: int, count: int) -> list[list[str | None]]:
        """The texts of some rows, by column."""
        part = self.table.slice(offset, count).combine_chunks()
        return [arrow_texts(column) for column in part.columns]

    def page(self, offset: int, count: int, limit: int = CELL_LIMIT) -> Body:
        """Some rows as the grid takes them."""
        columns = self.texts(offset, count)[:_MAX_COLUMNS]
        return part_body(0, offset, columns, limit, self.table.num_rows)

    def body(self) -> Body:
        """The result with its first rows, as JSON."""
        chart = self.chart()
        return {
            "done": True,
            "snapshot": self.snapshot_id,
            "text": self.text,
            "columns": [
                {
                    "name": one.name,
                    "type": _type_name(one.type),
                    "right": is_number(one.type),
                    "key": False,
                }
                for one in list(self.table.schema)[:_MAX_COLUMNS]
            ],
            "width": self.table.num_columns,
            "total": self.table.num_rows,
            "cut": self.is_cut,
            "first": self.page(0, MAX_PAGE),
            "chart": None if chart is None else chart.state(),
            "codes": {"python": self.code.python, "pyspark": self.code.spark},
        }


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SqlHistoryView(SqlRowsView):
    """The result of a query at each of the last snapshots, as step lines."""

    def body(self) -> Body:
        """The steps of the lines, as JSON.

        Raises:
            InvalidInputError: the rows are no lines.
        """
        charts = [chart for chart in charts_of(self.table) if isinstance(chart, LineChart)]
        found: list[tuple[str, Points]] = []
        for chart in charts:
            for line in map(_finite, chart.lines):
                if len({at for at, _ in line.points}) < len(line.points):
                    raise InvalidInputError(
                        f"The query has several rows of {line.name!r} at one snapshot.",
                        hint="Return one row, or one for each group, for instance by GROUP BY.",
                    )
                is_named = len(charts) > 1 and line.name != chart.title
                found.append((f"{chart.title} {line.name}" if is_named else line.name, line))
        found.sort(key=lambda one: -abs(one[1].points[-1][1] or 0.0))
        ids = list(dict.fromkeys(self.table.column(0).to_pylist()))
        history = {
            "text": self.text,
            "first": ids[0] if ids else 0,
            "last": ids[-1] if ids else 0,
            "count": len(ids),
            "lines": [
                {"name": truncate(name, MAX_TEXT), "steps": _steps(ids, line.points)}
                for name, line in found[:_MAX_LINES]
            ],
            "more": max(len(found) - _MAX_LINES, 0),
            "left_out": [
                truncate(name, MAX_TEXT) for name, _ in found[_MAX_LINES : _MAX_LINES + _MAX_NAMED]
            ],
            "note": self.note,
        }
        return {"done": True, "history": history, "codes": {"python": self.code.python}}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SqlWriteView(SqlRowsView):
    """The result of a statement that wrote: the rows of a procedure, or the new snapshot."""

    def body(self) -> Body:
        """What was committed, or the rows, as JSON."""
        body = SqlRowsView.body(self)
        if self.table.column_names != ["snapshot_id"]:
            return {**body, "note": ""}
        number = self.table["snapshot_id"][0].as_py()
        note = (
            f"Snapshot {number} committed" if number else "Nothing changed, no snapshot committed"
        )
        return {**body, "columns": [], "width": 0, "note": note}


def _finite(line: Points) -> Points:
    """The line with gaps for the numbers that JSON does not have."""
    points = (
        (at, None if value is None or not isfinite(value) else value) for at, value in line.points
    )
    return replace(line, points=tuple(points))


def _steps(
    ids: Sequence[object], points: Sequence[tuple[object, float | None]]
) -> list[tuple[object, float | None]]:
    """The snapshots at which a value differs from the one before; None for no value."""
    values = dict(points)
    found: list[tuple[object, float | None]] = []
    for at in ids:
        value = values.get(at)
        if not found or found[-1][1] != value:
            found.append((at, value))
    return found


class _Run:
    """A query that runs, or has run.

    Args:
        inspector: the table at a snapshot.
        text: the query.
        last: the number of snapshots of its history; 0 for the rows at the snapshot.
        writes: whether it may write; it is not stopped then.
    """

    def __init__(
        self, inspector: Inspector, text: str, last: int = 0, *, writes: bool = False
    ) -> None:
        self._inspector = inspector
        self._text = text
        self._last = last
        self.writes = writes
        self._rows: QueryRows | None = None
        self._was_stopped = False
        self._view: SqlRowsView | None = None
        self._error: Exception | None = None
        self.thread = Thread(target=self.run, name="paimon-explore SQL tab", daemon=True)

    def run(self) -> None:
        """Run the query."""
        try:
            self._view = self._read()
        except Exception as error:  # noqa: BLE001 - raised again by the request that waits
            self._error = error
        except KeyboardInterrupt:  # of an interrupted query
            self._was_stopped = True

    def _read(self) -> SqlRowsView | None:
        inspector = self._inspector
        statements = _statements(inspector)
        if self.writes:
            self._rows = statements.write(self._text)
        else:
            self._rows = statements.read(self._text, {} if self._last else _point(inspector))
        rows = self._rows.history(self._last) if self._last else self._rows
        reader, batches, count = rows.to_batches(), list[pa.RecordBatch](), 0
        for batch in reader:
            if self._was_stopped:
                return None
            batches.append(batch)
            count += batch.num_rows
            if count > MAX_ROWS:
                break
        table = pa.Table.from_batches(batches, reader.schema)
        kind = SqlHistoryView if self._last else SqlRowsView
        return (SqlWriteView if self.writes else kind)(
            table=table.slice(0, MAX_ROWS),
            is_cut=count > MAX_ROWS,
            text=self._text,
            snapshot_id=0 if self.writes else inspector.snapshot_id,
            note=rows.note,
            code=sql_code(inspector, self._text, self._last),
        )

    def stop(self) -> None:
        """Stop a query; a statement that writes goes on, as it may have been committed."""
        if self.writes:
            return
        self._was_stopped = True
        if self._rows is not None and self.thread.is_alive():
            self._rows.interrupt()

    def found(self) -> SqlRowsView:
        """The result of a query that has ended.

        Raises:
            InvalidInputError: it was stopped.
            PaimonError: it failed.
        """
        if self._error is not None and not self._was_stopped:
            raise self._error
        if self._view is None:
            raise InvalidInputError("The query was stopped.")
        return self._view


class SqlSession:
    """The query that runs, and the latest results by handle.

    Attributes:
        answered: the statement of the latest result or question.
        has_written: whether a statement wrote since this was last set to False.
    """

    def __init__(self) -> None:
        self.answered = ""
        self.has_written = False
        self._confirmation: tuple[str, str] | None = None
        self._runs: dict[int, _Run] = {}
        self._next = 1
        self._last: SqlRowsView | None = None
        self._history: SqlHistoryView | None = None
        finalize(self, _stop_all, self._runs)

    def run(self, inspector: Inspector, text: str, last: int = 0, confirmation: str = "") -> Body:
        """Stop the query that runs, and start another one, or its history; see `step`.

        A statement that writes is not started without its confirmation, but a question is returned
        with a confirmation for the next call.

        Raises:
            InvalidInputError: it writes to another table, or the table is read-only.
            UnsupportedFeatureError: a package is missing.
        """
        known = self._confirmation
        is_confirmed = known == (confirmation, text)
        self.stop()
        if not last and not is_confirmed:
            word = _statements(inspector).written(text)
            if word:
                # views of one explorer ask about one statement, and each may confirm it
                token = known[0] if known and known[1] == text else token_hex(16)
                self._confirmation = (token, text)
                return self._question(inspector, text, word, token)
        handle = self._next
        self._next += 1
        run = _Run(inspector, text, last, writes=is_confirmed)
        self._runs[handle] = run
        self._runs.pop(handle - _OPEN_RESULTS, None)
        run.thread.start()
        return self.step(handle)

    def _question(self, inspector: Inspector, text: str, word: str, token: str) -> Body:
        self.answered = text
        code = sql_code(inspector, text)
        return {
            "done": True,
            "question": f"This {word} statement writes to table {inspector.view.name}.",
            "confirmation": token,
            "codes": {"python": code.python, "pyspark": code.spark},
        }

    def step(self, handle: int) -> Body:
        """Wait for a query for a short time; returns its first rows when it is done.

        Raises:
            InvalidInputError: it was stopped.
            PaimonError: it failed.
        """
        run = self._known(handle)
        run.thread.join(_STEP_SECONDS)
        if run.thread.is_alive():
            return {"handle": handle, "done": False}
        self.has_written |= run.writes  # even if it failed
        found = run.found()
        body = found.body()
        if isinstance(found, SqlHistoryView):
            self._history = found
        elif not run.writes:
            self._last = found
        self.answered = found.text
        return {"handle": handle, **body}

    def stop(self) -> None:
        """Stop all queries, and forget the statement that waits for its confirmation."""
        self._confirmation = None
        _stop_all(self._runs)

    def page(self, handle: int, offset: int, count: int, limit: int = CELL_LIMIT) -> Body:
        """Some rows of a result, whose values are cut at a length.

        Raises:
            InvalidInputError: the result is no longer open, or the number of rows is too great.
        """
        if not 1 <= count <= MAX_PAGE:
            raise InvalidInputError(f"'count' must be from 1 to {MAX_PAGE}.")
        return {"parts": [self._known(handle).found().page(offset, count, limit)]}

    def cell(self, handle: int, offset: int, column: int) -> Body:
        """The whole text of a value.

        Raises:
            InvalidInputError: there is no such row or column.
        """
        view = self._known(handle).found()
        if offset >= view.table.num_rows or column >= view.table.num_columns:
            raise InvalidInputError("There is no such row or column.")
        text = view.texts(offset, 1)[column][0]
        return {"text": None if text is None else truncate(text, MAX_TEXT)}

    def saved(self, inspector: Inspector, text: str) -> Body | None:
        """The last result, for a saved page; a query without result is run, None if it fails."""
        try:
            view = self._last or (result_of(inspector, text) if text.strip() else None)
        except PaimonError:
            return None
        if view is None or self._history is None or self._history.text != view.text:
            return None if view is None else view.body()
        codes = {"python": f"{view.code.python}; {self._history.code.python}"}
        return {**view.body(), **self._history.body(), "codes": codes}

    def _known(self, handle: int) -> _Run:
        if handle not in self._runs:
            raise InvalidInputError("This result is no longer open; run the query again.")
        return self._runs[handle]


def _stop_all(runs: Mapping[int, _Run]) -> None:
    for run in runs.values():
        run.stop()


def result_of(inspector: Inspector, text: str) -> SqlRowsView:
    """Run a query to its end.

    Raises:
        InvalidInputError: the query is wrong, or changes data.
        UnsupportedFeatureError: a package is missing, or the statement is not implemented.
    """
    run = _Run(inspector, text)
    run.run()
    return run.found()


def _statements(inspector: Inspector) -> TableSql:
    """What runs statements on the table.

    Raises:
        UnsupportedFeatureError: a package is missing, or the explorer was not made from a table.
    """
    for name in ("duckdb", "sqlglot"):
        if find_spec(name) is None:
            raise UnsupportedFeatureError(
                f"SQL without the package {name}",
                hint="Run: pip install 'paimon-explore[sql]', and restart the kernel.",
            )
    if inspector.view.sql is None:
        raise UnsupportedFeatureError(
            "SQL in an explorer that was not created from a Paimon table",
            hint="Create the explorer with t.explore().",
        )
    return inspector.view.sql()


def sql_names(inspector: Inspector) -> Body:
    """The tables that a query can use, with their columns, for completion.

    Raises:
        UnsupportedFeatureError: a package is missing.
        PaimonError: the schema cannot be read.
    """
    _statements(inspector)
    view = inspector.view
    fields = inspector.target.schema.row_type.fields
    tables = list(dict.fromkeys(("t", view.short_name)))
    return {
        "tables": [*tables, *(f"`t${name}`" for name in SYSTEM_TABLES)],
        "columns": [[one.name, type_text(one.type)] for one in fields],
    }


def sql_code(inspector: Inspector, text: str, last: int = 0) -> Code:
    """The code that runs a query on the table at the snapshot, or at each of the last snapshots."""
    view = inspector.view
    own = view.short_name
    try:
        writes = bool(_statements(inspector).written(text))
    except PaimonError:  # which the statement raises, too
        writes = False
    tag = inspector.timeline().only_tag(inspector.snapshot_id)
    at = point_code(view.expression, 0 if last or writes else inspector.snapshot_id, tag)
    names = [name for name in (own, "t") if re.search(rf"\b{re.escape(name)}\b", text)]
    given = dict.fromkeys(names or ["t"])
    tables = [f"{name}={at}" if name.isidentifier() else f"**{{{name!r}: {at}}}" for name in given]
    options = point_options(inspector.snapshot_id, tag)
    views = [
        read_code(view.location, options, f".createOrReplaceTempView({name!r})") for name in given
    ]
    python = f"pe.sql({text!r}, {', '.join(tables)})"
    if writes:
        return Code(python=python)
    return Code(
        python=f"{python}.history(last={last})" if last else python,
        spark="; ".join([*views, call_code("spark.sql", text)]),
    )


def _point(inspector: Inspector) -> dict[str, int | str]:
    """The arguments of `Table.at` for the snapshot of the inspector; none without snapshots."""
    if not inspector.snapshot_id:
        return {}
    tag = inspector.timeline().only_tag(inspector.snapshot_id)
    return {"tag": tag} if tag else {"snapshot": inspector.snapshot_id}


def _type_name(kind: pa.DataType) -> str:
    found = paimon_type(kind)
    return str(kind) if found is None else type_text(found)
