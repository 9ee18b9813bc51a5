"""What a user may send to other processes: each value is pickled, copied, and used afterwards."""

import copy
import pickle
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

import paimon_explore as pe
from paimon_explore.errors import InvalidInputError, PaimonError

Make = Callable[[pe.Catalog, pe.Table], object]
VALUES: dict[str, Make] = {
    "catalog": lambda catalog, _: catalog,
    "table": lambda _, table: table,
    "table at a snapshot": lambda _, table: table.at(1),
    "scan": lambda _, table: table.scan(["id"], where="id > 2", limit=3),
    "part of a scan": lambda _, table: table.scan().parts()[0],
    "schema": lambda _, table: table.schema,
    "snapshot": lambda _, table: table.snapshot,
    "snapshots": lambda _, table: table.snapshots,
    "schemas": lambda _, table: table.schemas,
    "tags": lambda _, table: table.tags,
    "branches": lambda _, table: table.branches,
    "consumers": lambda _, table: table.maintenance.consumers,
    "condition": lambda *_: (pe.col("id") > 3) | pe.expr("city LIKE 'O%'"),
    "query": lambda catalog, _: catalog.sql("SELECT count(*) AS n FROM demo.orders"),
    "answer": lambda catalog, _: catalog.sql("SHOW TABLES IN demo"),
    "rows": lambda _, table: table.rows(),
    "difference": lambda _, table: table.diff(1, 2, rows=3),
    "explanation": lambda _, table: table.explain("id = 1"),
    "health": lambda _, table: table.health(),
    "changes between": lambda _, table: table.between(1, 3),
    "changes with kinds": lambda _, table: table.between(1, 3, row_kinds=True),
    "changes of a commit": lambda _, table: next(iter(table.follow("earliest", timeout=0))),
    "system table": lambda _, table: table.inspect.system_table("snapshots"),
    "system table of rows": lambda _, table: table.inspect.system_table("audit_log"),
    "part of a system table": lambda _, table: table.inspect.system_table("files").scan(
        ["file_path", "level"], "level = 0"
    ),
    "table of all tables": lambda catalog, _: catalog.system_table("sys.all_table_options"),
    "timeline": lambda _, table: table.inspect.timeline(),
    "report": lambda _, table: table.maintenance.fsck(),
    "error": lambda catalog, _: refused(lambda: catalog.table("demo.none")),
}


def refused(act: Callable[[], object]) -> PaimonError:
    """The error of an act."""
    with pytest.raises(PaimonError) as raised:
        act()
    return raised.value


def used(value: object) -> object:
    """What a value is used for."""
    if isinstance(value, pe.Catalog):
        return value.tables("demo")
    if isinstance(value, BaseException):
        return type(value), str(value)
    reads = getattr(value, "to_arrow", None)
    return repr(value) if reads is None else reads()


@pytest.mark.parametrize("name", VALUES)
def test_a_copy_of_a_value_does_what_the_value_does(name: str, tmp_path: Path) -> None:
    catalog = pe.demo(tmp_path / "w")
    table = catalog.table("demo.orders")
    table.create_branch("other")
    table.create_tag("kept", 2)
    table.maintenance.consumers.reset("job", 2)
    value = VALUES[name](catalog, table)
    expected = used(value)
    for made in (
        pickle.loads(pickle.dumps(value)),  # noqa: S301 - our own bytes
        pickle.loads(pickle.dumps(value, 2)),  # noqa: S301
        copy.copy(value),
        copy.deepcopy(value),
    ):
        found = used(made)
        if isinstance(found, pa.Table) and isinstance(expected, pa.Table):
            assert found.equals(expected)
        else:
            assert found == expected


def test_only_the_batch_itself_is_acknowledged() -> None:
    table = pe.demo().table("demo.events")
    stream = table.follow("earliest", timeout=0, consumer="job", auto_ack=False)
    batch = next(iter(stream))
    there = pickle.loads(pickle.dumps(batch))  # noqa: S301 - our own bytes
    assert there.rows.equals(batch.rows)
    with pytest.raises(InvalidInputError, match=r"snapshot 1 cannot acknowledge them.*in its proc"):
        there.ack()
    copy.copy(batch).ack()
    assert table.maintenance.consumers["job"].next_snapshot == 2
