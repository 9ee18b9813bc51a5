"""The base class of results: rendering as text, HTML, Arrow, JSON, chart and widget.

A result is a value with a report, which the renderings show. Charts and widgets need packages that
this layer does not import, so a `Renderer` of a layer above draws them.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import field
from importlib import import_module
from typing import Protocol

import pyarrow as pa

from paimon_explore.data_types import data_frames
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.rendering.chart import Chart, LineChart
from paimon_explore.inspection.rendering.code_snippet import Code
from paimon_explore.inspection.rendering.report import Report
from paimon_explore.inspection.rendering.report_html import report_html
from paimon_explore.inspection.rendering.report_text import report_text
from paimon_explore.sanitize import masked_members


class Figure(Protocol):
    """The part of the interface of a plotly figure that results guarantee."""

    def show(self) -> object:
        """Show the figure."""

    def to_json(self) -> str:
        """The figure as JSON."""


class Renderer(Protocol):
    """Draws results with the packages of the extra `notebook`."""

    def figure(self, charts: tuple[Chart | LineChart, ...]) -> Figure:
        """The charts as one plotly figure."""

    def widget(self, result: "Result") -> object:
        """The result as a notebook widget."""


def rows_table(rows: Iterable[Sequence[object]], schema: pa.Schema) -> pa.Table:
    """A table of rows, whose values are in the order of the columns."""
    named = [dict(zip(schema.names, row, strict=True)) for row in rows]
    return pa.Table.from_pylist(named, schema=schema)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Result(ABC):
    """Base class of results about a table.

    Attributes:
        code: code in Python and PySpark that gives the result.
    """

    code: Code = field(default_factory=Code)

    @property
    def renderer(self) -> Renderer:
        """What draws charts and widgets."""
        module = import_module("paimon_explore.table.display")  # of a layer above
        found: Renderer = module.RENDERER
        return found

    @property
    @abstractmethod
    def kind(self) -> str:
        """Name of the view in the explorer."""

    @abstractmethod
    def to_report(self) -> Report:
        """The report of the result."""

    @abstractmethod
    def to_arrow(self) -> pa.Table:
        """The rows as an Arrow table."""

    @abstractmethod
    def figures(self) -> dict[str, object]:
        """The figures as JSON."""

    def to_pandas(self) -> "data_frames.DataFrame":
        """The rows as a pandas DataFrame."""
        return data_frames.frame_of(self.to_arrow())

    def state(self) -> dict[str, object]:
        """The report, figures and code as JSON, as sent to the browser."""
        return masked_members(
            {
                "kind": self.kind,
                **self.to_report().state(),
                "figures": self.figures(),
                "code": self.code.python,
                "spark_code": self.code.spark,
            }
        )

    def plot(self) -> Figure:
        """The charts as a plotly figure.

        Raises:
            UnsupportedFeatureError: plotly is not installed.
        """
        return self.renderer.figure(self.to_report().charts)

    def widget(self) -> object:
        """The result as a notebook widget.

        Raises:
            UnsupportedFeatureError: the packages of the extra `notebook` are not installed.
        """
        return self.renderer.widget(self)

    def __repr__(self) -> str:
        """The report as text of at most 25 lines."""
        return report_text(self.to_report())

    def _repr_html_(self) -> str:
        """The report as escaped HTML."""
        return report_html(self.to_report())


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TableResult(Result):
    """Base class of results that are the rows of a table.

    Attributes:
        table: the rows.
    """

    table: pa.Table

    def __len__(self) -> int:
        """The number of rows."""
        return self.table.num_rows

    def to_arrow(self) -> pa.Table:
        """The rows as an Arrow table."""
        return self.table
