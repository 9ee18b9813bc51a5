"""The widget of a single result, as returned by `t.lsm().widget()`."""

from typing import ClassVar

import anywidget
import traitlets

from paimon_explore.inspection.rendering.result import Result
from paimon_explore.widgets.bundles import bundle


class ReportWidget(anywidget.AnyWidget):
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

    def _repr_mimebundle_(
        self, **kwargs: dict[str, object]
    ) -> tuple[dict[str, object], dict[str, object]] | None:
        """The widget, with a static rendering for viewers without a kernel."""
        made = super()._repr_mimebundle_(**kwargs)
        if made is None:
            return None
        data, metadata = made
        static = {"text/html": self.result._repr_html_(), "text/plain": repr(self.result)}
        return {**data, **static}, dict(metadata)
