"""Rendering of results with plotly and widgets, which are imported on first use."""

from paimon_explore.errors import needs_extra
from paimon_explore.inspection.rendering.chart import Chart, LineChart
from paimon_explore.inspection.rendering.result import Figure, Result


class NotebookRenderer:
    """Renders results with the packages of the extra `notebook`, if they are installed."""

    def figure(self, charts: tuple[Chart | LineChart, ...]) -> Figure:
        """Return the charts as one plotly figure.

        Raises:
            UnsupportedFeatureError: plotly is not installed.
        """
        with needs_extra("notebook", "plotting a result"):
            from paimon_explore.widgets.charts import figure_of
        figure: Figure = figure_of(charts)
        return figure

    def widget(self, result: Result) -> object:
        """Return a result as a notebook widget.

        Raises:
            UnsupportedFeatureError: the packages of the extra `notebook` are not installed.
        """
        with needs_extra("notebook", "showing a result as a widget"):
            from paimon_explore.widgets.result_widgets import ReportWidget
        return ReportWidget(result)


RENDERER = NotebookRenderer()
