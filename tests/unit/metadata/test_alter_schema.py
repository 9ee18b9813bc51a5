"""Changes of schemas; what Java 2.0.0 does with the same changes was compared by hand."""

import pickle

import pytest

from paimon_explore.data_types.definitions import DataField, RowType
from paimon_explore.data_types.formatter import field_text, type_text
from paimon_explore.data_types.type_parser import parse_type_text
from paimon_explore.errors import AlreadyExistsError, InvalidInputError, NotFoundError
from paimon_explore.metadata.schema.alter_schema import apply_changes
from paimon_explore.metadata.schema.schema_change import (
    AddColumn,
    ChangeColumnComment,
    ChangeDefault,
    ChangeNullability,
    ChangeType,
    DropColumn,
    DropPrimaryKey,
    Move,
    MoveColumn,
    Position,
    RemoveOption,
    RenameColumn,
    SchemaChange,
    SetComment,
    SetOption,
)
from paimon_explore.metadata.schema.schema_validation import new_schema
from paimon_explore.metadata.schema.table_schema import TableSchema

INT = parse_type_text("INT")


def table(**options: str) -> TableSchema:
    """A table with a key, a partition and nested columns; `__` in option names stands for a dot."""
    columns = {
        "dt": "STRING",
        "id": "INT",
        "a": "INT",
        "s": "STRING",
        "r": "ROW<x INT, y ROW<p INT, q STRING>>",
        "l": "ARRAY<ROW<e STRING>>",
        "m": "MAP<STRING, ARRAY<INT>>",
    }
    fields = (DataField(id=0, name=n, type=parse_type_text(t)) for n, t in columns.items())
    return new_schema(
        RowType(fields=tuple(fields)),
        primary_key=["dt", "id"],
        partition_by=["dt"],
        options={
            "bucket": "2",
            **{key.replace("__", ".").replace("_", "-"): text for key, text in options.items()},
        },
    )


def altered(
    *changes: SchemaChange, schema: TableSchema | None = None, has_snapshots: bool = True
) -> TableSchema:
    return apply_changes(schema or table(), changes, has_snapshots=has_snapshots, time_millis=9)


def shown(schema: TableSchema, name: str) -> str:
    field = schema.field(name)
    assert field is not None
    return field_text(field)


def names(schema: TableSchema) -> list[str]:
    return [field.name for field in schema.fields]


def test_a_change_makes_the_next_schema_in_the_current_version() -> None:
    schema = altered(SetComment(comment="new"))
    assert (schema.id, schema.version, schema.time_millis) == (1, 3, 9)
    assert schema.comment == "new"
    assert schema.fields == table().fields


def test_new_columns_go_last_and_take_ids_never_used() -> None:
    before = table()
    schema = altered(
        DropColumn(column=("m",)),
        AddColumn(column=("n",), type=parse_type_text("ROW<u INT, v INT>"), comment="c"),
        schema=before,
    )
    assert names(schema)[-1] == "n"
    assert shown(schema, "n") == "`n` ROW<`u` INT, `v` INT> COMMENT 'c'"
    field = schema.fields[-1]
    assert isinstance(field.type, RowType)
    assert field.id == before.highest_field_id + 1
    assert [inner.id for inner in field.type] == [field.id + 1, field.id + 2]
    assert schema.highest_field_id == before.highest_field_id + 3


@pytest.mark.parametrize(
    ("move", "expected"),
    [
        (Move(position=Position.FIRST), 0),
        (Move(position=Position.AFTER, reference="a"), 3),
        (Move(position=Position.BEFORE, reference="a"), 2),
        (Move(position=Position.LAST), 7),
    ],
)
def test_new_columns_go_where_they_are_told(move: Move, expected: int) -> None:
    schema = altered(AddColumn(column=("n",), type=INT, move=move))
    assert names(schema).index("n") == expected


def test_new_columns_may_go_before_partition_columns() -> None:
    schema = altered(
        AddColumn(column=("n",), type=INT), schema=table(add_column_before_partition="true")
    )
    assert names(schema)[0] == "n"


def test_members_of_rows_are_added_renamed_and_dropped_by_path() -> None:
    schema = altered(
        AddColumn(column=("r", "y", "n"), type=INT, move=Move(position=Position.FIRST)),
        RenameColumn(column=("r", "y", "p"), name="pp"),
        DropColumn(column=("r", "x")),
        AddColumn(column=("l", "element", "f"), type=INT),
        RenameColumn(column=("l", "element", "e"), name="ee"),
    )
    assert shown(schema, "r") == "`r` ROW<`y` ROW<`n` INT, `pp` INT, `q` STRING>>"
    assert shown(schema, "l") == "`l` ARRAY<ROW<`ee` STRING, `f` INT>>"


def test_types_of_members_elements_and_values_change_by_path() -> None:
    schema = altered(
        ChangeType(column=("a",), type=parse_type_text("BIGINT")),
        ChangeType(column=("r", "y", "p"), type=parse_type_text("STRING")),
        ChangeType(column=("l", "element", "e"), type=parse_type_text("BYTES")),
        ChangeType(column=("m", "value", "element"), type=parse_type_text("DOUBLE")),
    )
    assert shown(schema, "a") == "`a` BIGINT"
    assert shown(schema, "r") == "`r` ROW<`x` INT, `y` ROW<`p` STRING, `q` STRING>>"
    assert shown(schema, "l") == "`l` ARRAY<ROW<`e` BYTES>>"
    assert shown(schema, "m") == "`m` MAP<STRING, ARRAY<DOUBLE>>"


def test_a_new_type_may_keep_its_nullability() -> None:
    schema = table(alter_column_null_to_not_null__disabled="false")
    strict = altered(ChangeNullability(column=("a",), nullable=False), schema=schema)
    kept = altered(
        ChangeType(column=("a",), type=parse_type_text("BIGINT"), keep_nullability=True),
        schema=strict,
    )
    assert shown(kept, "a") == "`a` BIGINT NOT NULL"


def test_renamed_columns_are_renamed_in_keys_and_options() -> None:
    schema = table(
        merge_engine="partial-update",
        bucket_key="id",
        sequence__field="a",
        fields__s__ignore_retract="true",
    )
    renamed = altered(
        RenameColumn(column=("id",), name="key"),
        RenameColumn(column=("a",), name="version"),
        RenameColumn(column=("s",), name="text"),
        schema=schema,
    )
    assert renamed.primary_keys == ("dt", "key")
    assert renamed.options == {
        "bucket": "2",
        "merge-engine": "partial-update",
        "bucket-key": "key",
        "sequence.field": "version",
        "fields.text.ignore-retract": "true",
    }


def test_sequence_groups_follow_renames_on_both_sides() -> None:
    schema = table(merge_engine="partial-update", fields__a__sequence_group="s,r")
    renamed = altered(
        RenameColumn(column=("a",), name="v"), RenameColumn(column=("s",), name="t"), schema=schema
    )
    assert renamed.options["fields.v.sequence-group"] == "t,r"


def test_columns_move() -> None:
    schema = altered(
        MoveColumn(column="m", move=Move(position=Position.FIRST)),
        MoveColumn(column="dt", move=Move(position=Position.AFTER, reference="a")),
        MoveColumn(column="l", move=Move(position=Position.BEFORE, reference="id")),
        MoveColumn(column="id", move=Move(position=Position.LAST)),
    )
    assert names(schema) == ["m", "l", "a", "dt", "s", "r", "id"]


def test_comments_and_default_values_change() -> None:
    schema = altered(
        ChangeColumnComment(column=("a",), comment="c"),
        ChangeDefault(column=("a",), default_value="5"),
        ChangeColumnComment(column=("r", "x"), comment="inner"),
    )
    assert shown(schema, "a") == "`a` INT COMMENT 'c' DEFAULT 5"
    assert shown(schema, "r").startswith("`r` ROW<`x` INT COMMENT 'inner'")
    cleared = altered(
        ChangeColumnComment(column=("a",), comment=None),
        ChangeDefault(column=("a",), default_value=None),
        schema=schema,
    )
    assert shown(cleared, "a") == "`a` INT"


def test_options_are_set_and_removed() -> None:
    schema = altered(SetOption(key="write-only", value="true"), SetOption(key="x", value="y"))
    assert schema.options == {"bucket": "2", "write-only": "true", "x": "y"}
    assert altered(RemoveOption(key="x"), schema=schema).options == {
        "bucket": "2",
        "write-only": "true",
    }


def test_the_value_an_option_has_already_can_always_be_set() -> None:
    same = altered(
        SetOption(key="bucket", value="2"),
        SetOption(key="primary-key", value="dt,id"),
        SetOption(key="partition", value="dt"),
        SetOption(key="type", value="TABLE"),
    )
    assert same.options == {"bucket": "2"}


def test_without_snapshots_options_and_keys_are_free() -> None:
    schema = altered(
        SetOption(key="merge-engine", value="aggregation"),
        SetOption(key="bucket", value="-1"),
        has_snapshots=False,
    )
    assert schema.options == {"bucket": "-1", "merge-engine": "aggregation"}
    assert altered(DropPrimaryKey(), schema=schema, has_snapshots=False).primary_keys == ()


def test_a_key_can_be_declared_by_an_option_later() -> None:
    columns = RowType(
        fields=(DataField(id=0, name="k", type=INT), DataField(id=1, name="v", type=INT))
    )
    schema = altered(
        SetOption(key="primary-key", value="k"),
        schema=new_schema(columns, options={"bucket": "-1"}),
        has_snapshots=False,
    )
    assert (schema.primary_keys, schema.options) == (("k",), {"bucket": "-1"})
    assert type_text(schema.fields[0].type) == "INT NOT NULL"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (AddColumn(column=("n",), type=parse_type_text("INT NOT NULL")), "must be nullable"),
        (RenameColumn(column=("dt",), name="d"), "Partition column 'dt' cannot be renamed"),
        (DropColumn(column=("dt",)), "Partition column 'dt' cannot be dropped"),
        (DropColumn(column=("id",)), "Primary key column 'id' cannot be dropped"),
        (DropColumn(column=("l", "element", "e")), "the ROW has no other column"),
        (ChangeType(column=("dt",), type=INT), "Partition column 'dt' cannot be changed"),
        (
            ChangeType(column=("id",), type=parse_type_text("BIGINT")),
            "Primary key column 'id' cannot be changed",
        ),
        (ChangeType(column=("a",), type=parse_type_text("DATE")), "there is no cast"),
        (ChangeType(column=("a",), type=parse_type_text("BLOB")), "BLOB column 'a'"),
        (ChangeType(column=("r",), type=parse_type_text("ROW<x INT>")), "field by field"),
        (ChangeType(column=("m",), type=parse_type_text("MAP<STRING, INT>")), "no cast"),
        (ChangeType(column=("a",), type=parse_type_text("INT NOT NULL")), "cannot become NOT NULL"),
        (ChangeNullability(column=("a",), nullable=False), "cannot become NOT NULL"),
        (ChangeNullability(column=("id",), nullable=True), "cannot be made nullable"),
        (ChangeDefault(column=("a",), default_value="x"), "'x' cannot be read as INT"),
        (MoveColumn(column="a", move=Move(position=Position.AFTER, reference="a")), "itself"),
        (SetOption(key="merge-engine", value="aggregation"), "once the table has a snapshot"),
        (RemoveOption(key="bucket-key"), "once the table has a snapshot"),
        (SetOption(key="type", value="format-table"), "when the table is created"),
        (SetOption(key="path", value="/x"), "when the table is created"),
        (SetOption(key="bucket", value="-1"), "create a new table"),
        (RemoveOption(key="bucket"), "cannot be removed"),
        (SetOption(key="deletion-vectors.enabled", value="true"), "could return rows twice"),
        (SetOption(key="bucket", value="many"), "the value must be an integer"),
        (SetOption(key="sequence.field", value="x"), "sequence field 'x' does not exist"),
        (DropPrimaryKey(), "The primary key cannot be changed"),
    ],
)
def test_forbidden_changes_are_refused_with_their_rule(change: SchemaChange, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        altered(change)


@pytest.mark.parametrize(
    "change",
    [
        RenameColumn(column=("x",), name="y"),
        DropColumn(column=("x",)),
        ChangeType(column=("x",), type=INT),
        ChangeType(column=("l", "e"), type=INT),
        ChangeNullability(column=("r", "z"), nullable=True),
        ChangeColumnComment(column=("r", "z"), comment="c"),
        AddColumn(column=("a", "n"), type=INT),
        AddColumn(column=("m", "value", "n"), type=INT),
        AddColumn(column=("n",), type=INT, move=Move(position=Position.AFTER, reference="x")),
        MoveColumn(column="x", move=Move(position=Position.FIRST)),
    ],
)
def test_columns_that_do_not_exist_are_not_found(change: SchemaChange) -> None:
    with pytest.raises(NotFoundError, match=r"Column .* does not exist"):
        altered(change)


@pytest.mark.parametrize(
    "change",
    [
        AddColumn(column=("a",), type=INT),
        AddColumn(column=("r", "x"), type=INT),
        RenameColumn(column=("a",), name="s"),
        RenameColumn(column=("r", "x"), name="y"),
    ],
)
def test_names_that_are_taken_stay_taken(change: SchemaChange) -> None:
    with pytest.raises(AlreadyExistsError, match="already exists"):
        altered(change)


def test_explicit_casts_can_be_forbidden() -> None:
    schema = table(disable_explicit_type_casting="true")
    change = ChangeType(column=("a",), type=parse_type_text("STRING"))
    with pytest.raises(InvalidInputError, match="there is no implicit cast"):
        altered(change, schema=schema)
    wider = ChangeType(column=("a",), type=parse_type_text("BIGINT"))
    assert shown(altered(wider, schema=schema), "a") == "`a` BIGINT"


def test_a_default_value_stays_readable() -> None:
    schema = altered(ChangeDefault(column=("s",), default_value="'x'"))
    with pytest.raises(InvalidInputError, match="The default value of column 's' is invalid"):
        altered(ChangeType(column=("s",), type=INT), schema=schema)


@pytest.mark.parametrize(
    "key", ["ignore-delete", "ignore-update-before", "deduplicate.ignore-delete"]
)
def test_ignored_rows_stay_ignored(key: str) -> None:
    schema = altered(SetOption(key=key, value="true"))
    with pytest.raises(InvalidInputError, match="a change from true to false is not possible"):
        altered(SetOption(key=key, value="false"), schema=schema)
    with pytest.raises(InvalidInputError, match="a change from true to false is not possible"):
        altered(RemoveOption(key=key), schema=schema)


def test_older_names_of_options_follow_the_same_rules() -> None:
    with pytest.raises(InvalidInputError, match="its value is fixed once the table has a snapshot"):
        altered(SetOption(key="blob.stored-descriptor-fields", value="s"))
    options = {"pk_clustering_override": "true", "clustering__columns": "s"}
    schema = table(**options, deletion_vectors__enabled="true")
    with pytest.raises(InvalidInputError, match="the files are sorted by these columns"):
        altered(SetOption(key="sink.clustering.by-columns", value="a"), schema=schema)


LACKING = {
    "b": ("BYTES", "__BLOB_FIELD; pictures", "BLOB"),
    "d": ("BYTES", "__BLOB_DESCRIPTOR_FIELD", "BLOB"),
    "v": ("ARRAY<FLOAT>", "__VECTOR_FIELD;3", "VECTOR<FLOAT, 3>"),
}


def test_comments_of_new_columns_declare_types_and_dropped_columns_leave_their_options() -> None:
    options = {"row-tracking.enabled": "true", "data-evolution.enabled": "true"}
    columns = RowType(fields=(DataField(id=0, name="a", type=INT),))
    schema = new_schema(columns, options=options)
    changes = [
        AddColumn(column=(name,), type=parse_type_text(kind), comment=comment)
        for name, (kind, comment, _) in LACKING.items()
    ]
    made = altered(*changes, schema=schema)
    found = {one.name: type_text(one.type) for one in made.fields[1:]}
    assert found == {name: kind for name, (_, _, kind) in LACKING.items()}
    assert [one.description for one in made.fields[1:]] == ["pictures", None, None]
    named = {"blob-field": "b", "blob-descriptor-field": "d", "vector-field": "v"}
    assert made.options == {**options, **named}
    assert altered(DropColumn(column=("d",)), schema=made).options == {
        **options,
        "blob-field": "b",
        "vector-field": "v",
    }
    gone = [DropColumn(column=(name,)) for name in LACKING]
    assert altered(*gone, schema=made).options == options


def test_a_dropped_column_leaves_its_length_and_layout_and_its_place_in_lists() -> None:
    fields = {
        "a": "INT",
        "v": "ARRAY<FLOAT>",
        "w": "ARRAY<FLOAT>",
        "m": "MAP<STRING NOT NULL, INT>",
    }
    columns = RowType(
        fields=tuple(
            DataField(id=0, name=name, type=parse_type_text(kind)) for name, kind in fields.items()
        )
    )
    options = {
        "vector-field": "v, w",
        "field.v.vector-dim": "3",
        "field.w.vector-dim": "4",
        "fields.m.map.storage-layout": "shared-shredding",
        "fields.m.map.shared-shredding.max-columns": "9",
    }
    schema = new_schema(columns, options=options)
    dropped = altered(DropColumn(column=("v",)), DropColumn(column=("m",)), schema=schema)
    assert dropped.options == {"vector-field": "w", "field.w.vector-dim": "4"}


@pytest.mark.parametrize(
    "change",
    [
        AddColumn(column=("r", "z"), type=parse_type_text("BYTES"), comment="__BLOB_FIELD"),
        ChangeColumnComment(column=("s",), comment="__BLOB_FIELD"),
        ChangeColumnComment(column=("l", "element", "e"), comment=" __VECTOR_FIELD;3"),
    ],
)
def test_only_comments_of_new_columns_declare_types(change: SchemaChange) -> None:
    with pytest.raises(InvalidInputError, match="only those of new columns can"):
        altered(change)


def test_deletion_vectors_can_be_switched_on_demand() -> None:
    schema = table(deletion_vectors__modifiable="true")
    changed = altered(SetOption(key="deletion-vectors.enabled", value="true"), schema=schema)
    assert changed.options["deletion-vectors.enabled"] == "true"


def test_clustering_columns_of_overriding_tables_are_fixed() -> None:
    schema = table(
        pk_clustering_override="true", clustering__columns="a", deletion_vectors__enabled="true"
    )
    with pytest.raises(InvalidInputError, match="the files are sorted by these columns"):
        altered(SetOption(key="clustering.columns", value="s"), schema=schema)


def test_indexed_columns_are_fixed() -> None:
    schema = table(pk_btree__index__columns="a", deletion_vectors__enabled="true")
    with pytest.raises(
        InvalidInputError, match=r"Column 'a' cannot be dropped: option 'pk-btree.index.columns'"
    ):
        altered(DropColumn(column=("a",)), schema=schema)


def test_breaches_that_the_table_had_before_are_left_alone() -> None:
    old = TableSchema(
        version=1,
        id=4,
        fields=(DataField(id=0, name="a", type=INT),),
        highest_field_id=0,
        options={"bucket": "3"},
    )
    assert altered(AddColumn(column=("b",), type=INT), schema=old).id == 5


def test_changes_travel_to_other_processes() -> None:
    change = AddColumn(column=("n",), type=INT, move=Move(position=Position.FIRST))
    assert pickle.loads(pickle.dumps(change)) == change  # noqa: S301 - our own bytes
