"""What is particular to a Hive metastore: tables, partitions and locks, compared with Java's."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from catalogs.homes import Home, Homes
from oracle import JavaPaimonError
from paimon_explore import Catalog
from paimon_explore.errors import (
    CommitError,
    InvalidInputError,
    NotFoundError,
    StorageError,
    UnsupportedFeatureError,
)
from paimon_explore.metadata.schema.schema_change import RemoveOption
from paimon_explore.metastore.hive import metastore_methods as methods
from paimon_explore.metastore.hive.hive_client import HiveClient
from paimon_explore.metastore.hive.hive_lock import HiveLock
from paimon_explore.metastore.hive.hive_settings import hive_configuration, hive_settings
from paimon_explore.metastore.hive.metastore_structs import (
    Partition,
    ShowLocksRequest,
    StorageDescriptor,
    Table,
)
from paimon_explore.metastore.identifier import plain_identifier
from support.depth import DEEP, some
from support.lossy_proxy import lossy_proxy
from support.s3 import s3_place

FIELDS = [("k", "INT NOT NULL"), ("dt", "STRING NOT NULL"), ("v", "DECIMAL(10, 2)")]
COLUMNS = dict(FIELDS)
OF_THE_SERVER = {"totalSize", "numFiles", "transient_lastDdlTime"}
"""Parameters that the metastore itself sets."""

_NUMBERS = itertools.count()


@pytest.fixture(scope="module")
def home(homes: Homes) -> Home:
    return homes.get("hive")


@pytest.fixture
def db(home: Home) -> Iterator[str]:
    name = f"hive{next(_NUMBERS)}"
    home.catalog.create_database(name)
    yield name
    home.catalog.drop_database(name, cascade=True, if_exists=True)


@pytest.fixture(scope="module")
def client(home: Home) -> Iterator[HiveClient]:
    made = client_of(home)
    yield made
    made.close()


def client_of(home: Home) -> HiveClient:
    return HiveClient(hive_settings(hive_configuration(home.options)))


def opened(home: Home, **options: str) -> Catalog:
    """The catalog with other options."""
    return Catalog(options={**home.options, **options})


def comparable(storage: StorageDescriptor | None, name: str) -> StorageDescriptor:
    assert storage is not None
    assert storage.location is not None
    return replace(storage, location=storage.location.replace(name, "T"))


def kept(table: Table) -> Table:
    """What must be the same for tables of both: all but names, times and figures."""
    name = table.table_name or ""
    parameters = {k: v for k, v in (table.parameters or {}).items() if k not in OF_THE_SERVER}
    return replace(
        table,
        table_name="",
        create_time=0,
        last_access_time=0,
        parameters=parameters,
        storage=comparable(table.storage, name),
    )


def partitions(client: HiveClient, name: str) -> dict[tuple[str, ...], Partition]:
    database, _, table = name.partition(".")
    found = client.call(methods.GET_PARTITIONS, database, table, -1)
    return {
        tuple(one.values or ()): replace(
            one,
            table_name="",
            create_time=0,
            last_access_time=0,
            parameters={
                key: value
                for key, value in (one.parameters or {}).items()
                if key not in OF_THE_SERVER
            },
            storage=comparable(one.storage, table),
        )
        for one in found
    }


TABLES: dict[str, tuple[Mapping[str, str], Sequence[str], Sequence[str]]] = {
    "append": ({}, (), ()),
    "keys": ({"bucket": "2", "hive.x": "1"}, ("dt",), ("k", "dt")),
    "bucket key": ({"bucket": "2", "bucket-key": "k"}, (), ()),
    "partitioned": ({"metastore.partitioned-table": "true"}, ("dt",), ()),
    "tags": ({"metastore.tag-to-partition": "day"}, (), ()),
    "external": ({"EXTERNAL": "TRUE"}, (), ()),
    "files elsewhere": ({"data-file.path-directory": "data"}, (), ()),
}


@pytest.mark.parametrize("case", TABLES)
def test_a_new_table_is_the_same_in_the_metastore(
    home: Home, db: str, client: HiveClient, case: str
) -> None:
    options, partition_by, primary_key = TABLES[case]
    home.java.create_table(
        f"{db}.javas",
        FIELDS,
        partition_keys=partition_by,
        primary_keys=primary_key,
        options=options,
        comment="a table",
    )
    home.catalog.create_table(
        f"{db}.ours",
        COLUMNS,
        partition_by=partition_by,
        primary_key=primary_key,
        options=dict(options),
        comment="a table",
    )
    theirs = client.call(methods.GET_TABLE, db, "javas")
    ours = client.call(methods.GET_TABLE, db, "ours")
    assert kept(ours) == kept(theirs)


def test_changed_tables_are_the_same_in_the_metastore(
    home: Home, db: str, client: HiveClient
) -> None:
    options = {"hive.x": "1", "snapshot.num-retained.min": "2"}
    home.java.create_table(f"{db}.javas", FIELDS, options=options)
    home.catalog.create_table(f"{db}.ours", COLUMNS, options=options)
    home.java.alter(
        f"{db}.javas",
        {"change": "add_column", "column": "w", "type": "BIGINT"},
        {"change": "set_option", "key": "snapshot.num-retained.min", "value": "5"},
        {"change": "remove_option", "key": "hive.x"},
    )
    table = home.catalog.table(f"{db}.ours")
    table.add_column("w", "BIGINT")
    table.set_options({"snapshot.num-retained.min": "5"})
    table.alter(RemoveOption(key="hive.x"))
    ours = client.call(methods.GET_TABLE, db, "ours")
    assert kept(ours) == kept(client.call(methods.GET_TABLE, db, "javas"))
    assert [c.name for c in ours.storage.columns or ()] == ["k", "dt", "v", "w"]  # type: ignore[union-attr]


def test_partitions_of_commits_reach_the_metastore(home: Home, db: str, client: HiveClient) -> None:
    options = {"metastore.partitioned-table": "true"}
    rows = [{"k": 1, "dt": "a b/c", "v": None}, {"k": 2, "dt": "2026-01-01", "v": None}]
    for name in ("javas", "ours"):
        home.java.create_table(f"{db}.{name}", FIELDS, partition_keys=["dt"], options=options)
    home.java.write(f"{db}.javas", rows)
    table = home.catalog.table(f"{db}.ours")
    table.append(rows[:1])
    table.append(rows)
    found = partitions(client, f"{db}.ours")
    assert sorted(found) == [("2026-01-01",), ("a b/c",)]
    assert found == partitions(client, f"{db}.javas")
    table.add_column("w", "BIGINT")
    home.java.alter(f"{db}.javas", {"change": "add_column", "column": "w", "type": "BIGINT"})
    found = partitions(client, f"{db}.ours")
    assert found == partitions(client, f"{db}.javas")
    assert [column.name for column in found["a b/c",].storage.columns or ()] == ["k", "v", "w"]  # type: ignore[union-attr]
    table.drop_partitions({"dt": "a b/c"})
    assert sorted(partitions(client, f"{db}.ours")) == [("2026-01-01",)]
    listed = home.catalog.partitions(f"{db}.ours")
    assert listed is not None
    assert [one.statistics.spec for one in listed] == [{"dt": "2026-01-01"}]


def test_tags_are_partitions_in_the_metastore(home: Home, db: str, client: HiveClient) -> None:
    name = f"{db}.t"
    options = {"metastore.tag-to-partition": "day"}
    table = home.catalog.create_table(name, COLUMNS, options=options)
    table.append([{"k": 1, "dt": "a", "v": None}])
    table.create_tag("2026-01-01")
    home.java.create_tag(name, "2026-01-02")
    assert sorted(partitions(client, name)) == [("2026-01-01",), ("2026-01-02",)]
    told = home.java.partitions(name)
    assert [one["spec"] for one in told] == [{"day": "2026-01-01"}, {"day": "2026-01-02"}]
    table.delete_tag("2026-01-02")
    home.java.delete_tag(name, "2026-01-01")
    assert partitions(client, name) == {}


def test_partitions_are_marked_as_done(home: Home, db: str) -> None:
    name = f"{db}.t"
    options = {"metastore.partitioned-table": "true", "partition.mark-done-action": "mark-event"}
    table = home.catalog.create_table(name, COLUMNS, partition_by="dt", options=options)
    table.append([{"k": 1, "dt": "a", "v": None}, {"k": 1, "dt": "b", "v": None}])
    home.catalog._metastore.mark_partitions_done(plain_identifier(name), [{"dt": "b"}])
    listed = home.catalog.partitions(name) or []
    assert {one.statistics.spec["dt"]: one.done for one in listed} == {"a": False, "b": True}
    assert {one["spec"]["dt"]: one["done"] for one in home.java.partitions(name)} == {
        "a": False,
        "b": True,
    }


def test_dropping_an_external_table_keeps_its_files(home: Home, db: str, tmp_path: Path) -> None:
    name, folder = f"{db}.t", tmp_path / "elsewhere"
    made = home.catalog.create_table(name, COLUMNS, options={"path": str(folder)})
    made.append([{"k": 1, "dt": "a", "v": None}])
    assert home.java.read(name).num_rows == 1
    home.catalog.drop_table(name)
    assert home.java.tables(db) == []
    with pytest.raises(InvalidInputError, match="other columns or keys"):
        home.catalog.create_table(name, {"x": "INT"}, options={"path": str(folder)})
    again = home.catalog.create_table(name, COLUMNS, options={"path": str(folder)})
    assert again.count() == home.java.read(name).num_rows == 1


def test_tables_of_an_external_catalog_keep_their_files(home: Home, db: str) -> None:
    catalog = opened(home, **{"table.type": "external"})
    table = catalog.create_table(f"{db}.t", COLUMNS)
    catalog.drop_table(f"{db}.t")
    catalog.close()
    assert list(Path(table.path).glob("schema/schema-0"))


def test_locations_in_properties_are_read_by_java(home: Home) -> None:
    catalog = opened(home, **{"location-in-properties": "true"})
    catalog.create_database("inproperties")
    table = catalog.create_table("inproperties.t", COLUMNS)
    table.append([{"k": 1, "dt": "a", "v": None}])
    assert catalog.table("inproperties.t").path == table.path
    assert home.java.read("inproperties.t").num_rows == 1
    catalog.drop_database("inproperties", cascade=True)
    assert not Path(table.path).exists()
    catalog.close()


FORMAT_TABLES = {
    "csv": {"csv.field-delimiter": ";"},
    "json": {"EXTERNAL": "TRUE"},
    "orc": {},
    "parquet": {"x": "1"},
    "text": {},
}


@pytest.mark.parametrize("file_format", FORMAT_TABLES)
def test_a_new_format_table_is_the_same_in_the_metastore(
    home: Home, db: str, client: HiveClient, file_format: str
) -> None:
    options = {"type": "format-table", "file.format": file_format, **FORMAT_TABLES[file_format]}
    fields, row = FIELDS, {"k": 1, "dt": "a", "v": None}
    if file_format == "text":
        fields, row = [("line", "STRING"), ("dt", "INT")], {"line": "a", "dt": 1}
    with pytest.raises(JavaPaimonError, match="ClassCast"):  # Java describes no format table
        home.java.create_table(
            f"{db}.javas", fields, partition_keys=["dt"], options=options, comment="files"
        )
    table = home.catalog.create_format_table(
        f"{db}.ours",
        dict(fields),
        file_format,
        partition_by="dt",
        options=FORMAT_TABLES[file_format],
        comment="files",
    )
    javas, ours = (client.call(methods.GET_TABLE, db, name) for name in ("javas", "ours"))
    assert kept(ours) == kept(javas)
    table.append([row])
    assert table.to_arrow().to_pylist() == [row]
    home.catalog.drop_table(f"{db}.ours")
    assert Path(table.location).exists() == (options.get("EXTERNAL") == "TRUE")


@pytest.mark.parametrize("file_format", some(["csv", "json", "orc", "parquet"], 4))
def test_format_tables_are_listed(home: Home, db: str, file_format: str) -> None:
    home.catalog.create_format_table(f"{db}.f", COLUMNS, file_format, partition_by="dt")
    assert home.catalog.tables(db) == ["f"]
    assert home.catalog.table_exists(f"{db}.f")
    with pytest.raises(UnsupportedFeatureError, match="format-table"):
        home.catalog.table(f"{db}.f")
    home.catalog.create_table(f"{db}.t", COLUMNS)
    names = home.catalog.system_table("sys.all_tables").to_arrow().column("table_name")
    assert "f" not in names.to_pylist()
    assert "t" in names.to_pylist()
    home.catalog.drop_table(f"{db}.t")
    hidden = opened(home, **{"format-table.enabled": "false"})
    assert hidden.tables(db) == []
    hidden.close()
    home.catalog.drop_table(f"{db}.f")
    assert home.java.tables(db) == []


def test_a_view_is_not_a_table(home: Home, db: str) -> None:
    home.catalog.create_view(f"{db}.v", "SELECT 1", {"x": "INT"})
    assert not home.catalog.table_exists(f"{db}.v")
    with pytest.raises(NotFoundError, match="'v'"):
        home.catalog.table(f"{db}.v")
    home.catalog.drop_table(f"{db}.v", if_exists=True)
    assert home.catalog.views(db) == ["v"]
    with pytest.raises(UnsupportedFeatureError, match="dialects"):
        home.catalog.create_view(f"{db}.w", "SELECT 1", {"x": "INT"}, dialects={"spark": "S"})


def test_a_table_is_not_created_over_another_tool(home: Home, db: str) -> None:
    home.catalog.create_view(f"{db}.v", "SELECT 1", {"x": "INT"})
    with pytest.raises(JavaPaimonError):
        home.java.create_table(f"{db}.v", FIELDS)
    assert not Path(home.options["warehouse"], f"{db}.db", "v").exists()


def test_a_name_that_hive_refuses_leaves_no_files(home: Home, db: str, tmp_path: Path) -> None:
    folder = Path(home.options["warehouse"], f"{db}.db")
    with pytest.raises(InvalidInputError, match="refuses create_table"):
        home.catalog.create_table(f"{db}.a-b", COLUMNS)
    assert not (folder / "a-b").exists()
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(InvalidInputError, match="refuses create_table"):
        home.catalog.create_table(f"{db}.a-b", COLUMNS, options={"path": str(tmp_path)})
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["notes.txt"]
    with pytest.raises(UnsupportedFeatureError, match="GEOMETRY"):
        home.catalog.create_table(f"{db}.g", {"g": "GEOMETRY"})
    assert not (folder / "g").exists()
    assert home.java.tables(db) == []


# ---------------------------------------------------------------- locks


def locks(client: HiveClient, database: str, table: str) -> int:
    request = ShowLocksRequest(db_name=database, table_name=table)
    return len(client.call(methods.SHOW_LOCKS, request).locks or ())


def test_a_commit_waits_for_the_lock_and_gives_up(home: Home, db: str, client: HiveClient) -> None:
    home.catalog.create_table(f"{db}.t", COLUMNS)
    waits = {"lock-acquire-timeout": "300 ms", "lock-check-max-sleep": "50 ms"}
    catalog = opened(home, **waits)
    table = catalog.table(f"{db}.t")
    with HiveLock(client, db, "t"):
        with pytest.raises(CommitError, match=r"lock table .*waiting after 0\.\d s"):
            table.add_column("x", "INT")
        assert table._store.schemas.ids() == [0]
        assert locks(client, db, "t") == 1
    assert locks(client, db, "t") == 0
    table.append([{"k": 1, "dt": "a", "v": None}])
    assert table.count() == 1
    assert locks(client, db, "t") == 0
    catalog.close()


def test_tables_in_an_object_store_are_locked_by_default(client: HiveClient, home: Home) -> None:
    with s3_place("hive", ignores_conditions=True) as place:
        options = {key: value for key, value in home.options.items() if key != "lock.enabled"}
        options |= {
            "warehouse": f"{place.location}/wh",
            "location-in-properties": "true",
            "lock-acquire-timeout": "100 ms",
        }
        catalog = Catalog(options=options, storage_options=place.options)
        catalog.create_database("far")
        table = catalog.create_table("far.t", COLUMNS)
        table.append([{"k": 1, "dt": "a", "v": None}])
        with HiveLock(client, "far", "t"), pytest.raises(CommitError, match="the lock is waiting"):
            table.append([{"k": 2, "dt": "a", "v": None}])
        assert catalog.table("far.t").count() == 1
        catalog.rename_table("far.t", "far.moved")
        assert catalog.table("far.moved").count() == 1
        catalog.drop_database("far", cascade=True)
        assert table._store.file_io.list(table.path) == []
        catalog.close()


def test_commits_of_java_and_ours_at_the_same_time_take_effect_once(home: Home, db: str) -> None:
    name = f"{db}.both"
    table = home.catalog.create_table(name, COLUMNS, options={"commit.max-retries": "1000"})
    count = 25 if DEEP else 4

    def javas() -> None:
        for place in range(count):
            home.java.write(name, [{"k": place, "dt": "java", "v": None}])

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(javas)
        for place in range(count):
            table.append([{"k": place, "dt": "ours", "v": None}])
        running.result(120)
    rows = sorted((row["dt"], row["k"]) for row in table.to_arrow().to_pylist())
    assert rows == [(who, place) for who in ("java", "ours") for place in range(count)]
    assert table.snapshot is not None
    assert table.snapshot.id == 2 * count


def test_acts_with_lost_replies_are_done_once(home: Home, client: HiveClient) -> None:
    (target,) = client.settings.addresses
    with lossy_proxy(target, losses=0.2, seed=3) as port:
        catalog = opened(
            home,
            **{
                "uri": f"thrift://127.0.0.1:{port}",
                "hive.metastore.failure.retries": "50",
                "hive.metastore.connect.retries": "50",
                "hive.metastore.client.connect.retry.delay": "5 ms",
            },
        )
        for number in range(10 if DEEP else 2):
            catalog.create_database(f"lost{number}", comment="c")
            name = f"lost{number}.t"
            table = catalog.create_table(name, COLUMNS)
            table.append([{"k": 1, "dt": "a", "v": None}])
            table.add_column("x", "INT")
            catalog.rename_table(name, f"{name}2")
            assert catalog.tables(f"lost{number}") == ["t2"]
            catalog.create_view(f"{name}v", "SELECT 1", {"x": "INT"})
            catalog.drop_view(f"{name}v")
            catalog.drop_table(f"{name}2")
            catalog.drop_database(f"lost{number}")
        assert not [one for one in home.java.databases() if one.startswith("lost")]
        catalog.close()


def test_a_metastore_that_is_gone_leaves_tables_unchanged(home: Home, db: str) -> None:
    name = f"{db}.t"
    options = {"metastore.partitioned-table": "true"}
    home.catalog.create_table(name, COLUMNS, partition_by="dt", options=options)
    table = opened(home).table(name)
    unlocked = opened(home, **{"lock.enabled": "false"}).table(name)
    with lossy_proxy(client_of(home).settings.addresses[0], losses=1) as port:
        gone = {
            "uri": f"thrift://127.0.0.1:{port}",
            "hive.metastore.client.connect.retry.delay": "1 ms",
        }
        with pytest.raises(StorageError, match="set_ugi"):
            opened(home, **gone).create_table(f"{db}.new", COLUMNS)
        with pytest.raises(StorageError, match="Hive metastore"):
            opened(home, **gone).databases()
    assert home.java.tables(db) == ["t"]
    assert table.snapshot is None
    unlocked.append([{"k": 1, "dt": "a", "v": None}])
    assert table.count() == 1
