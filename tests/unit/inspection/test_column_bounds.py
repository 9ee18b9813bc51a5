import pyarrow as pa
import pytest

from paimon_explore.data_types.definitions import DataField
from paimon_explore.data_types.json_parser import parse_type
from paimon_explore.encoding.binary_row.row_encoder import encode_rows
from paimon_explore.inspection.column_bounds import (
    ColumnBounds,
    key_bounds,
    partition_bounds,
    value_bounds,
)
from paimon_explore.inspection.history.file_history import files_now
from paimon_explore.inspection.history.timeline import read_timeline
from paimon_explore.inspection.table_view import TableView
from paimon_explore.metadata.schema.table_schema import TableSchema
from support.decoding import with_arity
from support.entries import entries, entry
from support.explored import golden_view, text_row
from support.golden import GoldenTables

INT_AND_TEXT = {"id": "INT", "name": "STRING", "tags": {"type": "ARRAY", "element": "INT"}}


def schema(options: dict[str, str] | None = None, **columns: object) -> TableSchema:
    fields = tuple(
        DataField(id=i, name=name, type=parse_type(kind, name))
        for i, (name, kind) in enumerate((columns or INT_AND_TEXT).items())
    )
    return TableSchema(id=0, fields=fields, highest_field_id=9, options=options or {})


def row(values: list[object], kinds: list[object]) -> bytes:
    types = [parse_type(kind, "c") for kind in kinds]
    arrays = [
        pa.array([value], pa.int32() if kind == "INT" else pa.string())
        for value, kind in zip(values, kinds, strict=True)
    ]
    found: bytes = with_arity(encode_rows(arrays, types), len(kinds))[0].as_py()
    return found


def bounds(table: TableSchema, **changes: object) -> dict[str, ColumnBounds]:
    one = entries(entry("f", **changes)).rows()[0]
    return {b.column: b for b in value_bounds(one, table)}


DENSE = {
    "value_min": row([3, "a"], ["INT", "STRING"]),
    "value_max": row([99, "z"], ["INT", "STRING"]),
    "value_null_counts": [0, 4],
    "value_stats_cols": ["id", "name"],
}


def test_bounds_are_decoded_by_the_columns_that_are_listed() -> None:
    found = bounds(schema(), **DENSE)
    assert (found["id"].minimum, found["id"].maximum, found["id"].null_count) == ("3", "99", 0)
    assert (found["name"].minimum, found["name"].null_count) == ("a", 4)
    assert found["tags"].reason == "not in _VALUE_STATS_COLS (bounds are not collected for ARRAY)"


def test_a_column_without_statistics_names_the_option() -> None:
    options = {"fields.name.stats-mode": "none"}
    only_id = {
        "value_min": row([3], ["INT"]),
        "value_max": row([99], ["INT"]),
        "value_null_counts": [0],
        "value_stats_cols": ["id"],
    }
    found = bounds(schema(options), **only_id)
    assert found["name"].reason == "not in _VALUE_STATS_COLS (fields.name.stats-mode = none)"


def test_counts_alone_are_told_from_a_column_of_nulls() -> None:
    counts = {
        "value_min": row([None, None], ["INT", "STRING"]),
        "value_max": row([None, None], ["INT", "STRING"]),
        "value_null_counts": [2, 10],
        "value_stats_cols": ["id", "name"],
        "row_count": 10,
    }
    found = bounds(schema({"metadata.stats-mode": "counts"}), **counts)
    assert found["id"].reason == "not collected (metadata.stats-mode = counts)"
    assert found["id"].null_count == 2
    assert found["name"].reason == "all values are null"


def test_an_upper_bound_that_cannot_be_cut_is_explained() -> None:
    cut = {**DENSE, "value_max": row([99, None], ["INT", "STRING"])}
    found = bounds(schema(), **cut)
    assert "no truncated upper bound exists" in found["name"].reason


def test_bounds_as_long_as_the_limit_are_noted_as_cut() -> None:
    long = {**DENSE, "value_max": row([99, "z" * 16], ["INT", "STRING"])}
    assert bounds(schema(), **long)["name"].note == "truncated to 16 characters"
    assert bounds(schema(), **DENSE)["name"].note == ""


def test_dropped_statistics_of_a_delete_are_told() -> None:
    found = bounds(schema(), kind=1, value_stats_cols=[])
    assert found["id"].reason.startswith("not stored: DELETE entries")


def test_a_column_that_was_not_written_is_told() -> None:
    written = {
        "write_cols": ["id"],
        "value_min": row([3], ["INT"]),
        "value_max": row([99], ["INT"]),
        "value_null_counts": [0],
    }
    found = bounds(schema(), **written)
    assert found["id"].minimum == "3"
    assert found["name"].reason == "the column is not in this file (_WRITE_COLS)"


def test_bounds_are_in_the_order_of_the_written_columns_with_those_of_row_tracking() -> None:
    written = {
        "write_cols": ["name", "_ROW_ID", "id"],
        "value_min": row(["a", 5, 3], ["STRING", "INT", "INT"]),
        "value_max": row(["z", 9, 99], ["STRING", "INT", "INT"]),
        "value_null_counts": [4, 0, 1],
    }
    found = bounds(schema(), **written)
    assert (found["id"].minimum, found["id"].maximum, found["id"].null_count) == ("3", "99", 1)
    assert (found["name"].minimum, found["name"].null_count) == ("a", 4)


def test_bytes_that_do_not_fit_the_schema_are_a_reason_and_no_error() -> None:
    found = bounds(schema(), **{**DENSE, "value_min": b"\0\0\0\x02short"})
    assert "_VALUE_STATS" in found["id"].reason or found["id"].reason
    assert found["id"].minimum is None
    strange = bounds(schema(), **{**DENSE, "value_stats_cols": ["id", "gone"]})
    assert strange["id"].reason == "_VALUE_STATS_COLS contains an unknown column"


@pytest.mark.parametrize(
    ("name", "column", "reason"),
    [
        ("stats_none", "id", "metadata.stats-mode = none"),
        ("stats_counts", "id", "metadata.stats-mode = counts"),
    ],
)
def test_java_files_without_bounds_say_why(
    golden: GoldenTables, name: str, column: str, reason: str
) -> None:
    view = golden_view(golden.table("java200", name).folder)
    found = {b.column: b for b in value_bounds(*_first(view))}
    assert reason in found[column].reason


def _first(view: TableView) -> tuple[dict[str, object], TableSchema]:
    timeline = read_timeline(view)
    files = files_now(view, timeline, timeline.marks[-1].snapshot_id).files
    manifest = files.column("manifest")[0].as_py()
    number = files.column("entry")[0].as_py()
    one = view.store.manifests.read(manifest).slice(number, 1).rows()[0]
    found = one["schema_id"]
    assert isinstance(found, int)
    return one, view.store.schemas.load(found)


def test_key_bounds_of_an_old_release_are_decoded(golden: GoldenTables) -> None:
    view = golden_view(golden.table("java09", "pk_composite").folder)
    one, table = _first(view)
    found = key_bounds(one, table)
    assert [b.column for b in found] == list(table.trimmed_primary_keys)
    assert all(b.minimum is not None and b.minimum <= (b.maximum or "") for b in found[:1])


def test_the_partition_range_of_a_manifest_is_decoded() -> None:
    table = TableSchema(
        id=0,
        fields=(DataField(id=0, name="p", type=parse_type("STRING", "p")),),
        highest_field_id=0,
        partition_keys=("p",),
    )
    manifest: dict[str, object] = {
        "partition_min": text_row("a"),
        "partition_max": text_row("b"),
        "partition_null_counts": [3],
    }
    (found,) = partition_bounds(manifest, table)
    assert (found.minimum, found.maximum, found.null_count) == ("a", "b", 3)
    empty: dict[str, object] = {**manifest, "partition_min": bytes(12), "partition_max": bytes(12)}
    assert partition_bounds(empty, table)[0].reason == "the manifest has no entries"
