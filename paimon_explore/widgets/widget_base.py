"""Base classes of the widgets: a static rendering, and answers to requests of the browser."""

from collections.abc import Mapping

import anywidget
import traitlets

from paimon_explore.inspection.explorer.explorer_state import Answer
from paimon_explore.inspection.problem import Problem, problem_of
from paimon_explore.widgets.column_transfer import pack_columns
from paimon_explore.widgets.widget_requests import Message, request_number

STATIC_FALLBACK = "application/vnd.paimon-explore.widget+json"
"""Media type of outputs whose HTML JupyterLab shows if the widget does not exist; renderer:
`frontend/src/static_fallback.js`."""


def synced_int(default: int, about: str) -> "traitlets.Int[int, int]":
    """A number that Python and the browser share."""
    return traitlets.Int(default, help=about).tag(sync=True)


def synced_text(default: str, about: str) -> "traitlets.Unicode[str, str | bytes]":
    """A text that Python and the browser share."""
    return traitlets.Unicode(default, help=about).tag(sync=True)


class StaticallyRendered(anywidget.AnyWidget):
    """A widget with a static rendering for viewers without a kernel."""

    def static_rendering(self) -> dict[str, object]:
        """The static rendering by media type."""
        raise NotImplementedError

    def _repr_mimebundle_(
        self, **kwargs: dict[str, object]
    ) -> tuple[dict[str, object], dict[str, object]] | None:
        """The widget, with its static rendering."""
        made = super()._repr_mimebundle_(**kwargs)
        if made is None:
            return None
        data, metadata = made
        return {**data, **self.static_rendering(), STATIC_FALLBACK: {}}, dict(metadata)


class AnsweringWidget(StaticallyRendered):
    """A widget whose front end sends requests to Python."""

    problem: Problem | None = None
    """The error of the last request that failed."""

    def answer(self, message: Message) -> Answer:
        """Answer a request.

        Raises:
            InvalidInputError: the request is unknown or invalid.
            PaimonError: the requested data does not exist or cannot be read.
        """
        raise NotImplementedError

    def _receive(self, _widget: object, message: object, _buffers: object) -> None:
        """Answer a request of the browser; errors are sent to the browser, not raised."""
        number = request_number(message)
        if number is None or not isinstance(message, Mapping):
            return
        try:
            found = self.answer(message)
        except Exception as error:  # noqa: BLE001 - the browser shows any error
            self.problem = problem_of(error)
            self.send({"id": number, "ok": False, "error": self.problem.state()})
        else:
            specs, data = pack_columns(found.columns)
            content = {"id": number, "ok": True, "body": found.body, "columns": specs}
            self.send(content, [data] if data else [])
