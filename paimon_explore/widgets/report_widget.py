"""The widget of a single result, as returned by `t.inspect.lsm().widget()`."""

from typing import ClassVar

import traitlets

from paimon_explore.inspection.rendering.result import Result
from paimon_explore.widgets.bundles import bundle
from paimon_explore.widgets.widget_base import StaticallyRendered


class ReportWidget(StaticallyRendered):
    """Shows the report of a result: its facts, tables and charts.

    Args:
        result: the result to show.
    """

    _esm: ClassVar[str] = bundle("report")

    report = traitlets.Dict(help="the result as JSON").tag(sync=True)

    def __init__(self, result: Result) -> None:
        self.result = result
        shown = {name: part for name, part in result.state().items() if name != "figures"}
        super().__init__(report=shown)

    def __repr__(self) -> str:
        """The result as text."""
        return repr(self.result)

    def static_rendering(self) -> dict[str, object]:
        """The result as HTML and as text."""
        return {"text/html": self.result._repr_html_(), "text/plain": repr(self.result)}
