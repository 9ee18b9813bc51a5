import pyarrow as pa

import paimon_explore as pe
from paimon_explore.inspection.history.schema_diff import schema_differences
from paimon_explore.metadata.schema.schema_change import Move, MoveColumn, Position
from support.golden import GoldenTables
from support.small_tables import append_table, columns


def test_a_renamed_field_stays_in_its_lane(golden: GoldenTables) -> None:
    table = pe.open_table(golden.table("java200", "se_pk").folder)
    found = table.inspect.schema_history()
    assert found.lanes()[2] == ((0, "b", "STRING"), (1, "b", "STRING"), (2, "name", "STRING"))
    assert [v.live_files for v in found.versions] == [0, 0, 0, 2]
    assert [v.snapshots for v in found.versions] == [1, 1, 1, 3]
    changes = found.to_arrow().to_pylist()
    assert [row["change"] for row in changes if row["schema_id"] == 3] == ["dropped"]


def test_an_older_snapshot_needs_older_schemas(golden: GoldenTables) -> None:
    table = pe.open_table(golden.table("java200", "se_pk").folder)
    first = table.at(snapshot=1).inspect.schema_history()
    assert [v.live_files for v in first.versions] == [1, 0, 0, 0]


def test_members_options_keys_and_order_are_compared() -> None:
    row = pa.struct([pa.field("x", pa.int32()), pa.field("y", pa.int32())])
    table = append_table(columns(a=pa.int32(), r=row, b=pa.int32()), options={"k.x": "1"})
    upkeep = table.maintenance
    before = table.schema
    table.rename_column("r.x", "z")
    table.set_options({"k.x": "2", "k.y": "3"})
    table.alter(MoveColumn(column="b", move=Move(position=Position.FIRST)))
    upkeep.set_comment("said")
    after = table.schema
    found = [(d.what, d.name, d.act, d.before, d.after) for d in schema_differences(before, after)]
    assert found == [
        ("column", "r.z", "renamed", "x", "z"),
        ("column", "b", "moved", "position 3", "position 1"),
        ("option", "k.x", "changed", "1", "2"),
        ("option", "k.y", "set", "", "3"),
        ("comment", "", "changed", "", "said"),
    ]
    assert schema_differences(after, after) == ()


def test_a_table_without_files_has_a_schema_history() -> None:
    found = append_table(columns(a=pa.int32())).inspect.schema_history()
    assert repr(found).splitlines()[0] == "db.t: 1 schema version"
    assert found.state()["kind"] == "schema"
