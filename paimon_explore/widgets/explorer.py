"""The explorer widget, the front end of `inspection.explorer.explorer_state`.

e = t.explore()
e.selected = 7
e.filter = "level = 0"
e.files().to_pandas()
print(e.code)
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import traitlets

from paimon_explore.errors import InvalidInputError, PaimonError
from paimon_explore.inspection.explorer.explorer_reports import REPORTS
from paimon_explore.inspection.explorer.explorer_state import Answer, ExplorerState, ViewInput
from paimon_explore.inspection.explorer.explorer_tabs import Opening
from paimon_explore.inspection.explorer.rows_session import (
    file_of_tree_node,
    parse_input,
    rows_of_input,
)
from paimon_explore.inspection.explorer.sql_session import result_of, sql_code
from paimon_explore.inspection.explorer.static_html import explorer_html
from paimon_explore.inspection.explorer.text_rendering import explorer_text
from paimon_explore.inspection.explorer.timeline_update import TimelineUpdate
from paimon_explore.inspection.rendering.code_snippet import Code
from paimon_explore.inspection.rendering.result import Result
from paimon_explore.inspection.rows.rows_view import RowsView
from paimon_explore.inspection.table_view import TableView
from paimon_explore.inspection.views.files_view import FilesView
from paimon_explore.inspection.views.inspector import Inspector
from paimon_explore.sanitize import masked, masked_members
from paimon_explore.widgets.bundles import bundle
from paimon_explore.widgets.saved_page import saved_page
from paimon_explore.widgets.widget_base import AnsweringWidget, synced_int, synced_text
from paimon_explore.widgets.widget_requests import Message, answer, number

_AUTOMATIC = 0
"""Height that follows the window."""
_TRAITS = (
    *("selected", "compare", "node", "filter", "where", "tab", "asked", "code", "spark_code"),
    "height",
)
_FILTERED = ("explain", "profile")
"""Report views that use the condition on rows if they have no input of their own."""
MIN_SECONDS = 0.5
"""The shortest interval of polls."""
_MAX_SECONDS = 3600
OVERVIEW = Opening()
"""The overview of the latest snapshot."""


class Explorer(AnsweringWidget):
    """The explorer of a table: timeline, manifest tree, files, statistics, reports.

    All traits are synchronized with the browser in both directions.

    Args:
        view: the table.
        opening: what it shows first.
        height: height in pixels; 0 to follow the height of the window.
    """

    _esm: ClassVar[str] = bundle("explorer")

    selected = synced_int(0, "id of the selected snapshot; 0 if none is selected")
    compare = synced_int(0, "id of the snapshot to compare with; 0 if there is none")
    node = synced_text("", "path of the selected tree node or file")
    filter = synced_text("", "SQL condition that selects the files to list")
    where = synced_text(
        "", "SQL condition on rows, for the views that explain, profile or show rows"
    )
    tab = synced_text("overview", "name of the open view")
    asked = traitlets.Dict(
        value_trait=traitlets.Unicode(),
        key_trait=traitlets.Unicode(),
        help="input of each view, e.g. {'explain': 'k > 3'}",
    ).tag(sync=True)
    code = synced_text("", "Python code that reproduces the view")
    spark_code = synced_text("", "PySpark code that reads the selected snapshot")
    height = synced_int(_AUTOMATIC, "height in pixels; 0 to follow the height of the window")
    live = traitlets.Float(
        0.0, help="seconds between polls for new snapshots; 0 if the table is not followed"
    ).tag(sync=True)

    def __init__(
        self,
        view: TableView,
        opening: Opening = OVERVIEW,
        *,
        height: int = _AUTOMATIC,
        live: float = 0.0,
    ) -> None:
        self._state = ExplorerState(Inspector(view))
        chosen = {"selected": self._state.newest, **opening.traits(self._state.inspector)}
        super().__init__(height=height, live=live, **chosen)
        self._echo()
        self.observe(self._echo, ["selected", "tab", "filter", "where", "node", "asked", "compare"])
        self.on_msg(self._receive)

    @property
    def inspector(self) -> Inspector:
        """The inspector of the selected snapshot."""
        return self._state.inspector.at(self.selected)

    def poll(self) -> TimelineUpdate:
        """Look for new snapshots, as the browser does every `live` seconds.

        If the newest snapshot is selected, the new newest one is selected; if the selected one has
        expired or was rolled back, the nearest one.

        Raises:
            PaimonError: the snapshots cannot be read.

        >>> # while True: print(e.poll().added)
        """
        file = self._state.file_name(self.node)
        found = self._state.poll(self.selected)
        if found.changed:
            if file:
                self.node = f"name/{file}"
            if self.compare in found.removed:
                self.compare = 0
            if self.node.split("/")[0] == str(self.selected) and found.selected != self.selected:
                self.node = ""
            self.selected = found.selected
        return found

    def _polled(self, version: int) -> Answer:
        """The answer to a poll of the browser: the timeline if its version is another one."""
        found = self.poll()
        if version == self._state.version:
            return Answer(body={"changed": False})
        opened = self._state.open()
        body = {**opened.body, **found.state(), "node": self.node, "changed": True}
        return Answer(body=body, columns=opened.columns)

    def files(self) -> FilesView:
        """The files of the selected snapshot that match the filter.

        Raises:
            InvalidInputError: the filter is invalid.
            PaimonError: a manifest cannot be read.
        """
        return self.inspector.files(self.filter)

    def result(self) -> Result:
        """The result of the open view, such as Rows, LSM, Diff, Explain, Key, Why or Health.

        Raises:
            InvalidInputError: the open view has no result, or its input is invalid.
            PaimonError: a file cannot be read.
        """
        if self.tab == "rows":
            return self.rows()
        if self.tab == "sql":
            return result_of(self.inspector, self.asked.get("sql", ""))
        if self.tab == "files":
            return self.files()
        if self.tab == "partitions":
            return self.inspector.partitions_view()
        return self._state.result(self.tab, self.selected, self._view_input())

    def rows(self) -> RowsView:
        """The rows that the Rows view shows; its input is `asked["rows"]` and `where`.

        Raises:
            InvalidInputError: the input is invalid.
            PaimonError: a manifest cannot be read.
        """
        given = parse_input(self.asked.get("rows", ""))
        given = given if given.where else replace(given, where=self.where)
        node = self.node
        file = file_of_tree_node(self.inspector, node) or self._state.file_name(node)
        return rows_of_input(self.inspector, given, file)

    def _view_input(self) -> ViewInput:
        """The input of the open view, with the parts of the selection that it uses."""
        text = self.asked.get(self.tab, "")
        return ViewInput(
            text=text if text or self.tab not in _FILTERED else self.where,
            compare=self.compare if self.tab == "diff" else 0,
            node=self.node if self.tab == "why" else "",
        )

    def state(self) -> dict[str, object]:
        """The selection, the table and its timeline as JSON."""
        values = self.trait_values()
        traits = {name: values[name] for name in sorted(_TRAITS)}
        opened = self._state.open()
        columns = {name: values.tolist() for name, values in opened.columns.items()}
        shown = masked_members({"traits": traits, "table": opened.body["table"]})
        return {**shown, "timeline": columns}

    def save_html(self, path: str | Path) -> None:
        """Save the explorer to one HTML file that needs neither Python nor a network.

        The page is interactive: it has the timeline, the files of all snapshots, and the views of
        the selected snapshot. Values of more than 2,000 characters are cut, and end with their
        length. Without JavaScript it shows a static rendering.
        """
        state = ExplorerState(self._state.inspector)
        state.sql_session = self._state.sql_session
        values = self.trait_values()
        page = saved_page(state, {name: values[name] for name in _TRAITS})
        Path(path).write_text(page, encoding="utf-8", newline="\n")

    def __repr__(self) -> str:
        """The table, its selected snapshot and its timeline as text."""
        return explorer_text(self.inspector)

    def static_rendering(self) -> dict[str, object]:
        """The explorer as HTML and as text."""
        try:
            html = explorer_html(self.inspector)
            return {"text/html": html, "text/plain": explorer_text(self.inspector)}
        except PaimonError as error:
            return {"text/plain": f"Explorer: {error.message}"}

    @traitlets.validate("selected", "compare")
    def _checked(self, proposal: Mapping[str, object]) -> int:
        """Reject snapshots that do not exist."""
        value = proposal["value"]
        if not isinstance(value, int):
            raise traitlets.TraitError("A snapshot id must be an integer.")
        try:
            return self._state.checked_snapshot(value)
        except PaimonError as error:
            raise traitlets.TraitError(str(error)) from error

    @traitlets.validate("where")
    def _checked_condition(self, proposal: Mapping[str, object]) -> str:
        """Reject conditions that are invalid for the selected snapshot."""
        text = str(proposal["value"])
        try:
            self._state.condition(self.selected, text)
        except PaimonError as error:
            raise traitlets.TraitError(str(error)) from error
        return text

    def _echo(self, change: Mapping[str, object] | None = None) -> None:
        if self.tab == "rows":
            return  # `answer` sets the code once the rows are open
        if self.tab == "sql":
            text = self.asked.get("sql", "")
            if change and change["name"] == "asked" and text == self._state.sql_session.answered:
                return  # the query arrives after its result, whose code `answer` has set
            shown = sql_code(self.inspector, text or "SELECT * FROM t")
            self.code, self.spark_code = masked(shown.python), masked(shown.spark)
            return
        if self.tab in REPORTS and self.tab != "overview":  # whose code is known without it
            try:
                found = self.result().code
            except PaimonError:
                found = Code()
            self.code, self.spark_code = masked(found.python), masked(found.spark)
            return
        lines = self._state.code(self.selected, self.tab, self.filter, self.node)
        self.code, self.spark_code = map(masked, lines)

    @traitlets.validate("live")
    def _checked_live(self, proposal: Mapping[str, object]) -> float:
        """Reject negative intervals; short ones become `MIN_SECONDS`."""
        value = proposal["value"]
        if not isinstance(value, float) or not 0 <= value <= _MAX_SECONDS:
            message = f"live must be from 0 to {_MAX_SECONDS} seconds; 0 means off."
            raise traitlets.TraitError(message)
        return max(value, MIN_SECONDS) if value else 0.0

    def answer(self, message: Message) -> Answer:
        """Answer a request; see `widget_requests`."""
        if message.get("op") == "poll":
            found = self._polled(number(message, "version"))
            return replace(found, body=masked_members(found.body))
        found = answer(self._state, message)
        codes = found.body.get("codes")
        if isinstance(codes, Mapping):
            self.code, self.spark_code = codes["python"], codes.get("pyspark", "")
        return found


def explore(
    view: TableView, opening: Opening = OVERVIEW, *, height: int | None = None, live: float = 0.0
) -> Explorer:
    """Create the explorer of a table; backs `Table.explore`.

    Raises:
        NotFoundError: a snapshot does not exist.
        InvalidInputError: the tab does not exist or has no input, or the height or the interval is
            out of range.
    """
    if not 0 <= live <= _MAX_SECONDS:
        raise InvalidInputError(f"live must be from 0 to {_MAX_SECONDS} seconds, not {live}.")
    if height is not None and not 200 <= height <= 4000:  # noqa: PLR2004 - pixels
        raise InvalidInputError(f"height must be from 200 to 4000 pixels, not {height}.")
    return Explorer(view, opening, height=_AUTOMATIC if height is None else height, live=live)
