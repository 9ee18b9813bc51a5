"""Rendering of results with plotly and widgets, which are imported on first use."""

from paimon_explore.errors import UnsupportedFeatureError
from paimon_explore.inspection.rendering.chart import Chart, LineChart
from paimon_explore.inspection.rendering.result import Figure, Result


class NotebookRenderer:
    """Renders results with the packages of the extra `notebook`, if they are installed."""

    def figure(self, charts: tuple[Chart | LineChart, ...]) -> Figure:
        """Return the charts as one plotly figure.

        Raises:
            UnsupportedFeatureError: plotly is not installed.
        """
        try:
            from paimon_explore.widgets.charts import figure_of
        except ImportError as error:
            raise missing_package("plotting a result", error) from error
        figure: Figure = figure_of(charts)
        return figure

    def widget(self, result: Result) -> object:
        """Return a result as a notebook widget.

        Raises:
            UnsupportedFeatureError: the packages of the extra `notebook` are not installed.
        """
        try:
            from paimon_explore.widgets.result_widgets import ReportWidget
        except ImportError as error:
            raise missing_package("showing a result as a widget", error) from error
        return ReportWidget(result)


def missing_package(what: str, error: ImportError) -> UnsupportedFeatureError:
    """Return the error for an operation that needs the extra `notebook`.

    Raises:
        ImportError: a module of this package cannot be imported; the given error.
    """
    if (error.name or "").partition(".")[0] == "paimon_explore":
        raise error
    hint = "Run: pip install 'paimon-explore[notebook]'"
    return UnsupportedFeatureError(f"{what} without the package {error.name}", hint=hint)


RENDERER = NotebookRenderer()
