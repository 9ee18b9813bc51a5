"""The output of a command: text for people, JSON lines or CSV for programs.

Text on a terminal has its width; text in a pipe has no colours and is never cut.
"""

import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from io import TextIOWrapper
from time import monotonic
from typing import TYPE_CHECKING, TextIO

import pyarrow as pa

from paimon_explore.command_line.command_names import FAILURE, OK
from paimon_explore.command_line.rendering.machine_text import JsonText, csv_line, json_text
from paimon_explore.command_line.rendering.report_text import report_lines, wrapped
from paimon_explore.command_line.rendering.text_table import (
    cell_width,
    fitted,
    left_out_line,
    widths_of,
)
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.rendering.number_format import plural
from paimon_explore.inspection.rendering.report import Failed
from paimon_explore.inspection.rendering.result_charts import is_number
from paimon_explore.sanitize import masked_members, sanitized, visible

if TYPE_CHECKING:
    from paimon_explore.inspection.rendering.result import Result
from paimon_explore.data_types.arrow import VARIANT_ARROW
from paimon_explore.data_types.arrow_buffers import Column, as_python, string_array, times_as_text
from paimon_explore.encoding.variant.json_text import json_text as variant_text
from paimon_explore.sanitize import masked

Rows = pa.Table | pa.RecordBatchReader
_SECTIONS = ("facts", "grid", "note", "problem")
_BLOCK = 1000
"""Number of rows that get their column widths together."""
_FIRST_BLOCK = 100
_PATIENCE_S = 0.5
"""Rows that have arrived are printed after this time."""
NULL = "null"
"""The text for null."""


class Format(StrEnum):
    """The format of the output."""

    TEXT = "text"
    JSON = "json"
    CSV = "csv"


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """Where and how a command prints its results.

    Attributes:
        format: text, JSON or CSV.
        stream: where to print.
        width: the width that text has to fit; None for no limit.
        is_terminal: whether the stream is a terminal.
    """

    format: Format = Format.TEXT
    stream: TextIO
    width: int | None = None
    is_terminal: bool = False

    @property
    def is_text(self) -> bool:
        """Whether the output is for people."""
        return self.format is Format.TEXT

    def line(self, text: str = "", *, style: str = "") -> None:
        """Print a line of text as it is.

        Args:
            text: the line, sanitized.
            style: a style of rich for terminals, such as `bold`.
        """
        if not style or not self.is_terminal:
            self.stream.write(f"{text}\n")
            return
        from rich.console import Console
        from rich.text import Text

        console = Console(file=self.stream, width=max(cell_width(text), 1), highlight=False)
        console.print(Text(text, style=style), soft_wrap=True)

    def message(self, text: str) -> None:
        """Print a sentence about what was done, in text only."""
        if self.is_text:
            for line in wrapped(text, self.width):
                self.line(line)

    def document(self, value: Mapping[str, object], text: str) -> None:
        """Print one result: an object for programs, a sentence for people."""
        match self.format:
            case Format.TEXT:
                self.message(text)
            case Format.JSON:
                self.line(json_text(value))
            case Format.CSV:
                self._csv(list(value))
                self._csv(list(value.values()))

    def listing(self, rows: Rows, *, columns: Mapping[str, str] | None = None, noun: str) -> int:
        """Print metadata as `rows` does, with secrets masked.

        Text has no columns that are null in all rows.
        """
        table = masked_texts(rows if isinstance(rows, pa.Table) else rows.read_all())
        if not self.is_text:
            return self.rows(table)
        shown = columns or {name: visible(name.replace("_", " ")) for name in table.schema.names}
        filled = {
            name: heading
            for name, heading in shown.items()
            if table.num_rows == 0 or table.column(name).null_count < table.num_rows
        }
        return self.rows(table, columns=filled, noun=noun, null="")

    def rows(
        self,
        rows: Rows,
        *,
        columns: Mapping[str, str] | None = None,
        noun: str = "row",
        note: str = "",
        is_live: bool = False,
        null: str = NULL,
    ) -> int:
        """Print rows as they arrive.

        Args:
            rows: a table or a stream of record batches.
            columns: headings by column for text output; JSON and CSV have all columns.
            noun: what the rows are, for the line below them.
            note: a remark for the same line.
            is_live: print each batch when it arrives; the next one may take long.
            null: the text for null.

        Returns:
            The number of rows.
        """
        batches = iter(rows.to_batches() if isinstance(rows, pa.Table) else rows)
        match self.format:
            case Format.JSON:
                return self._each(batches, self._json_batch)
            case Format.CSV:
                self._csv(rows.schema.names)
                return self._each(batches, self._csv_batch)
            case Format.TEXT:
                shown = columns or {name: visible(name) for name in rows.schema.names}
                blocks = _blocks(batches, list(shown), null, is_live=is_live)
                return self._text_rows(blocks, rows.schema, shown, (noun, note))

    def report(self, result: "Result") -> int:
        """Print a result: its report, or its figures and rows.

        Returns:
            The exit code: a failure if a part of the table could not be read.
        """
        match self.format:
            case Format.TEXT:
                lines = report_lines(result.to_report(), self.width)
                self.line(next(lines), style="bold")
                for line in lines:
                    self.line(line)
            case Format.JSON:
                rows = result.to_arrow()
                found = [row for batch in rows.to_batches() for row in _json_rows(batch)]
                document = {**_sections(result), "figures": result.figures(), "rows": found}
                self.line(json_text(masked_members(document)))
            case Format.CSV:
                self.rows(masked_texts(result.to_arrow()))
        sections = result.to_report().sections
        failed = [part.problem.message for part in sections if isinstance(part, Failed)]
        if not failed:
            return OK
        self.stream.flush()
        sys.stderr.write(f"paimon-explore: The report is incomplete: {sanitized(failed[0])}\n")
        return FAILURE

    def _each(
        self, batches: Iterator[pa.RecordBatch], write: Callable[[pa.RecordBatch], None]
    ) -> int:
        count = 0
        for batch in batches:
            write(batch)
            self.stream.flush()
            count += batch.num_rows
        return count

    def _json_batch(self, batch: pa.RecordBatch) -> None:
        self.stream.writelines(f"{json_text(row)}\n" for row in _json_rows(batch))

    def _csv_batch(self, batch: pa.RecordBatch) -> None:
        columns = [json_cells(column) for column in batch.columns]
        for values in zip(*columns, strict=True):
            self._csv(values)

    def _csv(self, values: Sequence[object]) -> None:
        self.stream.write(csv_line(values, is_terminal=self.is_terminal))

    def _text_rows(
        self,
        blocks: Iterator[list[tuple[str, ...]]],
        schema: pa.Schema,
        columns: Mapping[str, str],
        footer: tuple[str, str],
    ) -> int:
        headings = list(columns.values())
        types = [schema.field(name).type for name in columns]
        numeric = list(map(is_number, types))
        whole = [is_number(kind) or pa.types.is_temporal(kind) for kind in types]
        wanted = list(map(cell_width, headings))
        layout = fitted(wanted, numeric, self.width, whole)
        count = 0
        for block in blocks:
            wanted = list(map(max, wanted, widths_of(block))) if block else wanted
            layout = fitted(wanted, numeric, self.width, whole)
            if not count:
                self.line(layout.headings(headings), style="bold")
                self.line(layout.rule(), style="dim")
            self.stream.writelines(f"{layout.line(row)}\n" for row in block)
            self.stream.flush()
            count += len(block)
        self._footer(count, footer, headings[len(layout.widths) :])
        return count

    def _footer(self, count: int, footer: tuple[str, str], left_out: Sequence[str]) -> None:
        """Say how many rows there are and which columns do not fit; not in a pipe."""
        if self.width is None:
            return
        noun, note = footer
        end = f"; {note}" if note else ""
        self.line(f"({plural(count, noun)}{end})", style="dim")
        if left_out:
            self.line(left_out_line(left_out, self.width), style="dim")


def _sections(result: "Result") -> dict[str, object]:
    """Title, facts, tables and notes of a report; charts show what the tables have."""
    report = result.to_report()
    states = (part.state() for part in report.sections)
    kept = [state for state in states if state["type"] in _SECTIONS]
    return {"title": report.title, "sections": kept}


def _json_rows(batch: pa.RecordBatch) -> Iterator[dict[str, object]]:
    names = batch.schema.names
    columns = [json_cells(column) for column in batch.columns]
    for values in zip(*columns, strict=True):
        yield dict(zip(names, values, strict=True))


def _blocks(
    batches: Iterator[pa.RecordBatch], names: list[str], null: str, *, is_live: bool
) -> Iterator[list[tuple[str, ...]]]:
    """The rows as text, in blocks; the first one is small, so that it is shown early."""
    waiting: list[tuple[str, ...]] = []
    size, began = _FIRST_BLOCK, monotonic()
    for batch in batches:
        chosen = batch.select(names)
        start = 0
        while start < chosen.num_rows:
            part = chosen.slice(start, size - len(waiting))
            columns = [text_cells(column, null) for column in part.columns]
            waiting += zip(*columns, strict=True)
            start += part.num_rows
            if is_live or len(waiting) >= size or monotonic() - began > _PATIENCE_S:
                yield waiting
                waiting, size, began = [], _BLOCK, monotonic()
    if waiting or size == _FIRST_BLOCK:
        yield waiting


def standard_output(form: Format, width: int | None = None) -> Output:
    """Return the output of the process.

    Args:
        form: text, JSON or CSV.
        width: the width of text; None for that of the terminal, or no limit in a pipe.
    """
    is_terminal = sys.stdout.isatty()
    if isinstance(sys.stdout, TextIOWrapper):
        if form is Format.TEXT or is_terminal:  # another encoding than UTF-8 lacks characters
            sys.stdout.reconfigure(errors="backslashreplace")
        else:  # JSON is UTF-8, and values keep their line feeds on Windows
            sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")
    if width is None and is_terminal:
        width = shutil.get_terminal_size().columns
    return Output(format=form, stream=sys.stdout, width=width, is_terminal=is_terminal)


_NULLABLE_PARTS = pa.struct([(field.name, field.type) for field in VARIANT_ARROW])


# Dates and times become text, also inside of nested values: Python cannot represent all of them,
# such as nanoseconds and years after 9999.
def cell_values(column: Column) -> list[object]:
    """Return the values of a column; dates and times as text, variants as JSON."""
    try:
        values = as_python(times_as_text(column))
    except pa.ArrowNotImplementedError:  # nested types that Arrow does not cast
        values = as_python(column)
    if not _has_variants(column.type):
        return values
    return [_with_documents(value, column.type) for value in values]


def _has_variants(kind: pa.DataType) -> bool:
    inner = (kind.field(at).type for at in range(kind.num_fields))
    return _is_variant(kind) or any(map(_has_variants, inner))


def _is_variant(kind: pa.DataType) -> bool:
    """Return whether it is the type of variants, also in results of DuckDB."""
    return kind.equals(VARIANT_ARROW) or kind.equals(_NULLABLE_PARTS)


def _with_documents(value: object, kind: pa.DataType) -> object:
    """A value with JSON in place of its variants."""
    match value:
        case dict() if _is_variant(kind):
            return JsonText(variant_text(value["value"], value["metadata"]))
        case dict() if isinstance(kind, pa.StructType):
            return {field.name: _with_documents(value[field.name], field.type) for field in kind}
        case list() if isinstance(kind, pa.MapType):
            return [(key, _with_documents(item, kind.item_type)) for key, item in value]
        case list():
            return [_with_documents(one, kind.field(0).type) for one in value]
        case _:
            return value


def json_cells(column: Column) -> list[object]:
    """Return the values for JSON: maps with text keys become objects."""
    values = cell_values(column)
    if not pa.types.is_map(column.type) or not pa.types.is_string(column.type.key_type):
        return values
    return [None if value is None else dict(value) for value in values]  # type: ignore[call-overload]  # pairs


def text_cells(column: Column, null: str = NULL) -> list[str]:
    """Return the values as text for people, without control characters."""
    return [null if value is None else _text(value) for value in json_cells(column)]


def _text(value: object) -> str:
    match value:
        case str():
            return visible(value)
        case bytes():
            return f"0x{value.hex()}"
        case bool() | list() | dict() | tuple():
            return json_text(value)
        case float():
            return repr(value)
        case _:
            return visible(str(value))


def masked_texts(table: pa.Table) -> pa.Table:
    """Return a table of metadata with the secrets in its texts masked."""
    for at, field in enumerate(table.schema):
        if pa.types.is_string(field.type):
            values = as_python(table.column(at).combine_chunks())
            texts = [masked(value) if isinstance(value, str) else None for value in values]
            table = table.set_column(at, field, string_array(texts))
    return table
