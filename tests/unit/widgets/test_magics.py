"""The magics in a real IPython shell, without a notebook."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell

import paimon_explore as pe
from paimon_explore.errors import InvalidInputError, NotFoundError
from paimon_explore.inspection.explain.commit_trace_report import Trace
from paimon_explore.table.catalog.warehouse_listing import WarehouseListing
from paimon_explore.widgets.explorer import Explorer


@pytest.fixture(scope="module")
def started() -> InteractiveShell:
    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "paimon_explore")
    return shell


def magic_of(shell: InteractiveShell, kind: str, name: str) -> Callable[..., object]:
    """A magic as a function: what it raises is not printed by the shell."""
    found: Callable[..., object] = shell.magics_manager.magics[kind][name]
    return found


@pytest.fixture
def shell(started: InteractiveShell) -> Iterator[InteractiveShell]:
    """A shell without variables of other tests."""
    yield started
    for name in ("t", "other", "warehouse", "ran"):
        started.user_ns.pop(name, None)


@pytest.fixture
def warehouse(tmp_path: Path) -> pe.Catalog:
    return pe.demo(tmp_path / "wh")


def test_a_path_shows_the_explorer_and_names_the_table(
    shell: InteractiveShell, warehouse: pe.Catalog
) -> None:
    path = f"{warehouse.warehouse}/demo.db/orders"
    shown = shell.run_line_magic("paimon", f"'{path}' t --snapshot 2")
    assert isinstance(shown, Explorer)
    assert shown.selected == 2
    assert shell.user_ns["t"].snapshot.id == 2
    shell.user_ns["where"] = path
    assert isinstance(shell.run_line_magic("paimon", "where"), Explorer)


def test_a_warehouse_is_listed(shell: InteractiveShell, warehouse: pe.Catalog) -> None:
    shown = shell.run_line_magic("paimon", warehouse.warehouse)
    assert isinstance(shown, WarehouseListing)
    assert "demo.orders" in repr(shown)
    assert "<td>" in shown._repr_html_()


def test_lines_that_cannot_be_understood_are_refused(
    shell: InteractiveShell, tmp_path: Path
) -> None:
    magics = magic_of(shell, "line", "paimon")
    with pytest.raises(InvalidInputError, match="required: path"):
        magics("")
    with pytest.raises(InvalidInputError, match="quotation"):
        magics("'x")
    with pytest.raises(InvalidInputError, match="not a valid variable name"):
        magics("x 1y")
    with pytest.raises(NotFoundError):
        magics(str(tmp_path / "nothing"))


def test_a_cell_is_traced(shell: InteractiveShell, warehouse: pe.Catalog) -> None:
    shell.user_ns["t"] = warehouse.table("demo.orders")
    done = magic_of(shell, "cell", "paimon_trace")("", "t.delete('id = 1'); ran = 1")
    assert isinstance(done, Trace)
    assert shell.user_ns["ran"] == 1
    (table,) = done.tables
    (commit,) = table.commits
    (made,) = commit.snapshot_ids
    kinds = {change.kind for change in table.changes}
    assert {"snapshot", "manifest", "manifest list", "hint", "data file"} <= kinds
    assert f"snapshot-{made}" in str(done.to_arrow().column("path").to_pylist())
    assert len(repr(done).splitlines()) <= 25


def test_a_cell_that_fails_is_traced_and_fails(
    shell: InteractiveShell, warehouse: pe.Catalog, capsys: pytest.CaptureFixture[str]
) -> None:
    shell.user_ns["t"] = warehouse.table("demo.orders")
    with pytest.raises(ZeroDivisionError):
        magic_of(shell, "cell", "paimon_trace")("t", "t.delete('id = 1'); 1/0")
    assert "ZeroDivisionError" in capsys.readouterr().out


def test_there_must_be_something_to_watch(shell: InteractiveShell) -> None:
    magic = magic_of(shell, "cell", "paimon_trace")
    with pytest.raises(InvalidInputError, match="No variable contains"):
        magic("", "pass")
    with pytest.raises(InvalidInputError, match="Variable 'nobody' is not defined"):
        magic("nobody", "pass")


def test_a_table_shows_itself_as_the_explorer(
    shell: InteractiveShell, warehouse: pe.Catalog
) -> None:
    formatter = shell.display_formatter
    assert formatter is not None
    data, _ = formatter.format(  # type: ignore[no-untyped-call]  # IPython's
        warehouse.table("demo.orders")
    )
    assert "application/vnd.jupyter.widget-view+json" in data
    assert "text/html" in data
