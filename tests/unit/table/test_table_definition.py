import pickle
import re
from datetime import date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import paimon_explore as pe
from paimon_explore import Catalog, Table
from paimon_explore.data_types.formatter import type_text
from paimon_explore.errors import InvalidInputError

FIELDS: list["pa.Field[Any]"] = [pa.field("id", pa.int64()), pa.field("name", pa.string())]
SCHEMA = pa.schema(FIELDS)
PERIODS = pd.DataFrame({"id": pd.period_range("2024-01", periods=2, freq="M")})
NESTED = pa.field("id", pa.list_(pa.table(PERIODS).schema.field("id").type))
OBJECTS = pl.DataFrame({"id": [{1}]}, schema={"id": pl.Object})


def made(folder: Path, columns: object, **clauses: object) -> Table:
    catalog = Catalog(folder)
    catalog.create_database("db", if_not_exists=True)
    return catalog.create_table("db.t", columns, **clauses)  # type: ignore[arg-type]  # all kinds


@pytest.mark.parametrize(
    "columns",
    [
        {"id": "BIGINT NOT NULL", "name": "STRING"},
        [("id", "bigint not null"), ("name", "string")],
        [("id", pa.int64()), ("name", pa.string())],
        FIELDS,
        SCHEMA,
        pa.table({"id": [1], "name": ["a"]}),
        pd.DataFrame({"id": [1], "name": ["a"]}),
        pl.DataFrame({"id": [1], "name": ["a"]}),
    ],
    ids=["dict", "pairs", "Arrow types", "fields", "schema", "table", "pandas", "polars"],
)
def test_a_table_is_declared_by_what_is_at_hand(tmp_path: Path, columns: object) -> None:
    table = made(tmp_path, columns, primary_key="id", options={"bucket": 2})
    fields = {field.name: type_text(field.type) for field in table.schema.fields}
    assert fields == {"id": "BIGINT NOT NULL", "name": "STRING"}
    assert table.schema.primary_keys == ("id",)
    assert table.schema.options == {"bucket": "2"}


def test_flags_and_numbers_are_option_values(tmp_path: Path) -> None:
    given = {"bucket": 1, "deletion-vectors.enabled": True, "compaction.small-file-ratio": 0.5}
    table = made(tmp_path, {"id": "INT"}, primary_key=["id"], options=given)
    assert table.schema.options == {
        "bucket": "1",
        "deletion-vectors.enabled": "true",
        "compaction.small-file-ratio": "0.5",
    }
    table.set_options({"snapshot.num-retained.max": 70})
    assert table.schema.options["snapshot.num-retained.max"] == "70"


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("id INT", "Columns cannot be taken from a value of type str"),
        (["id"], "Column 0 must be a pair"),
        ({"id": 7}, "Column 'id': 7 is not a type"),
        ({"id": "INTT"}, "Invalid type"),
        (PERIODS, "Column 'id' has pandas periods"),
        (pa.table(PERIODS).schema, "Column 'id' has pandas periods"),
        (pa.schema([NESTED]), "Column 'id' has pandas periods"),
        (OBJECTS, "Column 'id' has the polars type Object"),
        (pd.DataFrame({"id": [1, "x"]}), "Column 'id' of the data frame contains values of diff"),
        (pd.DataFrame({"id": [2**70]}), "contains an integer that BIGINT cannot store"),
        (pd.DataFrame({"id": np.array([1], np.longdouble)}), "has the dtype float128"),
        (pd.DataFrame({"id": [1j]}), "has the dtype complex128, from which no type"),
        (pd.DataFrame({"id": pd.arrays.SparseArray([1])}), r"has the dtype Sparse\[int64, 0\]"),
        (pd.DataFrame({"id": [object()]}), "has the dtype object, from which"),
        (pd.Series([1], name="id"), "Columns cannot be taken from "),
        (pl.Series("id", [1]), "Columns cannot be taken from "),
        (pl.DataFrame({"id": pl.Series([1], dtype=pl.Int128)}), r"from this DataFrame: .*_pli128"),
        (pa.chunked_array([[1]]), "Columns cannot be taken from this ChunkedArray: "),
        (pa.array([1]), "Columns cannot be taken from a value of type Int64Array"),
    ],
)
def test_what_declares_nothing_is_named(tmp_path: Path, columns: object, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        made(tmp_path, columns)


def test_an_option_without_a_value_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="Option 'bucket' must be"):
        made(tmp_path, {"id": "INT"}, options={"bucket": None})
    table = made(tmp_path, {"id": "INT"}, options={"bucket": np.int64(-1), "x": np.False_})
    assert dict(table.options) == {"bucket": "-1", "x": "false"}


def test_a_point_in_time_says_what_it_is(tmp_path: Path) -> None:
    table = made(tmp_path, {"id": "INT"})
    table.append([{"id": 1}])
    table.create_tag("one")
    table.append([{"id": 2}])
    assert table.at(1).count() == 1
    assert table.at("one").count() == 1
    assert table.at("2").count() == 2
    assert table.at(datetime.now().astimezone()).count() == 2
    assert table.at(np.datetime64("2199-01-01", "ns")).count() == 2  # type: ignore[arg-type]  # a time
    assert [table.at(one).count() for one in table.snapshots] == [1, 2]
    with pytest.raises(InvalidInputError, match="but 1 and tag were given"):
        table.at(1, tag="one")


def test_rows_are_counted_by_metadata_where_it_tells(tmp_path: Path) -> None:
    table = made(tmp_path, {"id": "INT"}, primary_key="id", options={"bucket": 1})
    table.upsert([{"id": 1}, {"id": 2}])
    table.upsert([{"id": 2}, {"id": 3}])
    assert table.count() == 3
    assert table.count("id > 1") == 2
    table.compact()
    for data in Path(table.path).glob("bucket-0/*"):
        data.write_bytes(b"")
    assert table.count() == 3
    assert table.scan(limit=2).count() == 2


def test_the_first_rows_are_shown(tmp_path: Path) -> None:
    table = made(tmp_path, {"id": "INT"})
    table.append([{"id": number} for number in range(9)])
    assert list(table.head(3)["id"]) == [0, 1, 2]


def test_named_levels_of_an_index_of_pandas_are_columns(tmp_path: Path) -> None:
    frame = pd.DataFrame({"id": [1, 2], "n": [3, 4], "name": ["a", "b"]})
    for names in (["id"], ["id", "name"], ["name"]):
        table = made(tmp_path / "-".join(names), frame.set_index(names))
        table.append(frame.set_index(names))
        assert table.to_arrow().to_pylist() == frame[list(table.to_arrow().column_names)].to_dict(
            "records"
        )
    table = made(tmp_path, frame)
    table.append(frame.set_index("id", drop=False))
    assert table.count() == 2
    with pytest.raises(InvalidInputError, match="no column 'other'"):
        table.append(frame.rename_axis("other"))


@pytest.mark.parametrize(
    "index",
    [
        pd.Index(["x", "y"]),
        pd.date_range("2024-01-01", periods=2),
        pd.MultiIndex.from_product([[1], ["x", "y"]]),
    ],
)
def test_values_of_an_index_without_a_name_are_not_lost(tmp_path: Path, index: pd.Index) -> None:
    frame = pd.DataFrame({"n": [3, 4]})
    labelled = frame.set_axis(index)
    for write in (lambda: made(tmp_path, labelled), lambda: made(tmp_path, frame).append(labelled)):
        with pytest.raises(InvalidInputError, match="index of the data frame has values of type"):
            write()


def test_an_index_with_the_name_of_a_column_has_its_values(tmp_path: Path) -> None:
    frame = pd.DataFrame({"n": [3, None], "v": ["a", "b"]})
    table = made(tmp_path, frame)
    table.append(frame.set_index("n", drop=False))
    assert table.to_pandas().equals(frame)
    with pytest.raises(InvalidInputError, match="named 'n', as a column with other values"):
        table.append(frame.set_index(pd.Index([4, 5], name="n")))


def test_a_partition_of_a_day_is_a_day(tmp_path: Path) -> None:
    table = made(tmp_path, {"id": "INT", "dt": "DATE"}, partition_by="dt")
    for day in (date(2026, 1, 2), np.datetime64("2026-01-02"), pd.Timestamp("2026-01-02")):
        table.append([{"id": 1, "dt": date(2026, 1, 2)}])
        table.drop_partitions({"dt": day})
        assert table.count() == 0
    for moment in (pd.Timestamp("2026-01-02 12:00"), np.datetime64("2026-01-02T12"), pd.NaT):
        with pytest.raises(InvalidInputError, match="is not a valid DATE"):
            table.drop_partitions({"dt": moment})


def test_a_column_without_values_has_to_get_a_type(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"'a'.* Cast the column to another type first\."):
        made(tmp_path, pd.DataFrame({"a": [None]}))


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("to_polars", "Use table.scan().to_polars."),
        ("expire_snapshots", "Use table.maintenance.expire_snapshots."),
        ("manifests", "Use table.inspect.manifests."),
        ("insert", "Use table.append(rows), or table.upsert(rows) for tables with a primary key."),
        ("new_update", "Use table.update(…), table.delete(where) or table.merge(…)."),
        ("copy", "Use table.at(…), or catalog.table(name, options)."),
        ("primary_key", "Use table.schema."),
        ("rollback_to_timestamp", "Use table.rollback_to(…)."),
        ("new_vector_search_builder", "Use table.search(column, query)."),
        ("info", "Use table.profile()."),
        ("shape", "Use table.count()"),
        ("refresh", "Use the table as it is: each call reads the latest snapshot"),
        ("to_pyarrow_dataset", "Use table.scan().to_dataset()"),
        ("update_schema", "Use table.add_column(…)"),
        ("to_csv", "Use table.to_pandas(), which has it, or COPY INTO of SQL"),
        ("where", "Use table.scan(where=…), or table.scan().filter(where)."),
        ("nothing_known", "has no attribute 'nothing_known'"),
    ],
)
def test_names_of_other_libraries_are_told_where_to_go(
    tmp_path: Path, name: str, place: str
) -> None:
    table = made(tmp_path, {"id": "INT"})
    with pytest.raises(AttributeError, match=re.escape(place)) as caught:
        getattr(table, name)
    searched = None if place.startswith("Use ") else table  # in which Python looks for a like name
    assert (caught.value.name, caught.value.obj) == (name, searched)
    assert pickle.loads(pickle.dumps(table)).path == table.path  # noqa: S301
    with pytest.raises(AttributeError, match=r"Use catalog\.tables\(database\)\."):
        getattr(Catalog(tmp_path), "list_tables")  # noqa: B009
    with pytest.raises(AttributeError, match=r"Use scan\.filter\(where\)"):
        getattr(table.scan(), "with_filter")  # noqa: B009
    assert pickle.loads(pickle.dumps(table.scan())).columns == ("id",)  # noqa: S301
    result = pe.sql("SELECT id FROM t", t=table)
    for other, here in (("df", "to_pandas"), ("fetchall", "to_arrow"), ("show", "as it is")):
        with pytest.raises(AttributeError, match=rf"Use .*{here}"):
            getattr(result, other)
    assert pickle.loads(pickle.dumps(result)).schema.names == ["id"]  # noqa: S301
    with pytest.raises(InvalidInputError, match=r"Catalog\(\*\*options\)"):
        Catalog({"warehouse": str(tmp_path)})  # type: ignore[arg-type]  # as other libraries do
    with pytest.raises(AttributeError, match=r"Use paimon_explore\.Catalog\(\*\*options\)"):
        getattr(pe, "CatalogFactory")  # noqa: B009
    with pytest.raises(AttributeError, match=r"Use paimon_explore\.Catalog"):
        getattr(pe, "connect")  # noqa: B009
