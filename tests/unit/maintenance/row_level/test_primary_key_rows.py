"""Rows of tables with a primary key, and what their merge engines allow."""

from collections.abc import Mapping
from contextlib import suppress

import pyarrow as pa
import pytest

from paimon_explore import Table
from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError
from support.small_tables import columns, keyed_table, rows_of

COLUMNS = columns(k=pa.int32(), v=pa.int32(), s=pa.int32())
FIRST = [{"k": 1, "v": 10, "s": 1}, {"k": 2, "v": 20, "s": 2}]


def table_of(**options: str) -> Table:
    named = {key.replace("__", ".").replace("_", "-"): value for key, value in options.items()}
    return keyed_table(COLUMNS, FIRST, primary_key=["k"], options=named)


def rows(table: Table) -> list[tuple[object, ...]]:
    return [tuple(found.values()) for found in rows_of(table.to_arrow())]


def kinds(table: Table) -> list[object]:
    newest = len(table.snapshots)
    found = table.between(newest - 1, newest, mode="delta", row_kinds=True).to_arrow()
    return [kind.as_py() for kind in found.column("rowkind")]


def test_rows_are_updated_and_deleted_by_records() -> None:
    table = table_of()
    table.update({"v": "v + s"}, where="k = 1")
    assert kinds(table) == ["+U"]
    table.delete("v = 20")
    assert kinds(table) == ["-D"]
    assert rows(table) == [(1, 11, 1)]


def test_a_column_that_tells_the_kind_tells_it() -> None:
    told = columns(k=pa.int32(), op=pa.string())
    table = keyed_table(
        told,
        [{"k": 1, "op": "+I"}, {"k": 2, "op": "+I"}],
        primary_key=["k"],
        options={"rowkind.field": "op"},
    )
    table.delete("k = 1")
    assert rows(table) == [(2, "+I")]


def test_the_primary_key_is_not_updated() -> None:
    with pytest.raises(InvalidInputError, match="'k' belongs to the primary key"):
        table_of().update({"k": "k + 1"})


def test_rows_that_no_compaction_has_completed_are_updated_too() -> None:
    table = table_of(deletion_vectors__enabled="true")
    table.update({"v": "v + 1"}, where="k = 1")
    table.compact()
    assert rows(table) == [(1, 11, 1), (2, 20, 2)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"merge_engine": "aggregation"}, "cannot be updated"),
        ({"merge_engine": "first-row"}, "cannot be updated"),
    ],
)
def test_engines_that_would_not_update_refuse(options: Mapping[str, str], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        table_of(**options).update({"v": 1})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"merge_engine": "aggregation"}, "aggregation.remove-record-on-delete"),
        ({"merge_engine": "partial-update"}, "partial-update.remove-record-on-delete"),
        ({"merge_engine": "first-row"}, "does not support delete"),
        ({"ignore_delete": "true"}, "ignores deletes"),
    ],
)
def test_engines_that_would_not_delete_refuse(options: Mapping[str, str], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        table_of(**options).delete("k = 1")


def test_partial_updates_take_updates_and_with_an_option_deletes() -> None:
    table = table_of(merge_engine="partial-update", partial_update__remove_record_on_delete="true")
    table.update({"v": "0"}, where="k = 1")
    table.delete("k = 2")
    assert rows(table) == [(1, 0, 1)]
    with pytest.raises(InvalidInputError, match="sets column 'v' to null"):
        table.update({"v": None}, where="k = 1")


def test_partial_updates_set_columns_of_a_sequence_group_to_null() -> None:
    table = table_of(merge_engine="partial-update", fields__s__sequence_group="v")
    table.update({"v": None}, where="k = 1")
    assert rows(table) == [(1, None, 1), (2, 20, 2)]


def test_values_that_an_engine_would_combine_are_not_updated() -> None:
    table = table_of(
        merge_engine="partial-update",
        fields__s__sequence_group="v",
        fields__v__aggregate_function="sum",
    )
    with pytest.raises(UnsupportedFeatureError, match="aggregate functions"):
        table.update({"v": 1})


def test_an_update_that_would_lose_by_its_sequence_field_is_refused() -> None:
    table = table_of(sequence__field="s")
    table.update({"s": "s + 1", "v": "0"}, where="k = 1")
    assert rows(table) == [(1, 0, 2), (2, 20, 2)]
    with pytest.raises(InvalidInputError, match="The update lowers"):
        table.update({"s": "1"}, where="k = 2")
    table.update({"v": "7"}, where="k = 2")
    assert rows(table) == [(1, 0, 2), (2, 7, 2)]


@pytest.mark.parametrize("options", [{}, {"deletion_vectors__enabled": "true"}])
def test_rows_are_written_with_a_lower_sequence_field_after_a_compaction(
    options: Mapping[str, str],
) -> None:
    table = table_of(sequence__field="s", **options)
    with pytest.raises(InvalidInputError, match="delete the rows, compact the table, and then"):
        table.update({"s": 0}, where="k = 1")
    table.delete("k = 1")
    table.compact()
    table.upsert([{"k": 1, "v": 5, "s": 0}])
    table.compact()
    assert sorted(rows(table)) == [(1, 5, 0), (2, 20, 2)]


@pytest.mark.parametrize("v", [None, 5, 10])
@pytest.mark.parametrize("s", [None, 0, 1, 2])
@pytest.mark.parametrize("before", [None, 1])
@pytest.mark.parametrize("group", ["fields__s__sequence_group", "fields__s,w__sequence_group"])
def test_an_update_of_a_sequence_group_takes_effect_or_is_refused(
    group: str, before: int | None, s: int | None, v: int | None
) -> None:
    fields = columns(k=pa.int32(), v=pa.int32(), s=pa.int32(), w=pa.int32())
    options = {group.replace("__", ".").replace("_", "-"): "v", "merge-engine": "partial-update"}
    first = {"k": 1, "v": 10, "s": before, "w": before}
    table = keyed_table(fields, [first], [first], primary_key=["k"], options=options)
    for values in ({"v": v}, {"s": s}, {"v": v, "s": s}):
        [old] = rows_of(table.to_arrow())
        wanted = {**old, **values}
        with suppress(InvalidInputError):
            table.update(values)
            old = wanted
        assert rows_of(table.to_arrow()) == [old]
    source = [{"k": 1, "v": 7, "s": s, "w": 1}]
    merge = table.merge(source, on="k").when_matched_update_all()
    if s is None and group == "fields__s__sequence_group":
        with pytest.raises(InvalidInputError, match="the sequence field s of a row would be null"):
            merge.execute()


def test_a_column_that_tells_the_kind_keeps_its_value_in_updates() -> None:
    told = columns(k=pa.int32(), v=pa.int32(), op=pa.string())
    table = keyed_table(
        told,
        [{"k": 1, "v": 1, "op": "+I"}],
        primary_key=["k"],
        options={"rowkind.field": "op"},
    )
    merge = table.merge([{"k": 1}, {"k": 2}], on="k").when_matched_update({"v": "9"})
    merge.when_not_matched_insert({"k": "source.k"}).execute()
    assert rows(table) == [(1, 9, "+I"), (2, None, "+I")]
