"""Odd names of columns, fields, tables, tags and branches work wherever a name can be given."""

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

import paimon_explore as pe
from paimon_explore import Catalog, Table
from paimon_explore.errors import InvalidInputError
from paimon_explore.sql_statements.quoted_names import text_constant
from support.odd_names import ODD_NAMES
from support.small_tables import append_table, new_catalog

FIELD_NAMES = (*ODD_NAMES, ".x", "..", "x", "[0]", "a.", "$x", "case", "end")
FILE_NAMES = [name for name in ODD_NAMES if len(name) < 200 and not set(name) & set("/\\")]


def quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


@pytest.fixture(scope="module")
def wide() -> Table:
    """A table with a column, and a field of a ROW, of each name; two rows."""
    strings: dict[str, pa.DataType] = dict.fromkeys(FIELD_NAMES, pa.string())
    schema = pa.schema({"id": pa.int32(), **strings, "r": pa.struct(list(strings.items()))})
    rows = [
        {
            "id": row,
            **{name: f"{at} {row}" for at, name in enumerate(FIELD_NAMES)},
            "r": {name: f"r {at} {row}" for at, name in enumerate(FIELD_NAMES)},
        }
        for row in (1, 2)
    ]
    return append_table(schema, rows)


def test_conditions_and_columns_take_odd_names(wide: Table) -> None:
    for at, name in enumerate(FIELD_NAMES):
        for where in (
            f"{quoted(name)} = '{at} 2'",
            f"r.{quoted(name)} = 'r {at} 2'",
            pe.col(f"r.{name}") == f"r {at} 2",
        ):
            assert wide.scan(["id"], where).to_arrow().to_pylist() == [{"id": 2}], where
        first, second = wide.scan([name, f"r.{name}"], "id = 1").to_arrow().to_pylist()[0].values()
        assert (first, second) == (f"{at} 1", {name: f"r {at} 1"})


def test_queries_take_odd_names(wide: Table) -> None:
    for at, name in enumerate(FIELD_NAMES):
        column = quoted(name)
        text = f"SELECT t.{column}, r.{column} AS f FROM t WHERE r.{column} = 'r {at} 2'"  # noqa: S608 - of this test
        found = pe.sql(text, t=wide).to_arrow()
        assert found.to_pylist() == [{name: f"{at} 2", "f": f"r {at} 2"}], name
    assert pe.sql("SELECT upper(`it's`), concat('a', id) FROM t", t=wide).schema.names == [
        "upper(it's)",
        "concat(a, id)",
    ]


def test_charts_compare_the_column_that_is_meant(wide: Table) -> None:
    found = pe.sql("SELECT 'a' AS `.x`, id AS x FROM t", t=wide)
    assert found.plot() is not None


def test_statements_take_odd_names_of_tables() -> None:
    catalog = new_catalog()
    for name in (one for one in FILE_NAMES if not set(one) & set("$:")):
        table = f"db.{quoted(name)}"
        catalog.sql(f"CREATE TABLE {table} (case INT, {quoted(name)} STRING, end INT)")
        created = catalog.sql(f"SHOW CREATE TABLE {table}").to_arrow()[0][0].as_py()
        catalog.drop_table(f"db.{name}")
        catalog.sql(created)
        assert catalog.table(f"db.{name}").schema.row_type.names == ("case", name, "end")
        catalog.sql(f"INSERT INTO {table} VALUES (1, 'a', 2)")  # noqa: S608 - of this test
        catalog.sql(f"UPDATE {table} SET {quoted(name)} = 'b' WHERE {quoted(name)} = 'a'")  # noqa: S608 - of this test
        for query in (
            f"SELECT {quoted(name)}.`case` AS n FROM {table}",  # noqa: S608 - of this test
            f"SELECT {table}.`case` AS n FROM {table}",  # noqa: S608 - of this test
            f"SELECT sum(record_count) AS n FROM db.{quoted(name + '$files')}",  # noqa: S608 - of this test
            f"SELECT count(*) AS n FROM {table} WHERE {quoted(name)} = 'b'",  # noqa: S608 - of this test
        ):
            assert catalog.sql(query).to_arrow().to_pylist() == [{"n": 1}], query
        catalog.sql(f"DROP TABLE {table}")
    assert list(catalog.tables("db")) == []


def test_statements_take_odd_names_of_tags_and_branches() -> None:
    catalog = new_catalog()
    table = catalog.create_table("db.t", {"id": "INT"})
    table.append([{"id": 1}])
    for name in (one for one in FILE_NAMES if not one.isdigit()):
        catalog.sql(f"ALTER TABLE db.t CREATE TAG {quoted(name)}")
        assert table.at(tag=name).count() == 1
        catalog.sql(f"ALTER TABLE db.t CREATE BRANCH {quoted(name)} AS OF TAG {quoted(name)}")
        text = "'" + name.replace("\\", "\\\\").replace("'", "\\'") + "'"
        catalog.sql(f"CALL sys.delete_tag('db.t', {text})")
        catalog.sql(f"ALTER TABLE db.t DELETE BRANCH {quoted(name)}")
        assert (list(table.tags), list(table.branches)) == ([], [])


def test_folders_may_have_a_dollar(tmp_path: Path) -> None:
    catalog = Catalog(tmp_path / "$x")
    catalog.create_database("db")
    table = catalog.create_table("db.t", {"id": "INT"})
    table.append([{"id": 1}])
    for suffix in ("", "$files"):
        query = f"SELECT count(*) AS n FROM paimon.{quoted(table.path + suffix)}"  # noqa: S608 - of this test
        assert catalog.sql(query).to_arrow().to_pylist() == [{"n": 1}]


def test_a_home_folder_that_is_not_known_is_named(tmp_path: Path) -> None:
    assert Catalog(tmp_path / "~unknown-user").warehouse == str(tmp_path / "~unknown-user")
    with pytest.raises(
        InvalidInputError, match=r"'~unknown-user/w' starts with '~'.*'\./~unknown-user/w'"
    ):
        Catalog("~unknown-user/w")


def test_text_that_is_no_unicode_is_refused_before_anything_is_written() -> None:
    catalog = new_catalog()
    for columns, comment in (({"a\ud800": "INT"}, None), ({"a": "INT"}, "b\ud800")):
        with pytest.raises(InvalidInputError, match=r"is not Unicode: .* ends with half"):
            catalog.create_table("db.t", columns, comment=comment)
    assert list(catalog.tables("db")) == []


def test_statements_take_odd_keys_of_options() -> None:
    catalog = new_catalog()
    table = catalog.create_table("db.t", {"id": "INT"})
    for name in ODD_NAMES:
        key = text_constant(f"x.{name}")
        table.set_options({f"x.{name}": name, "y.z": "1"})
        shown = catalog.sql(f"SHOW TBLPROPERTIES db.t ({key}, y.z)").to_arrow().to_pylist()
        assert shown == [{"key": f"x.{name}", "value": name}, {"key": "y.z", "value": "1"}]
        catalog.sql(f"ALTER TABLE db.t UNSET TBLPROPERTIES (y.z, {key})")
        assert catalog.table("db.t").schema.options == {}


@pytest.mark.parametrize("name", ["a:b", "a$b", "a/b", "a\\b", "a\ud800", " ", "", ".", ".."])
@pytest.mark.parametrize("metastore", ["filesystem", "jdbc"])
def test_names_that_others_cannot_list_are_refused(
    tmp_path: Path, metastore: str, name: str
) -> None:
    uri = {"uri": f"jdbc:sqlite:{tmp_path}/c.db"} if metastore == "jdbc" else {}
    options = {"metastore": metastore, "warehouse": str(tmp_path / "warehouse"), **uri}
    catalog = Catalog(options=options)
    catalog.create_database("db")
    catalog.create_table("db.t", {"id": "INT"})
    acts: list[Callable[[], object]] = [
        lambda: catalog.create_database(name, if_not_exists=True),
        lambda: catalog.create_table(f"db.{name}", {"id": "INT"}, if_not_exists=True),
        lambda: catalog.rename_table("db.t", f"db.{name}"),
        lambda: catalog.create_format_table(f"db.{name}", {"id": "INT"}, "csv"),
    ]
    for act in acts:
        with pytest.raises(InvalidInputError, match=r"valid name|name of a table is needed"):
            act()
    assert catalog.databases() == ["db"]
    assert list(catalog.tables("db")) == ["t"]
