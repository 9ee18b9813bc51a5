"""What a notebook shows of a catalog."""

from collections.abc import Iterator

from paimon_explore import Catalog
from paimon_explore.metastore.filesystem_metastore import FilesystemMetastore
from paimon_explore.table.catalog.catalog_html import catalog_html
from support.small_tables import new_catalog

COLUMNS = {"id": "INT"}


class WithViews(FilesystemMetastore):
    """A folder with views whose names are not harmless."""

    asked = 0

    def views(self, database: str, pattern: str | None = None) -> Iterator[str]:
        del pattern
        for number in range(1_000):
            type(self).asked += 1
            yield f"{database}<{number}>"


def test_databases_and_tables_are_shown() -> None:
    catalog = new_catalog()
    for name in ("db.a", "db.b"):
        catalog.create_table(name, COLUMNS)
    catalog.create_database("empty")
    shown = catalog._repr_html_()
    assert catalog.warehouse in shown
    assert "<tr><th>db</th><td>a, b</td><td></td><td></td></tr>" in shown
    assert "<tr><th>empty</th><td></td><td></td><td></td></tr>" in shown


def test_names_are_escaped_and_no_more_are_asked_for_than_shown() -> None:
    catalog = new_catalog()
    inner = catalog._metastore
    assert isinstance(inner, FilesystemMetastore)
    metastore = WithViews(inner.file_io, inner.warehouse)
    shown = catalog_html(metastore, {"metastore": "x", "uri": "<script>"})
    assert "db&lt;0&gt;, db&lt;1&gt;" in shown
    assert "…" in shown
    assert "<script>" not in shown
    assert WithViews.asked == 31


def test_many_databases_are_counted() -> None:
    catalog = new_catalog()
    for number in range(22):
        catalog.create_database(f"d{number:02}")
    shown = catalog._repr_html_()
    assert "<th>d19</th>" in shown
    assert "<th>d20</th>" not in shown
    assert "and 3 more databases" in shown


def test_a_catalog_that_cannot_be_read_shows_the_error() -> None:
    shown = Catalog("/no/such/warehouse")._repr_html_()
    assert "does not exist" in shown


def test_a_server_that_is_gone_does_not_break_the_repr() -> None:
    catalog = Catalog(metastore="hive", uri="thrift://no.such.host.invalid", warehouse="/w")
    catalog._metastore._tables.client._sleep = lambda _: None  # type: ignore[attr-defined]
    text = repr(catalog)
    assert text.startswith("Catalog(metastore='hive', uri='thrift://no.such.host.invalid'")
    assert "Cannot connect to the Hive metastore" in text
    assert "Cannot connect to the Hive metastore" in catalog._repr_html_()
