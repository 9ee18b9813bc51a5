"""A schema change that the metastore refuses is taken back, but never a schema that is in use."""

from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest

import paimon_explore as pe
from paimon_explore.errors import InvalidInputError, PaimonError, StorageError
from paimon_explore.metastore.hive.hive_metastore import HiveEnvironment
from paimon_explore.metastore.hive.hive_tables import HiveTables
from paimon_explore.metastore.identifier import parse_identifier
from support.small_tables import new_catalog


class RefusingTables:
    """A metastore that refuses a schema change after something else has happened."""

    def __init__(self, meanwhile: Callable[[], object], error: PaimonError) -> None:
        self.meanwhile = meanwhile
        self.error = error

    def change_schema(self, *_: object) -> None:
        self.meanwhile()
        raise self.error


def schema_ids(table: pe.Table) -> list[int]:
    return table._store.schemas.ids()


ERRORS = [InvalidInputError("Hive refuses it."), StorageError("alter", "t", "no answer")]


@pytest.mark.parametrize("error", ERRORS, ids=["refused", "not answered"])
@pytest.mark.parametrize("use", ["nothing", "a commit", "another change"])
def test_a_schema_in_use_stays(tmp_path: Path, use: str, error: PaimonError) -> None:
    catalog = new_catalog(tmp_path)
    table = catalog.create_table("db.t", {"id": "INT"})
    table.append([{"id": 1}])
    table.add_column("x", "INT")
    other = catalog.table("db.t")
    acts: dict[str, Callable[[], object]] = {
        "nothing": lambda: None,
        "a commit": lambda: other.append([{"id": 2, "x": 3}]),
        "another change": lambda: other.add_column("y", "INT"),
    }
    tables = cast("HiveTables", RefusingTables(acts[use], error))
    environment = HiveEnvironment(
        tables, parse_identifier("db.t"), None, table._store.file_io, table.path
    )
    with pytest.raises(type(error)):
        environment.schema_changed("main", other.schema)
    assert (
        schema_ids(table) == {"nothing": [0], "a commit": [0, 1], "another change": [0, 1, 2]}[use]
    )
    found = catalog.table("db.t").to_arrow().sort_by("id").to_pylist()
    assert (
        found
        == {
            "nothing": [{"id": 1}],
            "a commit": [{"id": 1, "x": None}, {"id": 2, "x": 3}],
            "another change": [{"id": 1, "x": None, "y": None}],
        }[use]
    )
