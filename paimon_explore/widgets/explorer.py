"""The explorer widget: the front end of `inspection.explorer.explorer_state`.

e = t.explore()
e.selected = 7
e.filter = "level = 0"
e.files().to_pandas()
print(e.code)
"""

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import anywidget
import traitlets

from paimon_explore.errors import InvalidInputError, PaimonError
from paimon_explore.inspection.explorer.explorer_reports import SHEETS
from paimon_explore.inspection.explorer.explorer_state import ExplorerState, Question
from paimon_explore.inspection.explorer.static_html import explorer_html
from paimon_explore.inspection.explorer.text_rendering import explorer_text
from paimon_explore.inspection.problem import Problem, problem_of
from paimon_explore.inspection.rendering.code_snippet import Code
from paimon_explore.inspection.rendering.result import Result
from paimon_explore.inspection.table_view import TableView
from paimon_explore.inspection.views.files_view import FilesView
from paimon_explore.inspection.views.inspector import Inspector
from paimon_explore.sanitize import masked, masked_members, sanitized
from paimon_explore.widgets.column_transfer import pack_columns
from paimon_explore.widgets.front_end_requests import answer, request_number
from paimon_explore.widgets.saved_page import saved_page

_STATIC = Path(__file__).parent / "static"
_HEIGHT = 560
_TRAITS = (
    *("selected", "compare", "node", "filter", "tab", "asked", "code", "spark_code", "height"),
)
_MOST_TEXT = 4000


class Explorer(anywidget.AnyWidget):
    """A table on the screen: timeline, manifest tree, files, statistics.

    All traits can be set; the screen follows, and they follow the screen.

    Args:
        view: the table.
        selected: the snapshot to show first; None for the newest.
        height: pixels.
    """

    _esm: ClassVar[str] = (_STATIC / "explorer.js").read_text(encoding="utf-8")

    selected = traitlets.Int(0, help="snapshot under the cursor, 0 for none").tag(sync=True)
    compare = traitlets.Int(0, help="snapshot marked for comparison, 0 for none").tag(sync=True)
    node = traitlets.Unicode("", help="chosen tree node or file").tag(sync=True)
    filter = traitlets.Unicode("", help="condition on files").tag(sync=True)
    tab = traitlets.Unicode("files", help="which view is open").tag(sync=True)
    asked = traitlets.Dict(
        value_trait=traitlets.Unicode(),
        key_trait=traitlets.Unicode(),
        help="what each view is asked: {'explain': 'k > 3'}",
    ).tag(sync=True)
    code = traitlets.Unicode("", help="Python that yields what is shown").tag(sync=True)
    spark_code = traitlets.Unicode("", help="PySpark that reads the snapshot").tag(sync=True)
    height = traitlets.Int(_HEIGHT, help="pixels").tag(sync=True)

    def __init__(
        self, view: TableView, *, selected: int | None = None, height: int = _HEIGHT
    ) -> None:
        self._state = ExplorerState(Inspector(view))
        self.problem: Problem | None = None
        first = self._state.newest if selected is None else self._state.checked_snapshot(selected)
        super().__init__(selected=first, height=height)
        self._echo()
        self.observe(self._echo, ["selected", "tab", "filter", "node", "asked", "compare"])
        self.on_msg(self._receive)

    @property
    def inspector(self) -> Inspector:
        """The table as seen from the selected snapshot."""
        return self._state.inspector.at(self.selected)

    def files(self) -> FilesView:
        """The files in the grid: those of the selected snapshot that pass the filter.

        Raises:
            InvalidInputError: the filter cannot be understood.
            PaimonError: a manifest cannot be read.
        """
        return self.inspector.files(self.filter)

    def sheet(self) -> Result:
        """What the open view answers: of LSM, Diff, Explain, Key, Why, Health, Schema, Expiry.

        Raises:
            InvalidInputError: the open view is none of these, or what it is asked is not
                understood.
            PaimonError: a file cannot be read.
        """
        return self._state.sheet(self.tab, self.selected, self._question())

    def _question(self) -> Question:
        """What the open view is asked; of the rest of the selection what matters to it."""
        return Question(
            text=self.asked.get(self.tab, ""),
            compare=self.compare if self.tab == "diff" else 0,
            node=self.node if self.tab == "why" else "",
        )

    def state(self) -> dict[str, object]:
        """What is shown, as JSON: the selection, the table and its timeline."""
        values = self.trait_values()
        traits = {name: values[name] for name in sorted(_TRAITS)}
        opened = self._state.open()
        columns = {name: values.tolist() for name, values in opened.columns.items()}
        shown = masked_members({"traits": traits, "table": opened.body["table"]})
        return {**shown, "timeline": columns}

    def save_html(self, path: str | Path) -> None:
        """Write the explorer as it is to one file that needs neither Python nor a network.

        The page can be moved through: the timeline, the files of every snapshot, the views of the
        selected one. Where scripts do not run it is a static picture.
        """
        state = ExplorerState(self._state.inspector)
        values = self.trait_values()
        page = saved_page(state, {name: values[name] for name in _TRAITS})
        Path(path).write_text(page, encoding="utf-8")

    def __repr__(self) -> str:
        """The table as a card of text."""
        return explorer_text(self.inspector)

    def _repr_mimebundle_(
        self, **kwargs: dict[str, object]
    ) -> tuple[dict[str, object], dict[str, object]] | None:
        """The widget, and for places without a kernel a static picture of it."""
        made = super()._repr_mimebundle_(**kwargs)
        if made is None:
            return None
        data, metadata = made
        return {**data, **self._static_faces()}, dict(metadata)

    def _static_faces(self) -> dict[str, object]:
        try:
            html = explorer_html(self.inspector)
            return {"text/html": html, "text/plain": explorer_text(self.inspector)}
        except PaimonError as error:
            return {"text/plain": f"Explorer: {error.message}"}

    @traitlets.validate("selected", "compare")
    def _checked(self, proposal: Mapping[str, object]) -> int:
        """Refuse snapshots that are not there."""
        value = proposal["value"]
        if not isinstance(value, int):
            raise traitlets.TraitError("a snapshot id must be an integer")
        try:
            return self._state.checked_snapshot(value)
        except PaimonError as error:
            raise traitlets.TraitError(str(error)) from error

    def _echo(self, _change: object = None) -> None:
        if self.tab in SHEETS:
            try:
                found = self.sheet().code
            except PaimonError:
                found = Code()
            self.code, self.spark_code = masked(found.python), masked(found.spark)
            return
        lines = self._state.code(self.selected, self.tab, self.filter, self.node)
        self.code, self.spark_code = map(masked, lines)

    def _receive(self, _widget: object, message: object, _buffers: object) -> None:
        """Answer a request of the browser; what fails is shown there, not raised here."""
        number = request_number(message)
        if number is None or not isinstance(message, Mapping):
            return
        try:
            found = answer(self._state, message)
        except PaimonError as error:
            self._refuse(number, problem_of(error))
        except Exception as error:  # noqa: BLE001 - the border: a front end must hear of any failure
            self._refuse(number, Problem(kind=type(error).__name__, message=sanitized(str(error))))
        else:
            specs, data = pack_columns(found.columns)
            content = {"id": number, "ok": True, "body": found.body, "columns": specs}
            self.send(content, [data] if data else [])

    def _refuse(self, number: int, problem: Problem) -> None:
        self.problem = problem
        self.send({"id": number, "ok": False, "error": problem.state()})


def explore(view: TableView, *, selected: int | None = None, height: int = _HEIGHT) -> Explorer:
    """The explorer of a table; what `Table.explore` returns.

    Raises:
        NotFoundError: there is no such snapshot.
        InvalidInputError: the height is not usable.
    """
    if not 200 <= height <= 4000:  # noqa: PLR2004 - pixels
        raise InvalidInputError(f"height must be from 200 to 4000 pixels, not {height}.")
    return Explorer(view, selected=selected, height=height)
