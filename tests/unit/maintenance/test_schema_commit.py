from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa
import pytest

from paimon_explore.data_types.type_parser import parse_type_text
from paimon_explore.errors import (
    CommitError,
    InvalidInputError,
    NotFoundError,
    PaimonError,
    StorageError,
)
from paimon_explore.maintenance.schema_commit import alter_schema
from paimon_explore.metadata.schema.schema_change import (
    AddColumn,
    DropColumn,
    RenameColumn,
    SetOption,
)
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.table_paths import TablePaths
from paimon_explore.store.table_store import TableStore
from support.catalog_environment import IdleEnvironment
from support.faulty_file_io import Fault, FaultyFileIO
from support.lifecycle import keyed_table
from support.new_tables import ROOT, new_table
from support.small_tables import new_catalog

INT = parse_type_text("INT")


def test_a_change_makes_the_next_schema_with_the_time_of_the_change() -> None:
    store, _ = new_table({"a": "INT"})
    made = alter_schema(store, [AddColumn(column=("b",), type=INT)], clock=lambda: 77)
    assert store.schemas.ids() == [0, 1]
    assert store.schemas.latest() == made
    assert [field.name for field in made.fields] == ["a", "b"]
    assert (made.id, made.highest_field_id, made.time_millis) == (1, 1, 77)


def test_several_changes_take_effect_together_or_not_at_all() -> None:
    store, _ = new_table({"a": "INT"})
    with pytest.raises(NotFoundError):
        alter_schema(store, [AddColumn(column=("b",), type=INT), DropColumn(column=("c",))])
    assert store.schemas.ids() == [0]


def test_a_lost_race_applies_the_change_to_the_schema_that_won() -> None:
    store, _ = new_table({"a": "INT"})
    rivals = [AddColumn(column=("rival",), type=INT)]

    def clock() -> int:
        """Asked for between reading the newest schema and creating the next one."""
        if rivals:
            alter_schema(store, [rivals.pop()])
        return 0

    made = alter_schema(store, [RenameColumn(column=("a",), name="z")], clock=clock)
    assert (made.id, [field.name for field in made.fields]) == (2, ["z", "rival"])


def test_whoever_loses_every_race_gives_up() -> None:
    store, _ = new_table({"a": "INT"})

    def rival() -> int:
        schema = store.schemas.latest()
        assert schema is not None
        alter_schema(store, [SetOption(key="x", value=str(schema.id))])
        return 0

    with pytest.raises(CommitError, match="100 attempts"):
        alter_schema(store, [SetOption(key="y", value="1")], clock=rival)


@pytest.mark.parametrize(("fault", "made"), [(Fault.BEFORE, False), (Fault.AFTER, True)])
def test_a_lost_reply_is_cleared_up_by_looking(fault: Fault, *, made: bool) -> None:
    sound, _ = new_table({"a": "INT"})
    store = TableStore(FaultyFileIO(sound.file_io, fail_at=1, fault=fault), TablePaths(ROOT))
    change = SetOption(key="x", value="1")
    if made:
        alter_schema(store, [change])
    else:
        with pytest.raises(StorageError):
            alter_schema(store, [change])
    assert sound.schemas.ids() == ([0, 1] if made else [0])


@dataclass
class RefusingEnvironment(IdleEnvironment):
    """A catalog that refuses a schema after something else has happened."""

    meanwhile: Callable[[], object] = print
    error: PaimonError | None = None

    def schema_changed(self, branch: str, schema: TableSchema) -> None:
        del branch, schema
        self.meanwhile()
        assert self.error is not None
        raise self.error


ERRORS = [InvalidInputError("The catalog refuses it."), StorageError("alter", "t", "no answer")]


@pytest.mark.parametrize("error", ERRORS, ids=["refused", "not answered"])
@pytest.mark.parametrize(
    ("use", "ids"), [("nothing", [0]), ("a commit", [0, 1]), ("another change", [0, 1, 2])]
)
def test_a_schema_that_the_catalog_refuses_is_deleted_unless_it_is_in_use(
    tmp_path: Path, use: str, ids: list[int], error: PaimonError
) -> None:
    catalog = new_catalog(tmp_path)
    table = catalog.create_table("db.t", {"id": "INT"})
    table.append([{"id": 1}])
    acts: dict[str, Callable[[], object]] = {
        "nothing": lambda: None,
        "a commit": lambda: catalog.table("db.t").append([{"id": 2, "x": 3}]),
        "another change": lambda: catalog.table("db.t").add_column("y", "INT"),
    }
    refusing = RefusingEnvironment(meanwhile=acts[use], error=error)
    store = replace(table._store, environment=refusing)
    with pytest.raises(type(error)):
        alter_schema(store, [AddColumn(column=("x",), type=INT)])
    assert table._store.schemas.ids() == ids
    rows = catalog.table("db.t").to_arrow().sort_by("id").to_pylist()
    assert [row["id"] for row in rows] == ([1, 2] if use == "a commit" else [1])


def test_rows_are_read_with_the_changed_columns(tmp_path: Path) -> None:
    table = keyed_table(tmp_path)
    table.upsert([{"k": 1, "v": "a"}])
    table.add_column("n", "INT", comment="number", after="k")
    table.rename_column("v", "w")
    table.upsert([{"k": 2, "n": 5, "w": "b"}])
    table.alter_column_type("n", "BIGINT")
    expected = {"k": [1, 2], "n": [None, 5], "w": ["a", "b"]}
    assert table.to_arrow().sort_by("k").to_pydict() == expected
    assert table.to_arrow().schema.field("n").type == pa.int64()
    assert table.at(snapshot=1).to_arrow().to_pydict() == {"k": [1], "v": ["a"]}
    table.drop_column("n")
    assert table.to_arrow().column_names == ["k", "w"]
