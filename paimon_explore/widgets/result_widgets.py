"""The widgets of results: the report of one, and the rows of an SQL result page by page."""

from collections.abc import Mapping
from typing import ClassVar

import traitlets

from paimon_explore.inspection.explorer.explorer_state import Answer
from paimon_explore.inspection.rendering.result import Result
from paimon_explore.inspection.rendering.row_pages import RowPages
from paimon_explore.widgets.bundles import bundle
from paimon_explore.widgets.widget_base import AnsweringWidget, StaticallyRendered
from paimon_explore.widgets.widget_requests import Message, number


class ReportWidget(StaticallyRendered):
    """Shows the report of a result, as `t.inspect.lsm().widget()`: its facts, tables and charts.

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


class ResultPages(AnsweringWidget):
    """Shows a page of rows, and reads the next ones on demand.

    Args:
        pages: the rows, of which the first page was read.
        plain: the first page by media type, for viewers without a kernel.
    """

    _esm: ClassVar[str] = bundle("result_pages")

    page = traitlets.Dict(help="the first page as JSON").tag(sync=True)

    def __init__(self, pages: RowPages, plain: Mapping[str, object]) -> None:
        self._pages = pages
        self._plain = dict(plain)
        super().__init__(page=pages.state(0))
        self.on_msg(self._receive)

    def answer(self, message: Message) -> Answer:
        """The page of a request.

        Raises:
            InvalidInputError: the request is invalid.
            PaimonError: a file cannot be read.
        """
        return Answer(body=self._pages.state(number(message, "page")))

    def static_rendering(self) -> dict[str, object]:
        """The first page as HTML and as text."""
        return self._plain
