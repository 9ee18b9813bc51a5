"""What every answer about a table can do: text, HTML, Arrow, JSON, a chart, a widget.

A result is a value with a sheet; its faces draw that sheet. Charts and widgets need packages that
this layer does not know, so the table that makes a result hands it a `Screen`.
"""

from abc import ABC, abstractmethod
from dataclasses import field
from typing import Protocol

import pyarrow as pa

from paimon_explore.data_types import data_frames
from paimon_explore.errors import UnsupportedFeatureError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.rendering.chart import Chart
from paimon_explore.inspection.rendering.code_snippet import Code
from paimon_explore.inspection.rendering.report import Sheet
from paimon_explore.inspection.rendering.report_html import sheet_html
from paimon_explore.inspection.rendering.report_text import sheet_text
from paimon_explore.sanitize import masked_members


class Figure(Protocol):
    """A plotly figure, as far as results promise one."""

    def show(self) -> object:
        """Show it."""

    def to_json(self) -> str:
        """It as JSON."""


class Screen(Protocol):
    """What draws results with packages of the extra `notebook`."""

    def figure(self, charts: tuple[Chart, ...]) -> Figure:
        """The charts as one plotly figure."""

    def widget(self, result: "Result") -> object:
        """The result as a notebook widget."""


class NoScreen:
    """Stands in where nothing can be drawn."""

    def figure(self, charts: tuple[Chart, ...]) -> Figure:  # noqa: ARG002 - the protocol's
        """Refuse."""
        raise UnsupportedFeatureError("drawing", hint="Ask an opened table: t.lsm().plot().")

    def widget(self, result: "Result") -> object:  # noqa: ARG002 - the protocol's
        """Refuse."""
        raise UnsupportedFeatureError("widgets", hint="Ask an opened table: t.lsm().widget().")


NO_SCREEN: Screen = NoScreen()


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Result(ABC):
    """An answer about a table.

    Attributes:
        code: the lines of Python and of PySpark that yield it.
        screen: what draws it.
    """

    code: Code = field(default_factory=Code)
    screen: Screen = field(default=NO_SCREEN, compare=False)

    @property
    @abstractmethod
    def kind(self) -> str:
        """Its name in the explorer."""

    @abstractmethod
    def sheet(self) -> Sheet:
        """Everything that is shown of it."""

    @abstractmethod
    def to_arrow(self) -> pa.Table:
        """Its rows as an Arrow table."""

    @abstractmethod
    def figures(self) -> dict[str, object]:
        """Its numbers as JSON."""

    def to_pandas(self) -> "data_frames.DataFrame":
        """Its rows as a pandas DataFrame."""
        return self.to_arrow().to_pandas()

    def state(self) -> dict[str, object]:
        """All of it as JSON: what the browser gets and tests compare."""
        return masked_members(
            {
                "kind": self.kind,
                **self.sheet().state(),
                "figures": self.figures(),
                "code": self.code.python,
                "spark_code": self.code.spark,
            }
        )

    def plot(self) -> Figure:
        """Its charts as a plotly figure.

        Raises:
            UnsupportedFeatureError: plotly is not installed.
        """
        return self.screen.figure(self.sheet().charts)

    def widget(self) -> object:
        """It as a notebook widget.

        Raises:
            UnsupportedFeatureError: the packages of the extra `notebook` are not installed.
        """
        return self.screen.widget(self)

    def __repr__(self) -> str:
        """At most 25 lines of text."""
        return sheet_text(self.sheet())

    def _repr_html_(self) -> str:
        """A static page part, escaped."""
        return sheet_html(self.sheet())
