"""Statements on tables, views and databases that do not exist, with and without IF EXISTS."""

from dataclasses import replace
from pathlib import Path

import pytest

import paimon_explore as pe
from paimon_explore.data_types.formatter import type_text
from paimon_explore.errors import InvalidInputError, NotFoundError
from paimon_explore.metastore.filesystem_metastore import FilesystemMetastore
from support.paused_file_io import PausedFileIO

STATEMENTS = (
    "SELECT * FROM {}",
    "WITH one AS (SELECT * FROM {}) SELECT * FROM one",
    "INSERT INTO {} VALUES (1)",
    "INSERT OVERWRITE {} SELECT 1",
    "DELETE FROM {}",
    "UPDATE {} SET id = 1",
    "MERGE INTO {} USING shop.t ON TRUE WHEN MATCHED THEN DELETE",
    "TRUNCATE TABLE {}",
    "DROP TABLE {}",
    "DROP VIEW {}",
    "ALTER TABLE {} ADD COLUMN more INT",
    "ALTER TABLE {} RENAME TO shop.other",
    "ALTER TABLE {} CREATE TAG v1",
    "ALTER TABLE {} UNSET TBLPROPERTIES ('bucket')",
    "DESCRIBE {}",
    "SHOW CREATE TABLE {}",
    "SHOW COLUMNS IN {}",
    "SHOW PARTITIONS {}",
    "SHOW TBLPROPERTIES {}",
    "ANALYZE TABLE {} COMPUTE STATISTICS",
    "COMMENT ON TABLE {} IS 'text'",
    "CREATE TABLE shop.copy AS SELECT * FROM {}",
    "CREATE TABLE shop.copy LIKE {}",
    "CALL sys.compact('{}')",
)


@pytest.fixture
def catalog(tmp_path: Path) -> pe.Catalog:
    catalog = pe.Catalog(tmp_path)
    catalog.sql("CREATE DATABASE shop")
    catalog.sql("CREATE TABLE shop.t (id INT)")
    return catalog


@pytest.mark.parametrize("statement", STATEMENTS)
def test_an_error_names_what_does_not_exist_and_what_does(
    statement: str, catalog: pe.Catalog
) -> None:
    with pytest.raises(NotFoundError, match=r"'nope'.*default.*Databases: 'shop'\.|'default'"):
        catalog.sql(statement.format("nope"))
    for name in ("shop.nope", "paimon.shop.nope"):
        with pytest.raises(NotFoundError, match="'nope' does not exist in shop"):
            catalog.sql(statement.format(name))
    with pytest.raises(NotFoundError, match="Database 'gone' does not exist"):
        catalog.sql(statement.format("gone.nope"))
    problem = r"Catalog 'mine'.*paimon\.shop\.t|mine\.shop\.t' is not the name of a Paimon table"
    with pytest.raises((NotFoundError, InvalidInputError), match=problem):
        catalog.sql(statement.format("mine.shop.t"))
    catalog.sql("USE shop")
    with pytest.raises(NotFoundError, match="'nope' does not exist in shop"):
        catalog.sql(statement.format("nope"))
    assert catalog.tables("shop") == ["t"]


@pytest.mark.parametrize("kind", ["TABLE", "VIEW"])
def test_nothing_is_dropped_if_it_does_not_exist(kind: str, catalog: pe.Catalog) -> None:
    for database in ("", "shop"):
        if database:
            catalog.sql(f"USE {database}")
        for name in ("nope", "`nope`", "shop.nope", "gone.nope", "paimon.shop.nope"):
            catalog.sql(f"DROP {kind} IF EXISTS {name}")
    assert catalog.tables("shop") == ["t"]


def test_a_temporary_view_is_dropped(catalog: pe.Catalog) -> None:
    catalog.sql("CREATE TEMPORARY VIEW v AS SELECT 1 AS id")
    catalog.sql("DROP VIEW V")
    with pytest.raises(NotFoundError, match="'v' does not exist"):
        catalog.sql("SELECT * FROM v")


def test_a_current_database_that_does_not_exist_is_told(catalog: pe.Catalog) -> None:
    with pytest.raises(NotFoundError, match=r"USE selects a database.*Databases: 'shop'\."):
        catalog.sql("CREATE TABLE t (id INT)")


@pytest.mark.parametrize("name", ["t.snapshots", "shop.t.FILES", "paimon.shop.t.tags"])
def test_an_error_tells_the_name_of_a_system_table(name: str, catalog: pe.Catalog) -> None:
    table, _, system = name.rpartition(".")
    with pytest.raises(NotFoundError, match=rf"have a \$: {table}\${system}\."):
        catalog.sql(f"FROM {name}")


@pytest.mark.parametrize("name", ["t$snapshots", "T$Snapshots", "`t$SNAPSHOTS`"])
def test_the_error_of_a_wrong_column_names_all_columns_of_a_system_table(
    name: str, catalog: pe.Catalog
) -> None:
    with pytest.raises(InvalidInputError, match=r"mean 'commit_time'.*'snapshot_id'"):
        catalog.sql(f"USE shop; FROM {name} SELECT committime")


@pytest.mark.parametrize(
    "statement", ["SHOW CREATE TABLE {}", "DELETE FROM {}", "ANALYZE TABLE {} COMPUTE STATISTICS"]
)
def test_system_tables_can_only_be_queried(statement: str, catalog: pe.Catalog) -> None:
    with pytest.raises(InvalidInputError, match="can only be queried"):
        catalog.sql(statement.format("shop.t$files"))


def test_a_table_is_created_and_altered_as_in_flink(catalog: pe.Catalog) -> None:
    catalog.sql(
        "CREATE TABLE shop.f (dt STRING, id BIGINT, PRIMARY KEY (dt, id) NOT ENFORCED)"
        " PARTITIONED BY (dt) WITH ('bucket' = '2', 'merge-engine' = 'first-row')"
    )
    made = catalog.table("shop.f")
    assert made.schema.primary_keys == ("dt", "id")
    assert made.schema.partition_keys == ("dt",)
    assert made.schema.options == {"bucket": "2", "merge-engine": "first-row"}
    catalog.sql("ALTER TABLE shop.f SET ('snapshot.num-retained.max' = '20', 'bucket' = '3')")
    catalog.sql("ALTER TABLE shop.f RESET ('snapshot.num-retained.max')")
    catalog.sql("ALTER TABLE shop.f ADD (more INT, text STRING)")
    for change in (
        "ADD first INT FIRST",
        "RENAME more TO renamed",
        "MODIFY renamed BIGINT COMMENT 'wide' AFTER text",
        "ADD gone INT",
        "DROP (gone)",
    ):
        catalog.sql(f"ALTER TABLE shop.f {change}")
    altered = catalog.table("shop.f").schema
    assert altered.options == {"bucket": "3", "merge-engine": "first-row"}
    assert altered.row_type.names == ("first", "dt", "id", "text", "renamed")
    assert type_text(altered.fields[4].type) == "BIGINT"
    catalog.sql("CREATE TABLE shop.k (id INT PRIMARY KEY NOT ENFORCED, name STRING)")
    assert catalog.table("shop.k").schema.primary_keys == ("id",)
    catalog.sql("CREATE TABLE shop.g WITH ('bucket' = '-1') AS SELECT 1 AS id")
    catalog.sql("CREATE TABLE shop.h WITH one AS (SELECT 1 AS id) SELECT id FROM one")
    assert [catalog.table(name).count() for name in ("shop.g", "shop.h")] == [1, 1]


def test_a_query_of_an_existing_table_lists_neither_databases_nor_tables(
    catalog: pe.Catalog, tmp_path: Path
) -> None:
    catalog.sql("USE shop")
    catalog.sql("INSERT INTO t VALUES (1)")
    told: list[str] = []
    store = catalog._metastore
    assert isinstance(store, FilesystemMetastore)
    catalog._metastore = replace(store, file_io=PausedFileIO(store.file_io, told.append))
    assert catalog.sql("SELECT * FROM t").to_arrow().num_rows == 1
    assert "read schema-0" in told
    assert told.count("read LATEST") == 1  # the snapshot is resolved once
    assert not {"list shop.db", f"list {tmp_path.name}"} & {*told}
    assert catalog.sql("SELECT * FROM T").to_arrow().num_rows == 1
    assert "list shop.db" in told


def test_a_temporary_view_is_before_a_table_of_its_name(catalog: pe.Catalog) -> None:
    catalog.sql("USE shop")
    catalog.sql("CREATE TEMPORARY VIEW T AS SELECT 7 AS seven")
    assert catalog.sql("SELECT * FROM t").to_arrow().to_pylist() == [{"seven": 7}]


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT t.id FROM shop.t o",
        "SELECT nope.id FROM shop.t o",
        "UPDATE shop.t o SET id = 2 WHERE t.id = 1",
        "DELETE FROM shop.t o WHERE nope.id = 1",
    ],
)
def test_an_unknown_qualifier_is_no_missing_table(statement: str, catalog: pe.Catalog) -> None:
    with pytest.raises(InvalidInputError, match=r"is neither a table in FROM nor .* mean 'o'\?"):
        catalog.sql(statement)


@pytest.mark.parametrize(
    ("clause", "left"),
    [
        ("UPDATE SET v = s.v", ["new", "b"]),
        ("UPDATE SET v = upper(n.s.v)", ["NEW", "b"]),
        ("DELETE", ["b"]),
    ],
)
def test_members_of_structs_in_a_merge_are_not_columns_of_their_name(
    clause: str, left: list[str], catalog: pe.Catalog
) -> None:
    catalog.sql("CREATE TABLE shop.c (id INT, v STRING)")
    catalog.sql("INSERT INTO shop.c VALUES (1, 'a'), (2, 'b')")
    catalog.sql("CREATE TABLE shop.n (k INT, s STRUCT<id: INT, v: STRING>)")
    catalog.sql("INSERT INTO shop.n VALUES (7, named_struct('id', 1, 'v', 'new'))")
    merge = "MERGE INTO shop.c USING shop.n ON c.id = s.id WHEN MATCHED AND s.v = 'new' THEN "
    catalog.sql(merge + clause)
    assert catalog.table("shop.c").to_arrow().sort_by("id")["v"].to_pylist() == left
    with pytest.raises(InvalidInputError, match=r"'gone.v' does not exist in the merge"):
        catalog.sql(merge + "UPDATE SET v = gone.v")
