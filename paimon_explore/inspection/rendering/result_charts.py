"""Charts of the rows of an SQL result: a line for each number over a time, or bars by text."""

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.types as pat

from paimon_explore.data_types.arrow_buffers import shown_values
from paimon_explore.errors import InvalidInputError
from paimon_explore.inspection.rendering.chart import BarChart, LineChart, Points, Series

MAX_POINTS = 10_000
"""Maximum number of rows of a chart of lines."""
MAX_BARS = 200
_SNAPSHOT = "snapshot_id"
_OF_COMMITS = (_SNAPSHOT, "commit_time", "commit_kind", "commit_user")
"""Columns of `SqlResult.history`, which are no values."""


def charts_of(rows: pa.Table) -> tuple[BarChart | LineChart, ...]:
    """Return a chart for each column of numbers.

    The horizontal axis is the first column that is a time or `snapshot_id`; without one, rows are
    bars with the texts of the other columns. Columns that are no numbers divide lines into several,
    and so does the first number if rows have the same place otherwise.

    Raises:
        InvalidInputError: no column has numbers, or there are too many rows.
    """
    fields = [field for field in rows.schema if field.name not in _OF_COMMITS]
    numbers = [field.name for field in fields if is_number(field.type)]
    texts = [field.name for field in fields if _is_label(field.type)]
    if not numbers:
        shown = ", ".join(f"{field.name} ({field.type})" for field in rows.schema)
        raise InvalidInputError(
            "The result has no column of numbers to plot.",
            hint=f"Add one, such as count(*). Columns: {shown}.",
        )
    axis = next((field.name for field in rows.schema if _is_axis(field)), None)
    if axis is None and not texts and len(numbers) > 1:
        axis = numbers.pop(0)
    texts = [name for name in texts if name != axis]
    if axis is not None and len(numbers) > 1 and _repeats(rows, [axis, *texts]):
        texts.append(numbers.pop(0))
    most = MAX_BARS if axis is None else MAX_POINTS
    if rows.num_rows > most:
        raise InvalidInputError(
            f"The result has {rows.num_rows:,} rows; at most {most:,} can be plotted.",
            hint="Group the rows in the query, or use LIMIT.",
        )
    labels = _labels(rows, texts)
    if axis is not None:
        places = shown_values(rows.column(axis).combine_chunks())
        return tuple(_lines(name, places, _floats(rows, name), labels) for name in numbers)
    return tuple(
        BarChart(
            title=name,
            categories=tuple(labels),
            series=(Series(name=name, values=tuple(v or 0.0 for v in _floats(rows, name))),),
        )
        for name in numbers
    )


def _lines(
    name: str, places: Sequence[object], values: Sequence[float | None], labels: Sequence[str]
) -> LineChart:
    found: dict[str, list[tuple[object, float | None]]] = {}
    for at, value, label in zip(places, values, labels, strict=True):
        found.setdefault(label, []).append((at, value))
    lines = tuple(Points(name=label or name, points=tuple(found[label])) for label in found)
    return LineChart(title=name, lines=lines)


def _labels(rows: pa.Table, texts: Sequence[str]) -> list[str]:
    columns = [shown_values(rows.column(name).combine_chunks()) for name in texts]
    if not columns:
        return [""] * rows.num_rows
    shown = [["NULL" if value is None else str(value) for value in column] for column in columns]
    return [" · ".join(row) for row in zip(*shown, strict=True)]


def _floats(rows: pa.Table, name: str) -> list[float | None]:
    return rows.column(name).cast(pa.float64()).to_pylist()


def is_number(kind: pa.DataType) -> bool:
    """Whether a column has numbers."""
    return pat.is_integer(kind) or pat.is_floating(kind) or pat.is_decimal(kind)


def _is_label(kind: pa.DataType) -> bool:
    return not (is_number(kind) or pat.is_nested(kind) or pat.is_binary(kind))


def _repeats(rows: pa.Table, names: Sequence[str]) -> bool:
    keys = [str(at) for at in range(len(names))]  # Arrow takes a name such as '.x' for a path
    distinct = rows.select(list(names)).rename_columns(keys).group_by(keys).aggregate([])
    return distinct.num_rows < rows.num_rows


def _is_axis(field: "pa.Field[pa.DataType]") -> bool:
    return field.name == _SNAPSHOT or pat.is_timestamp(field.type) or pat.is_date(field.type)
