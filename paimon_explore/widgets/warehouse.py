"""The catalog explorer widget: the tables of a catalog, and the explorer of the open one.

w = catalog.explore()
w.tables().to_pandas()
w.open_table("db.orders", tab="lsm", snapshot=7)
w.explorer.files()
w.close_table()
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import ClassVar

import traitlets

from paimon_explore.errors import InvalidInputError, PaimonError, UnsupportedFeatureError
from paimon_explore.inspection.explorer.explorer_state import Answer
from paimon_explore.inspection.explorer.explorer_tabs import Opening
from paimon_explore.inspection.explorer.static_html import explorer_html
from paimon_explore.inspection.explorer.text_rendering import explorer_text
from paimon_explore.inspection.rendering.code_snippet import call_code
from paimon_explore.inspection.table_view import TableView
from paimon_explore.inspection.warehouse.warehouse_state import (
    ObjectKey,
    WarehouseSource,
    WarehouseState,
)
from paimon_explore.inspection.warehouse.warehouse_tables import ObjectType, WarehouseTables
from paimon_explore.sanitize import masked, masked_members
from paimon_explore.widgets.bundles import bundle
from paimon_explore.widgets.explorer import Explorer
from paimon_explore.widgets.widget_base import AnsweringWidget, synced_int, synced_text
from paimon_explore.widgets.widget_requests import (
    Message,
    checked_text,
    items,
    number,
    operation_of,
    text,
)

_KEY_PARTS = 3
_TYPES = {kind.value: kind for kind in ObjectType}


def warehouse_answer(state: WarehouseState, message: Message) -> Answer:
    """Answer a request.

    Raises:
        InvalidInputError: the request is unknown or invalid.
        PaimonError: the catalog cannot be read.
    """
    found = operation_of(_OPERATIONS, message)(state, message)
    return replace(found, body=masked_members(found.body))


def _open(state: WarehouseState, message: Message) -> Answer:
    if message.get("refresh") is True:
        state.refresh()
    return state.open()


def _keys(message: Message) -> list[ObjectKey]:
    return [_key(one) for one in items(message, "tables")]


def _key(value: object) -> ObjectKey:
    if not isinstance(value, list) or len(value) != _KEY_PARTS:
        raise InvalidInputError("A table in the request must be a list: database, type, name.")
    database, kind, name = map(checked_text, value)
    if kind not in _TYPES:
        raise InvalidInputError(f"Unknown type of object {kind[:40]!r}.")
    return ObjectKey(database, name, _TYPES[kind])


_OPERATIONS: Mapping[str, Callable[[WarehouseState, Message], Answer]] = {
    "open": _open,
    "names": lambda s, message: s.names(text(message, "database"), number(message, "offset")),
    "figures": lambda state, message: state.figures(_keys(message)),
    "health": lambda state, message: state.health(_keys(message)),
}


_HEIGHT = 560
_HEADER = 40
_MIN_EXPLORER = 320
_MIN_HEIGHT, _MAX_HEIGHT = 200, 4000
_COLUMNS = (
    *("name", "rows", "size", "files", "snapshots", "time", "kind", "user", "health", "comment"),
)


class CatalogExplorer(AnsweringWidget):
    """The explorer of a catalog: its databases and tables, and the explorer of an open table.

    All traits are synchronized with the browser in both directions.

    Args:
        source: the catalog.
        height: height in pixels.
    """

    _esm: ClassVar[str] = bundle("warehouse")

    database = synced_text("", "the shown database; '' for all")
    table = synced_text("", "name of the open table in its database")
    search = synced_text("", "text that the names of listed tables contain")
    sort = synced_text("name", "name of the column that sorts the tables")
    descending = traitlets.Bool(default_value=False, help="whether the order is reversed").tag(
        sync=True
    )
    code = synced_text("", "Python code that reproduces the view")
    height = synced_int(_HEIGHT, "height in pixels")

    def __init__(self, source: WarehouseSource, *, height: int = _HEIGHT) -> None:
        self._state = WarehouseState(source)
        self._opened: tuple[str, str, Explorer] | None = None
        super().__init__(height=height)
        self._echo()
        self.observe(self._echo, ["database", "table"])
        self.on_msg(self._receive)

    @property
    def explorer(self) -> Explorer | None:
        """The explorer of the open table; None while the tables are listed.

        Raises:
            PaimonError: the table cannot be opened.
        """
        return self._explorer_of(self.database, self.table) if self.table else None

    def open_table(
        self, table: str, *, tab: str | None = None, snapshot: int | None = None
    ) -> Explorer:
        """Open the explorer of a table.

        Args:
            table: `database.table`.
            tab: name of the view to show, such as `lsm`; None for the usual one.
            snapshot: id of the snapshot to select; None for the latest.

        Raises:
            InvalidInputError: the name has no database, or there is no such tab.
            PaimonError: the table or the snapshot does not exist, or cannot be read.
        """
        database, dot, name = table.partition(".")
        if not (database and dot and name):
            hint = "Write it as 'database.table'."
            raise InvalidInputError(f"Table name {table!r} contains no database.", hint=hint)
        found = self._explorer_of(database, name)
        if snapshot is not None:
            found.inspector.timeline().position_of(snapshot)
            found.selected = snapshot
        if tab is not None:
            found.tab = Opening(tab=tab).checked_tab()
        self.database, self.table = database, name
        return found

    def close_table(self) -> None:
        """Return to the list of tables."""
        self.table = ""

    def tables(self, database: str | None = None, *, health: bool = True) -> WarehouseTables:
        """Return the tables, views and functions with their figures; reads those not yet known.

        Args:
            database: the database; None for the shown one, or all.
            health: whether to check the health of tables, which reads more metadata.

        Raises:
            PaimonError: the catalog or the database cannot be listed.
        """
        return self._state.tables(self.database if database is None else database, health=health)

    def refresh(self) -> None:
        """Forget the names and figures, so that they are read again."""
        self._state.refresh()

    def __repr__(self) -> str:
        """The open table, or the catalog, as text."""
        return str(self.static_rendering()["text/plain"])

    def static_rendering(self) -> dict[str, object]:
        """The open table, or the catalog, as HTML and as text."""
        try:
            found = self.explorer
            if found is not None:
                inspector = found.inspector
                html, plain = explorer_html(inspector), explorer_text(inspector)
                return {"text/html": html, "text/plain": plain}
        except PaimonError as error:
            return {"text/plain": f"Catalog explorer: {error.message}"}
        source = self._state.source
        return {"text/html": source.html(), "text/plain": source.text()}

    def answer(self, message: Message) -> Answer:
        """Answer a request; see `warehouse_requests`."""
        match message.get("op"):
            case "table":
                found = self._explorer_of(text(message, "database"), text(message, "table"))
                return Answer(body={"model": found.model_id or ""})
            case "script":
                return Answer(body={"esm": bundle("explorer")})
            case _:
                return warehouse_answer(self._state, message)

    def close(self) -> None:
        """Close the widget, and the explorer in it."""
        self._close_explorer()
        super().close()

    def _close_explorer(self) -> None:
        if self._opened is not None:
            self._opened[2].close()
            self._opened = None

    def _explorer_of(self, database: str, table: str) -> Explorer:
        """The explorer of a table; that of the table before is closed."""
        if self._opened is not None and self._opened[:2] == (database, table):
            return self._opened[2]
        view = self._state.source.view(database, table)
        self._close_explorer()
        expression = call_code(f"{self._state.source.expression}.table", f"{database}.{table}")
        height = max(self.height - _HEADER, _MIN_EXPLORER)
        made = _nested_explorer(replace(view, expression=expression), height)
        self._opened = (database, table, made)
        return made

    @traitlets.validate("sort")
    def _checked_sort(self, proposal: Mapping[str, object]) -> object:
        """Reject columns that do not exist."""
        if proposal["value"] not in _COLUMNS:
            known = ", ".join(_COLUMNS)
            raise traitlets.TraitError(f"Unknown column; the columns are {known}.")
        return proposal["value"]

    def _echo(self, _change: object = None) -> None:
        catalog = self._state.source.expression
        if self.table:
            found = f"{call_code(f'{catalog}.table', f'{self.database}.{self.table}')}.explore()"
        else:
            found = call_code(f"{catalog}.explore().tables", *filter(None, [self.database]))
        self.code = masked(found)


class _NestedExplorer(Explorer):
    """An explorer without a script of its own: the front end of the catalog explorer runs it."""

    _esm: ClassVar[str] = ""


def _nested_explorer(view: TableView, height: int) -> Explorer:
    """The explorer of a table that is opened from the list.

    marimo serves scripts of widgets only if they are created while a cell runs, so there the
    explorer is created without its script.

    Raises:
        UnsupportedFeatureError: the notebook cannot create a widget now.
    """
    try:
        return Explorer(view, height=height)
    except PaimonError:
        raise
    except Exception:  # noqa: BLE001 - the notebook's own, of any kind
        try:
            return _NestedExplorer(view, height=height)
        except Exception as error:
            feature = "Opening a table from the list in this notebook"
            hint = f"Run in a cell: {view.expression}.explore()"
            raise UnsupportedFeatureError(feature, hint=hint) from error


def explore_catalog(
    source: WarehouseSource,
    *,
    table: str | None = None,
    tab: str | None = None,
    snapshot: int | None = None,
    height: int = _HEIGHT,
) -> CatalogExplorer:
    """Create the explorer of a catalog; backs `Catalog.explore`.

    Raises:
        InvalidInputError: the height is out of range, or `tab` or `snapshot` is given without
            `table`.
        PaimonError: the table or the snapshot does not exist.
    """
    if not _MIN_HEIGHT <= height <= _MAX_HEIGHT:
        raise InvalidInputError(
            f"height must be from {_MIN_HEIGHT} to {_MAX_HEIGHT} pixels, not {height}."
        )
    made = CatalogExplorer(source, height=height)
    if table is not None:
        made.open_table(table, tab=tab, snapshot=snapshot)
    elif tab is not None or snapshot is not None:
        raise InvalidInputError(
            "The arguments tab and snapshot need a table.", hint="Pass table='database.name'."
        )
    return made
