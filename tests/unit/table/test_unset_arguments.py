"""A variable that was never set changes nothing: None and empty values do not mean all rows."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from paimon_explore import Catalog
from paimon_explore.errors import InvalidInputError, PaimonError
from paimon_explore.table.maintenance import Maintenance
from paimon_explore.table.merge_builder import Merge
from paimon_explore.table.table_alter import AlterableTable
from paimon_explore.table.writable_table import WritableTable

ROWS: list[dict[str, object]] = [
    {"p": "a", "k": 1, "v": 1, "w": "x"},
    {"p": "b", "k": 2, "v": 2, "w": "y"},
]
NEW: list[dict[str, object]] = [{"p": "a", "k": 1, "v": 9, "w": "z"}]
UNSET: list[object] = [None, "", [], {}]
COLLECTIONS = {
    *("data", "set", "where", "condition", "values", "partition", "partitions", "columns"),
    *("options", "keys"),
}
"""Arguments for which an empty list or dictionary looks unset, too."""
Arguments = Mapping[str, object]

NOTE: Arguments = {"properties": None, "commit_user": None}
INPUT: Arguments = {"cast": "safe", "merge_schema": False, **NOTE}

TABLE: Mapping[str, Arguments] = {
    "append": {"data": NEW, **INPUT},
    "upsert": {"data": NEW, **INPUT},
    "delete": {"where": "k = 1", **NOTE},
    "update": {"set": {"v": 5}, "where": "k = 1", **NOTE},
    "overwrite": {"data": NEW, "partition": {"p": "a"}, **INPUT},
    "drop_partitions": {"partitions": {"p": "a"}, **NOTE},
    "truncate": NOTE,
}
MERGE: Mapping[str, Arguments] = {
    "when_matched_update": {"set": {"v": "source.v"}, "condition": "target.k = 1"},
    "when_matched_update_all": {"condition": "target.k = 1"},
    "when_matched_delete": {"condition": "target.k = 1"},
    "when_not_matched_insert": {"values": None, "condition": "source.k = 1"},
    "when_not_matched_insert_all": {"condition": "source.k = 1"},
    "when_not_matched_by_source_update": {"set": {"v": "0"}, "condition": "target.k = 2"},
    "when_not_matched_by_source_delete": {"condition": "target.k = 2"},
}
ALTER: Mapping[str, Arguments] = {
    "add_column": {"name": "n", "data_type": "INT", "comment": None, "after": None},
    "rename_column": {"name": "v", "new_name": "n"},
    "drop_column": {"name": "v"},
    "alter_column_type": {"name": "v", "data_type": "BIGINT", "check": True},
    "set_options": {"options": {"write-only": "true"}},
    "create_tag": {"name": "new", "snapshot": 1, "retained": None},
    "delete_tag": {"name": "one"},
    "create_branch": {"name": "new", "tag": "one"},
    "delete_branch": {"name": "side"},
    "fast_forward": {"branch": "side"},
    "rollback_to": {"point": 1},
}
MAINTENANCE: Mapping[str, Arguments] = {
    "set_comment": {"comment": "text"},
    "replace_tag": {"name": "one", "snapshot": 1, "retained": None},
    "rename_tag": {"name": "one", "new_name": "new"},
    "rename_branch": {"name": "side", "new_name": "new"},
    "rollback_schema": {"schema_id": 0},
    "expire_snapshots": {
        "retain_min": 1,
        "retain_max": 5,
        "older_than": "1 d",
        "limit": 1,
        "dry_run": False,
    },
    "expire_changelogs": {
        "retain_min": 1,
        "retain_max": 5,
        "older_than": "1 d",
        "limit": 1,
        "dry_run": False,
    },
    "expire_partitions": {"older_than": timedelta(days=1), "dry_run": False},
    "remove_orphan_files": {"older_than": "1 d", "external": False, "dry_run": True},
}
CATALOG: Mapping[str, Arguments] = {
    "create_database": {"name": "new", "properties": None, "comment": None},
    "alter_database": {"name": "db", "properties": {"owner": "me"}, "remove": ["x"]},
    "rename_database": {"name": "db", "new_name": "new"},
    "drop_database": {"name": "db", "cascade": True},
    "drop_table": {"name": "db.t"},
    "rename_table": {"source": "db.t", "target": "db.new"},
}
READING = {
    *("at", "maintenance", "snapshot_retention", "options", "store", "analyze"),
    *("expire_tags", "expire_consumers", "dynamic_options", "compact", "alter", "transaction"),
    *("add_files", "consumers", "fsck"),
}
"""Public names of the classes that change no row, or take no argument."""

MEANT: Mapping[tuple[str, str], tuple[object, ...]] = {
    ("append", "data"): ([], {}),
    ("upsert", "data"): ([], {}),
    ("overwrite", "data"): ([], {}),
    ("overwrite", "partition"): (None, {}),
    ("add_column", "comment"): (None, ""),
    ("set_comment", "comment"): (None, ""),
    ("when_not_matched_insert", "values"): (None, {}),
}
"""Values that are documented for an argument, besides its default."""


@dataclass(frozen=True)
class Case:
    """One argument of one method that has a value that looks unset."""

    door: str
    method: str
    argument: str
    value: object

    def __str__(self) -> str:
        return f"{self.door}.{self.method}({self.argument}={self.value!r})"


DOORS: Mapping[str, tuple[type, Mapping[str, Arguments]]] = {
    "table": (WritableTable, TABLE),
    "schema and references": (AlterableTable, ALTER),
    "merge": (Merge, MERGE),
    "maintenance": (Maintenance, MAINTENANCE),
    "catalog": (Catalog, CATALOG),
}
CASES = [
    Case(door, method, argument, value)
    for door, (_, methods) in DOORS.items()
    for method, arguments in methods.items()
    for argument in arguments
    for value in (UNSET if argument in COLLECTIONS else UNSET[:2])
]


class Warehouse:
    """A table with a history, made anew once a case has changed it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._count = 0
        self.fresh()

    def fresh(self) -> None:
        self._count += 1
        self.catalog = Catalog(self._folder / str(self._count))
        self.catalog.create_database("db")
        self.catalog.create_database("other")
        columns = {"p": "STRING", "k": "INT", "v": "INT", "w": "STRING"}
        self.table = self.catalog.create_table(
            "db.t", columns, primary_key=["p", "k"], partition_by="p", options={"bucket": "1"}
        )
        self.table.upsert(ROWS)
        self.table.create_tag("one")
        self.table.create_branch("side", "one")
        self.table.upsert(ROWS)
        self.before = self.state()

    def state(self) -> list[object]:
        """What a reader sees of the warehouse."""
        if self.catalog.databases() != ["db", "other"] or self.catalog.tables("db") != ["t"]:
            return [self.catalog.databases()]
        store = self.table._store
        schema = store.schemas.latest()
        return [
            [store.snapshots.ids(), store.tags.names(), store.branches.names()],
            schema,
        ]


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    return Warehouse(tmp_path_factory.mktemp("w"))


def run(warehouse: Warehouse, case: Case) -> object:
    """Call the method with the value in place of a good one."""
    methods = DOORS[case.door][1]
    arguments: dict[str, Any] = {**methods[case.method], case.argument: case.value}
    if case.door == "merge":
        merge = warehouse.table.merge(NEW, on=["p", "k"])
        described: Merge = getattr(merge, case.method)(**arguments)
        return described.execute()
    doors = {
        "table": warehouse.table,
        "schema and references": warehouse.table,
        "maintenance": warehouse.table.maintenance,
        "catalog": warehouse.catalog,
    }
    method: Callable[..., object] = getattr(doors[case.door], case.method)
    given = [arguments.pop("partitions")] if "partitions" in arguments else []
    return method(*given, **arguments)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_value_that_looks_unset_is_refused_unless_it_is_documented(
    warehouse: Warehouse, case: Case
) -> None:
    meant = (*MEANT.get((case.method, case.argument), ()), *default_of(case))
    # a text in place of a number or an age is another mistake
    refusals = (PaimonError,) if case.value is None else (PaimonError, TypeError, AttributeError)
    try:
        run(warehouse, case)
    except refusals:
        assert warehouse.state() == warehouse.before
        return
    warehouse.fresh()
    assert any(case.value == value and type(case.value) is type(value) for value in meant)


def default_of(case: Case) -> tuple[object, ...]:
    kind, _ = DOORS[case.door]
    found = inspect.signature(getattr(kind, case.method)).parameters[case.argument].default
    return () if found is inspect.Parameter.empty else (found,)


@pytest.mark.parametrize("door", DOORS)
def test_every_public_method_is_among_the_cases(door: str) -> None:
    kind, methods = DOORS[door]
    own = {name for name in vars(kind) if not name.startswith("_")}
    walked = set(methods) | READING | {"merge", "execute", "spec", "run"}
    if door == "catalog":
        walked |= {
            *("warehouse", "databases", "database", "database_exists", "tables"),
            *("table", "table_exists", "create_table", "alter_table", "system_table"),
        }
    assert own - walked == set()
    for method, arguments in methods.items():
        known = set(inspect.signature(getattr(kind, method)).parameters) - {"self"}
        left_out = {"if_not_exists", "if_exists", "tag", "snapshot", "timestamp"} & known
        assert known - set(arguments) <= left_out, method


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"source": None, "on": "k"}, "Cannot read rows from a value of type NoneType"),
        ({"source": NEW, "on": None}, "a condition, not None"),
        ({"source": NEW, "on": []}, r"a condition, not \[\]"),
        ({"source": NEW, "on": {}}, r"a condition, not \{\}"),
        ({"source": NEW, "on": ""}, "The condition cannot be parsed|The condition is empty"),
    ],
)
def test_a_merge_needs_rows_and_says_what_matches(
    warehouse: Warehouse, arguments: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(InvalidInputError, match=sentence):
        warehouse.table.merge(**arguments).when_not_matched_by_source_delete().execute()
    assert warehouse.state() == warehouse.before


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda t: t.delete(None),
            (
                "delete() requires a condition, but where is None. "
                "Call truncate() or delete('true') to delete all rows."
            ),
        ),
        (
            lambda t: t.update({"v": 1}, None),
            ("where must not be None. Omit where, or pass where='true', to update all rows."),
        ),
        (
            lambda t: t.merge(NEW, "k").when_matched_delete(None),
            ("condition must not be None. Omit the condition to select all rows of the clause."),
        ),
        (
            lambda t: t.maintenance.remove_orphan_files(dry_run=None),
            "dry_run must be True or False, not None.",
        ),
    ],
)
def test_the_message_says_how_to_mean_everything(
    warehouse: Warehouse, call: Callable[[Any], object], message: str
) -> None:
    with pytest.raises(InvalidInputError) as refused:
        call(warehouse.table)
    assert str(refused.value) == message


def test_all_rows_go_when_that_is_said(tmp_path: Path) -> None:
    table = Warehouse(tmp_path).table
    table.update({"v": 7})
    assert table.to_arrow().column("v").to_pylist() == [7, 7]
    table.update({"v": 8}, where="true")
    assert table.to_arrow().column("v").to_pylist() == [8, 8]
    table.delete("true")
    assert table.to_arrow().num_rows == 0
    table.upsert(ROWS)
    table.truncate()
    assert table.to_arrow().num_rows == 0


def test_a_partition_that_is_none_never_replaces_all_partitions(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path)
    static = {"dynamic-partition-overwrite": "false"}
    table = warehouse.catalog.table("db.t", options=static)
    with pytest.raises(InvalidInputError, match="partition must not be None"):
        table.overwrite(NEW, partition=None)
    assert warehouse.state() == warehouse.before
    warehouse.table.overwrite(NEW, partition=None)
    assert warehouse.table.to_arrow().sort_by("k").column("v").to_pylist() == [9, 2]
    table.overwrite(NEW, partition={})
    assert table.to_arrow().column("v").to_pylist() == [9]
    table.upsert(ROWS)
    table.overwrite(NEW)
    assert table.to_arrow().column("v").to_pylist() == [9]
