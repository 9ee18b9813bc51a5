"""The widget that explores a catalog."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import traitlets
from ipywidgets import Widget

import paimon_explore as pe
from paimon_explore.errors import InvalidInputError, NotFoundError, UnsupportedFeatureError
from paimon_explore.widgets import warehouse as module
from paimon_explore.widgets.warehouse import CatalogExplorer
from support.depth import some
from support.rest_catalog_stub import rest_catalog_stub
from support.table_kinds import TABLE_KINDS

FRONTEND = Path(module.__file__).parent / "frontend" / "src"
ROW = {"p": "2024-01-01", "k": 1, "v": 2, "w": "x"}


@pytest.fixture(scope="module")
def catalog() -> pe.Catalog:
    return pe.demo()


def names_of(widget: CatalogExplorer, database: str) -> list[object]:
    found = widget.answer({"id": 1, "op": "names", "database": database, "offset": 0})
    names = found.body["names"]
    assert isinstance(names, list)
    return names


def test_the_front_end_lists_the_traits_that_it_sets() -> None:
    source = (FRONTEND / "warehouse.js").read_text(encoding="utf-8")
    listed = re.search(r"const TRAITS = \[(.*?)\]", source, re.DOTALL)
    assert listed is not None
    own = {name for name in CatalogExplorer.class_own_traits(sync=True) if name[0] != "_"}
    assert set(re.findall(r'"(\w+)"', listed.group(1))) == own - {"code", "height"}


def test_the_front_end_has_the_columns_that_can_sort(catalog: pe.Catalog) -> None:
    source = (FRONTEND / "warehouse_list.js").read_text(encoding="utf-8")
    assert tuple(re.findall(r'key: "(\w+)"', source)) == module._COLUMNS
    with pytest.raises(traitlets.TraitError, match="Unknown column"):
        catalog.explore().sort = "nothing"


def test_it_opens_at_the_list_of_tables(catalog: pe.Catalog) -> None:
    w = catalog.explore()
    opened = w.answer({"id": 1, "op": "open"}).body
    assert opened["databases"] == ["demo"]
    assert opened["place"] == {"warehouse": catalog.warehouse}
    assert names_of(w, "demo")[:2] == [["table", "customers"], ["table", "empty"]]
    assert w.explorer is None
    assert w.code == "catalog.explore().tables()"
    assert repr(w) == repr(catalog)


def test_a_table_opens_by_a_deep_link(catalog: pe.Catalog) -> None:
    w = catalog.explore("demo.orders", tab="lsm", snapshot=2)
    assert w.explorer is not None
    assert (w.database, w.table) == ("demo", "orders")
    assert (w.explorer.tab, w.explorer.selected) == ("lsm", 2)
    assert w.code == "catalog.table('demo.orders').explore()"
    assert w.explorer.code.startswith("catalog.table('demo.orders').at(snapshot=2).inspect.lsm(")


def test_the_browser_opens_and_leaves_a_table(catalog: pe.Catalog) -> None:
    w = catalog.explore()
    w.database, w.table = "demo", "trips"
    found = w.answer({"id": 1, "op": "table", "database": "demo", "table": "trips"})
    explorer = w.explorer
    assert explorer is not None
    assert found.body == {"model": explorer.model_id}
    assert w.answer({"id": 2, "op": "table", "database": "demo", "table": "trips"}) == found
    w.close_table()
    assert w.explorer is None
    assert w.database == "demo"
    assert w.code == "catalog.explore().tables('demo')"
    other = w.open_table("demo.orders")
    assert other.inspector.view.name == "demo.orders"
    w.close()


def test_a_notebook_that_accepts_new_scripts_only_in_cells_opens_a_table_from_the_list(
    catalog: pe.Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    w = catalog.explore()

    def constructed(widget: Widget) -> None:  # as in marimo outside of a cell
        assert not widget.get_state().get("_esm")

    monkeypatch.setattr(Widget, "_widget_construction_callback", staticmethod(constructed))
    found = w.answer({"id": 1, "op": "table", "database": "demo", "table": "trips"})
    w.database, w.table = "demo", "trips"
    assert w.explorer is not None
    assert found.body["model"] == w.explorer.model_id
    assert w.explorer.inspector.view.name == "demo.trips"
    assert w.answer({"id": 2, "op": "script"}).body["esm"]


def test_a_notebook_that_cannot_nest_widgets_is_told_what_to_run(
    catalog: pe.Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_given: object, **_named: object) -> None:
        raise AssertionError

    w = catalog.explore()
    monkeypatch.setattr(Widget, "_widget_construction_callback", staticmethod(refused))
    with pytest.raises(UnsupportedFeatureError, match="Opening a table from the list") as told:
        w.answer({"id": 1, "op": "table", "database": "demo", "table": "trips"})
    assert told.value.hint == "Run in a cell: catalog.table('demo.trips').explore()"
    assert len(w.answer({"id": 2, "op": "open"}).body["databases"]) == 1  # type: ignore[arg-type]


def test_a_branch_is_a_table_of_a_deep_link(catalog: pe.Catalog) -> None:
    w = catalog.explore("demo.trips$branch_draft")
    assert w.explorer is not None
    assert w.explorer.inspector.view.branch == "draft"


def test_wrong_links_are_told(catalog: pe.Catalog) -> None:
    with pytest.raises(NotFoundError, match="Table 'nothing'"):
        catalog.explore("demo.nothing")
    with pytest.raises(NotFoundError, match="Snapshot 99"):
        catalog.explore("demo.orders", snapshot=99)
    with pytest.raises(InvalidInputError, match="contains no database"):
        catalog.explore("orders")
    with pytest.raises(InvalidInputError, match="need a table"):
        catalog.explore(tab="lsm")
    with pytest.raises(InvalidInputError, match="height"):
        catalog.explore(height=3)


@pytest.mark.parametrize(
    "message",
    [
        {"id": 1, "op": "drop"},
        {"id": 1, "op": "names", "database": "demo"},
        {"id": 1, "op": "names", "database": 3, "offset": 0},
        {"id": 1, "op": "figures", "tables": "demo"},
        {"id": 1, "op": "figures", "tables": [["demo", "table"]]},
        {"id": 1, "op": "figures", "tables": [["demo", "index", "orders"]]},
        {"id": 1, "op": "health", "tables": [["demo", "table", 1]]},
        {"id": 1, "op": "table", "database": "demo"},
    ],
)
def test_messages_that_are_no_request_are_refused(
    catalog: pe.Catalog, message: dict[str, object]
) -> None:
    with pytest.raises(InvalidInputError):
        catalog.explore().answer(message)


@pytest.mark.parametrize("name", ["../../etc", "..", "a/b", "", "x\0y"])
def test_names_from_the_browser_do_not_leave_the_warehouse(catalog: pe.Catalog, name: str) -> None:
    w = catalog.explore()
    for tables in ([["demo", "table", name]], [[name, "table", "orders"]]):
        rows = w.answer({"id": 1, "op": "figures", "tables": tables}).body["rows"]
        assert isinstance(rows, list)
        assert "problem" in rows[0]


def test_without_a_kernel_the_catalog_or_the_open_table_is_left(catalog: pe.Catalog) -> None:
    listed = catalog.explore()._repr_mimebundle_()
    assert listed is not None
    assert listed[0]["text/html"] == catalog._repr_html_()
    opened = catalog.explore("demo.orders")._repr_mimebundle_()
    assert opened is not None
    assert "<h3>demo.orders</h3>" in str(opened[0]["text/html"])


def catalogs(folder: Path) -> Iterator[tuple[str, pe.Catalog]]:
    yield "folder", pe.Catalog(folder / "folder")
    uri = f"jdbc:sqlite:{folder / 'catalog.db'}"
    yield "jdbc", pe.Catalog(metastore="jdbc", uri=uri, warehouse=str(folder / "jdbc"))
    with rest_catalog_stub(str(folder / "rest")) as stub:
        yield "rest", pe.Catalog(metastore="rest", uri=stub.url, warehouse="wh", token="t")  # noqa: S106


def test_every_kind_of_table_is_listed_in_every_kind_of_catalog(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    for place, catalog in catalogs(tmp_path):
        catalog.create_database("db", if_not_exists=True)
        keyed = {name for name, kind in TABLE_KINDS.items() if kind.merge is not None}
        kinds = some([*TABLE_KINDS.items()], 3)
        for number, (name, kind) in enumerate(kinds):
            table = catalog.create_table(
                f"db.t{number:02}",
                {"p": "STRING", "k": "INT", "v": "INT", "w": "STRING"},
                partition_by=["p"],
                primary_key=["p", "k"] if name in keyed else None,
                options=dict(kind.options),
                comment=name,
            )
            write = table.upsert if name in keyed else table.append
            write([ROW])
        rows = catalog.explore().tables(health=False).to_arrow().to_pylist()
        shown = [(row["name"], row["comment"], row["rows"], row["problem"]) for row in rows]
        wanted = [(f"t{n:02}", name, 1, None) for n, name in enumerate(dict(kinds))]
        assert shown == wanted, place
        catalog.close()
