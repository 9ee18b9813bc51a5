"""The byte inspector widget: `t.inspect.bytes("base/0").widget()`."""

from typing import ClassVar

import traitlets

from paimon_explore.inspection.byte_inspector.byte_layout import ByteLayout
from paimon_explore.inspection.byte_inspector.byte_session import ByteSession
from paimon_explore.inspection.explorer.explorer_state import Answer
from paimon_explore.widgets.bundles import bundle
from paimon_explore.widgets.widget_base import AnsweringWidget
from paimon_explore.widgets.widget_requests import Message, byte_answer

_HEIGHT = 480


class ByteView(AnsweringWidget):
    """Shows the bytes of a file and the fields that they encode.

    Args:
        result: the layout of the file.
        height: height in pixels.
    """

    _esm: ClassVar[str] = bundle("bytes")

    height = traitlets.Int(_HEIGHT, help="pixels").tag(sync=True)

    def __init__(self, result: ByteLayout, *, height: int = _HEIGHT) -> None:
        self.result = result
        self._session = ByteSession()
        super().__init__(height=height)
        self.on_msg(self._receive)

    def __repr__(self) -> str:
        """The layout as text."""
        return repr(self.result)

    def static_rendering(self) -> dict[str, object]:
        """The layout as HTML and as text."""
        return {"text/html": self.result._repr_html_(), "text/plain": repr(self.result)}

    def answer(self, message: Message) -> Answer:
        """Answer a request about the bytes of the file."""
        if message.get("op") == "bytes":
            return Answer(body=self._session.put(self.result))
        return byte_answer(self._session, message)
