"""Draws charts as small plotly figures with a transparent background.

Labels are escaped, because plotly interprets some HTML tags in them.
"""

from collections.abc import Mapping
from html import escape

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from paimon_explore.inspection.rendering.chart import BarChart, Chart, LaneChart, LineChart, Tone
from paimon_explore.inspection.rendering.escape import truncate
from paimon_explore.inspection.rendering.report_html import COLOURS, value_text
from paimon_explore.sanitize import visible

_INK = "#767676"
_BAR = 24
_LANE = 30
_LEAST = 160
_LABEL = 60

TEMPLATE = go.layout.Template(
    layout={
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"color": _INK, "size": 12},
        "colorway": list(COLOURS.values()),
        "xaxis": {"gridcolor": "rgba(128,128,128,.25)", "zerolinecolor": "rgba(128,128,128,.5)"},
        "yaxis": {"gridcolor": "rgba(0,0,0,0)", "zerolinecolor": "rgba(0,0,0,0)"},
        "margin": {"l": 10, "r": 10, "t": 40, "b": 30},
    }
)
"""A transparent template with a grey that is readable in light and dark themes."""


def label(text: str, limit: int = _LABEL) -> str:
    """Escape text for plotly.

    >>> label("<b>x")
    '&lt;b&gt;x'
    """
    return escape(visible(truncate(text, limit)), quote=False)


def figure_of(charts: tuple[Chart | LineChart, ...]) -> go.Figure:
    """The charts in one figure, one below the other; a note if there are none."""
    if not charts:
        return _nothing()
    heights = [_height(chart) for chart in charts]
    figure = make_subplots(
        rows=len(charts),
        cols=1,
        row_heights=heights,
        subplot_titles=[label(chart.title, 120) for chart in charts],
        vertical_spacing=0.12 if len(charts) > 1 else 0,
    )
    for row, chart in enumerate(charts, 1):
        at = {"row": row, "col": 1}
        if isinstance(chart, BarChart):
            _bars(figure, chart, at)
        elif isinstance(chart, LineChart):
            _lines(figure, chart, at)
        else:
            _lanes(figure, chart, at)
    figure.update_layout(
        template=TEMPLATE, barmode="relative", height=sum(heights) + 90 * len(charts)
    )
    return figure


def _nothing() -> go.Figure:
    figure = go.Figure()
    figure.update_layout(template=TEMPLATE, height=_LEAST + 60)
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False)
    note = "The result has no chart, only text and tables."
    return figure.add_annotation(text=note, showarrow=False, xref="paper", yref="paper", x=0, y=1)


def _height(chart: Chart | LineChart) -> int:
    if isinstance(chart, BarChart):
        return max(_BAR * len(chart.categories), _LEAST)
    return _LEAST if isinstance(chart, LineChart) else max(_LANE * len(chart.lanes), _LEAST)


def _bars(figure: go.Figure, chart: BarChart, at: Mapping[str, int]) -> None:
    names = [label(name) for name in chart.categories]
    positions = list(range(len(names)))
    for series in chart.series:
        figure.add_bar(
            x=list(series.values),
            y=positions,
            orientation="h",
            name=label(series.name),
            marker_color=COLOURS[series.tone],
            customdata=[label(value_text(value, chart.unit)) for value in series.values],
            hovertemplate="%{customdata}<extra></extra>",
            showlegend=len(chart.series) > 1,
            **at,
        )
    figure.update_yaxes(
        tickvals=positions, ticktext=names, autorange="reversed", automargin=True, **at
    )


def _lines(figure: go.Figure, chart: LineChart, at: Mapping[str, int]) -> None:
    for line in chart.lines:
        figure.add_scatter(
            x=[place for place, _ in line.points],
            y=[value for _, value in line.points],
            mode="lines+markers",
            line={"shape": "hv", "width": 1.5},
            name=label(line.name),
            showlegend=len(chart.lines) > 1,
            **at,
        )


def _lanes(figure: go.Figure, chart: LaneChart, at: Mapping[str, int]) -> None:
    for tone in dict.fromkeys(box.tone for box in chart.boxes):
        boxes = [box for box in chart.boxes if box.tone is tone]
        figure.add_bar(
            base=[box.start for box in boxes],
            x=[box.end - box.start for box in boxes],
            y=[box.lane for box in boxes],
            width=[0.8 * box.height for box in boxes],
            orientation="h",
            marker={
                "color": COLOURS[tone],
                "opacity": 0.6,
                "line": {"color": COLOURS[tone], "width": 1},
            },
            text=[label(box.label, 30) for box in boxes],
            textposition="inside",
            insidetextanchor="start",
            customdata=[label(box.tooltip, 300) for box in boxes],
            hovertemplate="%{customdata}<extra></extra>",
            showlegend=False,
            **at,
        )
    figure.update_yaxes(
        tickvals=list(range(len(chart.lanes))),
        ticktext=[label(lane) for lane in chart.lanes],
        autorange="reversed",
        automargin=True,
        **at,
    )
    figure.update_xaxes(
        range=[chart.start, chart.end],
        tickvals=[place for place, _ in chart.ticks],
        ticktext=[label(text, 24) for _, text in chart.ticks],
        **at,
    )
    if chart.profile is not None:
        places, values = zip(*chart.profile.steps, strict=True)
        top, peak = len(chart.lanes) + 0.4, max(values)
        figure.add_scatter(
            x=places,
            y=[top - 0.8 * value / peak for value in values],
            mode="lines",
            line={"shape": "hv", "color": COLOURS[Tone.WARN], "width": 1.5},
            customdata=values,
            hovertemplate=f"{label(chart.profile.title)}: %{{customdata}}<extra></extra>",
            showlegend=False,
            **at,
        )
