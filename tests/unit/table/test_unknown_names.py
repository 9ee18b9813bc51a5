"""Tables of a later version: names that are not known are shown, and the rest stays readable."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import paimon_explore as pe
from paimon_explore import Table, open_table
from paimon_explore.data_types.formatter import type_text
from paimon_explore.data_types.json_parser import parse_fields
from paimon_explore.errors import (
    CorruptFileError,
    InvalidInputError,
    PaimonError,
    UnsupportedFeatureError,
)
from paimon_explore.inspection.explorer.explorer_state import ExplorerState, ViewInput
from support.small_tables import new_catalog
from support.written import columns

ROWS: Mapping[str, pa.DataType] = {"id": pa.int32(), "v": pa.string(), "n": pa.int64()}
TENSOR = {"type": "TENSOR NOT NULL", "element": "INT", "shape": [1, 2]}
TYPES: Mapping[str, tuple[object, str]] = {
    "a text": ("HYPERCUBE(3)", "HYPERCUBE(3)"),
    "not null": ("HYPERCUBE(3) NOT NULL", "HYPERCUBE(3)"),
    "an object": (TENSOR, json.dumps(TENSOR)),
    "inside": ({"type": "ARRAY", "element": "HYPERCUBE"}, "HYPERCUBE"),
}
Json = dict[str, Any]


@pytest.fixture(params=["append", "keyed", "orc", "avro", "row"])
def table(request: pytest.FixtureRequest, tmp_path: Path) -> Table:
    """A table with two snapshots."""
    kind: str = request.param
    made = new_catalog(tmp_path).create_table(
        "db.t",
        columns(ROWS),
        primary_key="id" if kind == "keyed" else None,
        options={} if kind in ("append", "keyed") else {"file.format": kind},
    )
    for start in (0, 5):
        made.append([{"id": i, "v": f"v{i}", "n": i} for i in range(start, start + 6)])
    return made


def edited(table: Table, change: Callable[[Json], object], pattern: str = "schema/*") -> Table:
    """The table after a change of some of its metadata files."""
    for path in Path(table.path).glob(pattern):
        if path.name[-1].isdigit():
            found = json.loads(path.read_text("utf-8"))
            change(found)
            path.write_text(json.dumps(found), "utf-8")
    return open_table(table.path)


@pytest.mark.parametrize("name", TYPES)
def test_other_columns_of_a_table_with_an_unknown_type_are_read(table: Table, name: str) -> None:
    given, shown = TYPES[name]
    rows = table.to_arrow().select(["id", "n"])
    is_row = table.schema.options.get("file.format") == "row"
    table = edited(table, lambda found: found["fields"][1].update(type=given))
    with pytest.raises(UnsupportedFeatureError, match="column 'v' of the unknown type") as refused:
        table.to_arrow()
    assert shown in str(refused.value)
    if is_row:  # whose values cannot be skipped without their types
        with pytest.raises(UnsupportedFeatureError, match="row file with column 'v'"):
            table.scan(columns=["id", "n"]).to_arrow()
    else:
        assert table.scan(columns=["id", "n"]).to_arrow().equals(rows)
    with pytest.raises(UnsupportedFeatureError, match="Writing to a table with column 'v'"):
        table.append([{"id": 1}])
    with pytest.raises(UnsupportedFeatureError, match="column 'v'"):
        table.compact(full=True)
    assert len(table.snapshots) == 2


@pytest.mark.parametrize("name", sorted(TYPES.keys() - {"inside"}))  # arrays have no bounds
def test_unknown_types_are_shown_and_kept(table: Table, name: str) -> None:
    given, shown = TYPES[name]
    table = edited(table, lambda found: found["fields"][1].update(type=given))
    assert f"unknown: {shown}" in type_text(table.schema.row_type)
    stored = table.inspect.system_table("schemas").to_arrow()["fields"][0].as_py()
    assert json.loads(stored)[1]["type"] == given
    assert table.inspect.system_table("files").to_arrow().num_rows == 2
    if table.schema.options.get("file.format") != "row":
        assert list(table.maintenance.fsck(read_rows=True)) == []
    state = ExplorerState(table._inspector())
    state.open()
    assert state.detail(str(state.newest)).body["sections"]
    assert "unknown: " in json.dumps(state.result("schema", 2, ViewInput()).state())
    table.set_options({"snapshot.num-retained.max": "99"})
    latest = json.loads((Path(table.path) / "schema" / "schema-1").read_text("utf-8"))
    assert latest["fields"][1]["type"] == given


def test_unknown_types_that_users_write_are_refused(tmp_path: Path) -> None:
    table = new_catalog(tmp_path).create_table("db.t", columns(ROWS))
    with pytest.raises(InvalidInputError, match="'HYPERCUBE' is unknown"):
        table.add_column("x", "HYPERCUBE")
    with pytest.raises(CorruptFileError, match="unknown"):
        parse_fields([{"name": "x", "type": "HYPERCUBE"}], "fields")


def test_malformed_types_stay_errors(table: Table) -> None:
    with pytest.raises(CorruptFileError, match="DECIMAL"):
        edited(table, lambda found: found["fields"][1].update(type="DECIMAL(99)"))


def test_keys_of_an_unknown_type_are_not_compared(tmp_path: Path) -> None:
    table = new_catalog(tmp_path).create_table("db.t", columns(ROWS), primary_key="id")
    table.append([{"id": 1, "v": "a", "n": 1}])
    table = edited(table, lambda found: found["fields"][0].update(type="HYPERCUBE NOT NULL"))
    with pytest.raises(UnsupportedFeatureError, match="column 'id' of the unknown type"):
        table.scan(columns=["n"]).to_arrow()
    assert len(table.snapshots) == 1


@pytest.mark.parametrize(
    ("option", "is_read"), [("changelog-producer", True), ("merge-engine", False)]
)
def test_options_that_matter_for_rows_are_refused_by_name(
    tmp_path: Path, option: str, *, is_read: bool
) -> None:
    table = new_catalog(tmp_path).create_table("db.t", columns(ROWS), primary_key="id")
    table.append([{"id": 1, "v": "a", "n": 1}])
    table = edited(table, lambda found: found["options"].update({option: "quantum"}))
    assert (
        table.inspect.system_table("options").to_arrow()["value"].to_pylist().count("quantum") == 1
    )
    if is_read:
        assert table.to_arrow().num_rows == 1
    else:
        with pytest.raises(PaimonError, match="'merge-engine' = 'quantum'"):
            table.to_arrow()
    with pytest.raises(PaimonError, match=f"'{option}' = 'quantum'"):
        table.append([{"id": 2, "v": "b", "n": 2}])


@pytest.mark.parametrize(("member", "value"), [("version", 4), ("commitKind", "REWRITE")])
def test_other_snapshots_than_an_unknown_one_are_read(
    table: Table, member: str, value: object
) -> None:
    table = edited(table, lambda found: found.update({member: value}), "snapshot/snapshot-1")
    assert table.to_arrow().num_rows in (11, 12)
    with pytest.raises(PaimonError, match=str(value)):
        table.at(snapshot=1).to_arrow()
    state = ExplorerState(table._inspector())
    assert str(value) in json.dumps(state.open().body["table"])


def test_unknown_members_of_snapshots_and_schemas_are_left_alone(table: Table) -> None:
    count = table.scan().count()
    table = edited(table, lambda found: found.update(features=["x"]), "s[cn]*/s*")
    assert table.scan().count() == count
    assert pe.open_table(table.path).append([{"id": 99, "v": "a", "n": 1}]) is not None
