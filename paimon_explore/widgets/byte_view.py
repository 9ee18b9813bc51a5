"""The byte inspector widget: `t.bytes("base/0").widget()`."""

from collections.abc import Mapping
from typing import ClassVar

import anywidget
import traitlets

from paimon_explore.errors import InvalidInputError, PaimonError
from paimon_explore.inspection.byte_inspector.byte_layout import ByteLayout
from paimon_explore.inspection.byte_inspector.byte_session import ByteSession
from paimon_explore.inspection.explorer.explorer_state import Answer
from paimon_explore.inspection.problem import Problem, problem_of
from paimon_explore.sanitize import sanitized
from paimon_explore.widgets.bundles import bundle
from paimon_explore.widgets.column_transfer import pack_columns
from paimon_explore.widgets.front_end_requests import byte_answer, request_number

_HEIGHT = 480


class ByteView(anywidget.AnyWidget):
    """Shows the bytes of a file and the fields that they encode.

    Args:
        result: the layout of the file.
        height: height in pixels.
    """

    _esm: ClassVar[str] = bundle("bytes")

    height = traitlets.Int(_HEIGHT, help="pixels").tag(sync=True)

    def __init__(self, result: ByteLayout, *, height: int = _HEIGHT) -> None:
        self.result = result
        self._desk = ByteSession()
        super().__init__(height=height)
        self.on_msg(self._receive)

    def __repr__(self) -> str:
        """The layout as text."""
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

    def _receive(self, _widget: object, message: object, _buffers: object) -> None:
        """Answer a request of the browser; errors are sent to the browser, not raised."""
        number = request_number(message)
        if number is None or not isinstance(message, Mapping):
            return
        try:
            found = self._answer(message)
        except PaimonError as error:
            self._refuse(number, problem_of(error))
        except Exception as error:  # noqa: BLE001 - the border: a front end must hear of any failure
            self._refuse(number, Problem(kind=type(error).__name__, message=sanitized(str(error))))
        else:
            specs, data = pack_columns(found.columns)
            content = {"id": number, "ok": True, "body": found.body, "columns": specs}
            self.send(content, [data] if data else [])

    def _answer(self, message: Mapping[str, object]) -> Answer:
        if message.get("op") == "bytes":
            return Answer(body=self._desk.put(self.result))
        found = byte_answer(self._desk, message)
        if found is None:
            raise InvalidInputError("Unknown request.")
        return found

    def _refuse(self, number: int, problem: Problem) -> None:
        self.send({"id": number, "ok": False, "error": problem.state()})
