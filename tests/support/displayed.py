"""Everything that a table shows: each public result as each screen draws it."""

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import paimon_explore as pe
from paimon_explore.errors import PaimonError
from paimon_explore.inspection.explorer.explorer_reports import REPORTS
from paimon_explore.inspection.explorer.explorer_state import ExplorerState
from paimon_explore.inspection.rendering.result import Result
from paimon_explore.inspection.system_tables.history_tables import SYSTEM_TABLES
from paimon_explore.table.catalog.catalog_system_tables import TABLE_OPTIONS
from paimon_explore.table.table import Table
from paimon_explore.widgets.widget_requests import answer

_DATA_PATHS = frozenset({"file_path", "path"})
"""Columns of Arrow results that hold paths as they are: programs open them."""

Displayed = tuple[str, str]
"""What is shown, and its text."""


def displayed(table: Table, catalog: pe.Catalog, folder: Path) -> Iterator[Displayed]:
    """Each text with what it is."""
    for name, show in _values(table, catalog).items():
        try:
            value = show()
        except PaimonError as error:
            yield f"{name}: error", f"{error!s} {error!r} {error.message} {error.hint}"
            continue
        yield from _faces(name, value)
    yield from _system_tables(table, catalog)
    yield from _answers(table)
    yield from _bytes(table)
    page = folder / "page.html"
    explorer = table.explore()
    explorer.save_html(page)
    yield "saved page", page.read_text(encoding="utf-8")
    yield "explorer's traits", json.dumps({n: str(v) for n, v in explorer.trait_values().items()})


def _values(table: Table, catalog: pe.Catalog) -> dict[str, Callable[[], object]]:
    return {
        "catalog": lambda: catalog,
        "table": lambda: table,
        "schema": lambda: table.schema,
        "schema's options": lambda: table.schema.options,
        "options": lambda: table.options,
        "store": lambda: table._store,
        "snapshot": lambda: table.snapshot,
        "snapshots": lambda: table.snapshots,
        "schemas": lambda: table.schemas,
        "tags": lambda: table.tags,
        "branches": lambda: table.branches,
        "consumers": lambda: table.maintenance.consumers,
        "scan": table.scan,
        "plan": lambda: table.scan().plan(),
        "splits": lambda: list(table.scan().plan().splits),
        "timeline": table.inspect.timeline,
        "files": table.files,
        "partitions": table.partitions,
        "heat": table.inspect.heat,
        "tree": table.inspect.tree,
        "node": table.inspect.node,
        "node schema": lambda: table._inspector().schema(table.schema.id),
        "bytes of the schema": lambda: table.inspect.bytes(f"schema-{table.schema.id}"),
        "byte": lambda: table.inspect.bytes(f"schema-{table.schema.id}").at(100),
        "overview": table.inspect.overview,
        "replay": table.inspect.replay,
        "diff": lambda: table.diff(1),
        "explain": table.explain,
        "lsm": table.inspect.lsm,
        "health": table.health,
        "schema history": table.inspect.schema_history,
        "history": lambda: table.history(1),
        "expiry": table.what_if.expire_snapshots,
        "profile": table.profile,
        "profile of rows": lambda: table.profile(exact=True),
        "what if": lambda: table.what_if,
        "compaction preview": table.what_if.compact,
        "options preview": lambda: table.what_if.options({"num-levels": "4"}),
        "comparison": partial(pe.compare, table),
        "inspect": lambda: table.inspect,
        "maintenance": lambda: table.maintenance,
        "findings": table.maintenance.fsck,
        "explorer": table.explore,
        "no branch": lambda: pe.open_table(table.path, branch="nope"),
        "no snapshot": lambda: table.at(snapshot=99),
        "no column": lambda: table.scan(columns=["nope"]),
        "no table": lambda: pe.open_table(f"{table.path}x"),
    }


def _faces(name: str, value: object) -> Iterator[Displayed]:
    yield f"repr of {name}", repr(value)
    yield f"str of {name}", str(value)
    html = getattr(value, "_repr_html_", None)
    if callable(html):
        yield f"HTML of {name}", str(html())
    state = getattr(value, "state", None)
    if callable(state):
        yield f"state of {name}", json.dumps(state(), ensure_ascii=False)
    if isinstance(value, Result):
        yield f"figure of {name}", value.plot().to_json()
    bundle = getattr(value, "_repr_mimebundle_", None)
    if callable(bundle):
        yield f"notebook output of {name}", json.dumps(bundle(), default=repr, ensure_ascii=False)


def _system_tables(table: Table, catalog: pe.Catalog) -> Iterator[Displayed]:
    for name in sorted(SYSTEM_TABLES):
        rows = getattr(table.inspect, name)()
        kept = [column for column in rows.column_names if column not in _DATA_PATHS]
        yield f"${name}", json.dumps(rows.select(kept).to_pylist(), default=str, ensure_ascii=False)
        yield f"repr of ${name}", repr(table.inspect.system_table(name))
    rows = catalog.system_table("sys.all_table_options").to_arrow()
    assert rows.schema == TABLE_OPTIONS
    yield "sys.all_table_options", str(rows.to_pylist())
    yield (
        "sys.catalog_options",
        str(catalog.system_table("sys.catalog_options").to_arrow().to_pylist()),
    )


def _answers(table: Table) -> Iterator[Displayed]:
    """What the browser gets."""
    state = ExplorerState(table._inspector())
    newest = state.newest
    messages: list[dict[str, object]] = [
        {"op": "open"},
        {"op": "history"},
        {"op": "files", "snapshot": newest},
        {"op": "tree", "snapshot": newest, "keys": ["", "delta", "delta/0"]},
        {"op": "detail", "node": str(newest)},
        {"op": "detail", "node": f"schema/{table.schema.id}"},
        {"op": "detail", "node": f"{newest}/delta/0/0"},
        {"op": "detail", "node": "7777"},
        {"op": "bytes", "node": f"{newest}/schema"},
        {"op": "byte_fields", "handle": 1, "path": "", "first": 0},
        {"op": "byte_at", "handle": 1, "within": "", "offset": 100},
        {"op": "resolve", "text": str(newest)},
        {"op": "findings", "snapshot": newest},
        {"op": "hints", "snapshot": newest},
    ]
    question = {"text": "", "compare": 0, "node": ""}
    messages += [{"op": "report", "pane": p, "snapshot": newest, **question} for p in REPORTS]
    for message in messages:
        try:
            found = answer(state, message)
        except PaimonError as error:
            yield f"answer to {message}", f"{error} {error!r}"
        else:
            yield f"answer to {message}", json.dumps(dict(found.body), ensure_ascii=False)


def _bytes(table: Table) -> Iterator[Displayed]:
    """The bytes of metadata files as the byte viewer hands them out."""
    for number in table._store.schemas.ids():
        shown = table.inspect.bytes(f"schema-{number}")
        yield f"hex of schema-{number}", shown.read(0, shown.size).decode("utf-8", "replace")
        for place in shown.children()[0]:
            yield f"field {place.path} of schema-{number}", json.dumps(place.state())
