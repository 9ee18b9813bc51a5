"""Indexes that data files carry."""

import pyarrow as pa
import pytest

from paimon_explore.data_types.definitions import (
    MAX_LENGTH,
    AtomicType,
    DataField,
    MapType,
    TypeRoot,
)
from paimon_explore.encoding.file_index.container import decode_container
from paimon_explore.encoding.file_index.index_condition import Condition, Relation
from paimon_explore.encoding.file_index.index_types import decode_index
from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.write.append_writer import write_append
from paimon_explore.write.file_indexes import FileIndexes, index_plans
from paimon_explore.write.primary_key_writer import write_upsert
from support.new_tables import all_files, new_table

INT = AtomicType(root=TypeRoot.INT)
STRING = AtomicType(root=TypeRoot.VARCHAR, length=MAX_LENGTH)
FIELDS = (
    DataField(id=0, name="a", type=INT),
    DataField(id=1, name="m", type=MapType(key=STRING, value=INT)),
)


def parts(options: dict[str, str], *columns: "pa.Array[pa.Scalar[pa.DataType]]") -> list[str]:
    plans = index_plans(FIELDS, TableOptions(options))
    indexes = FileIndexes(plans, {"a": 0, "m": 1})
    indexes.add(columns)
    data = indexes.encode()
    assert data is not None
    return [f"{part.column}:{part.kind}" for part in decode_container(data, path="t")]


A = pa.array([1, 2, None], pa.int32())
M = pa.array([[("k", 5)], [("j", 6)], None], pa.map_(pa.string(), pa.int32()))


def test_each_kind_and_column_of_the_options_gets_an_index() -> None:
    options = {
        "file-index.bitmap.columns": "a",
        "file-index.bsi.columns": "a",
        "file-index.bloom-filter.columns": "m[k]",
        "file-index.bloom-filter.m.items": "10",
    }
    assert parts(options, A, M) == ["a:bitmap", "a:bsi", "m[k]:bloom-filter"]


def test_settings_are_read_for_the_column_or_the_key() -> None:
    options = TableOptions(
        {
            "file-index.bloom-filter.columns": "a,m[k]",
            "file-index.bloom-filter.a.items": "10",
            "file-index.bloom-filter.a.fpp": "0.5",
            "file-index.bloom-filter.m[k].items": "20",
            "file-index.bloom-filter.m.items": "30",
            "file-index.range-bitmap.columns": "a",
            "file-index.range-bitmap.a.chunk-size": "1 kb",
            "file-index.bitmap.columns": "a",
            "file-index.bitmap.a.version": "1",
            "file-index.bitmap.a.index-block-size": "2 kb",
        }
    )
    found = {(p.kind, p.name): p.settings for p in index_plans(FIELDS, options)}
    assert found["bloom-filter", "a"].items == 10
    assert found["bloom-filter", "a"].fpp == 0.5
    assert found["bloom-filter", "m[k]"].items == 20
    assert found["range-bitmap", "a"].chunk_bytes == 1024
    assert (found["bitmap", "a"].version, found["bitmap", "a"].block_bytes) == (1, 2048)


def test_without_options_there_is_no_index() -> None:
    assert FileIndexes(index_plans(FIELDS, TableOptions({})), {}).encode() is None


@pytest.mark.parametrize("name", ["x", "a[k]", "x[k]"])
def test_what_is_no_column_is_refused(name: str) -> None:
    with pytest.raises(InvalidInputError, match=r"not a column|not a MAP"):
        index_plans(FIELDS, TableOptions({"file-index.bitmap.columns": name}))


def test_an_index_that_the_column_cannot_have_is_refused() -> None:
    plans = index_plans(FIELDS, TableOptions({"file-index.bitmap.columns": "m"}))
    with pytest.raises(UnsupportedFeatureError):
        FileIndexes(plans, {"m": 0})


def test_a_small_index_lies_in_the_manifest_entry() -> None:
    store, schema = new_table({"a": "INT"}, options={"file-index.bitmap.columns": "a"})
    (message,) = write_append(store, schema, [{"a": 1}, {"a": 2}, {"a": 1}])
    (row,) = message.new_files.rows()
    data = row["embedded_file_index"]
    assert isinstance(data, bytes)
    (part,) = decode_container(data, path="t")
    assert part.start is not None
    index = decode_index(part.kind, data[part.start : part.start + part.length], INT, path="t")
    found = index.rows(Condition(relation=Relation.EQ, values=(1,)))
    assert found is not None
    assert list(found) == [0, 2]


def test_a_large_index_lies_beside_the_data_file() -> None:
    options = {"bucket": "1", "file-index.bloom-filter.columns": "k"}
    store, schema = new_table({"k": "INT NOT NULL"}, primary_keys=["k"], options=options)
    (message,) = write_upsert(store, schema, [{"k": 1}])
    (row,) = message.new_files.rows()
    assert row["extra_files"] == [f"{row['file_name']}.index"]
    assert row["embedded_file_index"] is None
    assert f"bucket-0/{row['file_name']}.index" in all_files(store)
