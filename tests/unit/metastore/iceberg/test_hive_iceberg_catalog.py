"""Registration of Iceberg metadata in a Hive metastore whose tables a test server keeps."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from thrift.Thrift import TApplicationException

import paimon_explore as pe
from paimon_explore import Table
from paimon_explore.metastore.hive import metastore_methods as methods
from paimon_explore.metastore.hive import metastore_structs as hms
from paimon_explore.metastore.hive.hive_table import PAIMON_FORMAT
from paimon_explore.metastore.hive.hive_tables import HiveTables
from support.fake_metastore import arguments, failure, fake_metastore, reply
from support.iceberg_warnings import told

ROWS: list[dict[str, object]] = [{"k": 1, "v": "a"}, {"k": 2, "v": None}]
OPTIONS = {"metadata.iceberg.storage": "hive-catalog"}


@dataclass
class KeptTables:
    """A metastore that keeps databases and tables.

    Attributes:
        databases: the locations of databases.
        tables: the tables by name.
        contexts: the properties with which tables were changed.
        refuses: whether it fails.
        loses_databases: whether another client drops each new database at once.
    """

    databases: dict[str, str | None] = field(default_factory=dict)
    tables: dict[str, hms.Table] = field(default_factory=dict)
    contexts: list[dict[str, str]] = field(default_factory=list)
    refuses: bool = False
    loses_databases: bool = False
    requests: list[bytes] = field(default_factory=list)
    uri: str = ""

    def __call__(self, name: str, number: int) -> bytes:
        if self.refuses:
            return failure(name, number, TApplicationException.INTERNAL_ERROR, "down")
        known: dict[str, methods.Method[Any]] = {
            one.name: one
            for one in (
                methods.GET_DATABASE,
                methods.CREATE_DATABASE,
                methods.GET_TABLE_REQUEST,
                methods.CREATE_TABLE,
                methods.ALTER_TABLE,
            )
        }
        method = known[name]
        return reply(method, number, **self._act(name, arguments(method, self.requests[-1])))

    def _act(self, name: str, given: Any) -> dict[str, object]:  # noqa: ANN401 - Thrift's values
        answer: dict[str, object] = {}
        match name:
            case "get_database" if given.a1 in self.databases:
                answer["success"] = hms.Database(name=given.a1)
            case "create_database":
                if not self.loses_databases:
                    self.databases[given.a1.name] = given.a1.location_uri
            case "get_table_req" if self._of(given.a1) in self.tables:
                answer["success"] = hms.GetTableResult(table=self.tables[self._of(given.a1)])
            case "create_table" if given.a1.db_name in self.databases:
                self.tables[self._of(given.a1)] = given.a1
            case "alter_table_with_environment_context":
                self.tables[f"{given.a1}.{given.a2}"] = given.a3
                self.contexts.append(given.a4.properties)
            case _:
                place = {"get_database": "o1", "get_table_req": "o2", "create_table": "o4"}[name]
                answer[place] = hms.NoSuchObjectException(f"no object for {name}")
        return answer

    @staticmethod
    def _of(given: Any) -> str:  # noqa: ANN401 - Thrift's values
        return f"{given.db_name}.{given.table_name}"


@contextmanager
def kept_tables() -> Iterator[KeptTables]:
    made = KeptTables()
    with fake_metastore(made, requests=made.requests) as (host, port):
        made.uri = f"thrift://{host}:{port}"
        yield made


@pytest.fixture
def metastore() -> Iterator[KeptTables]:
    with kept_tables() as made:
        yield made


def new_table(
    folder: Path, metastore: KeptTables, options: Mapping[str, str] | None = None
) -> Table:
    catalog = pe.Catalog(folder)
    catalog.create_database("db", if_not_exists=True)
    given = {**OPTIONS, "metadata.iceberg.uri": metastore.uri, **(options or {})}
    return catalog.create_table("db.t", {"k": "INT", "v": "STRING"}, options=given)


def parameters(table: hms.Table) -> dict[str, str]:
    return dict(table.parameters or {})


def test_the_first_commit_creates_database_and_table(tmp_path: Path, metastore: KeptTables) -> None:
    table = new_table(tmp_path, metastore)
    assert told(lambda: table.append(ROWS)) == []
    folder = f"{tmp_path}/iceberg/db"
    assert metastore.databases == {"db": folder}
    found = metastore.tables["db.t"]
    assert found.table_type == "EXTERNAL_TABLE"
    assert parameters(found) == {
        "DO_NOT_UPDATE_STATS": "false",
        "EXTERNAL": "TRUE",
        "table_type": "ICEBERG",
        "metadata_location": f"{folder}/t/metadata/v1.metadata.json",
    }
    storage = found.storage
    assert storage is not None
    assert storage.location == f"{folder}/t"
    assert storage.input_format == "org.apache.hadoop.mapred.FileInputFormat"
    assert [(one.name, one.type) for one in storage.columns or ()] == [
        ("k", "int"),
        ("v", "string"),
    ]


def test_later_changes_move_the_location_of_the_metadata(
    tmp_path: Path, metastore: KeptTables
) -> None:
    table = new_table(tmp_path, metastore, {"metadata.iceberg.storage-location": "table-location"})
    folder = f"{table.path}/metadata"
    table.append(ROWS)
    table.delete("k = 1")
    assert parameters(metastore.tables["db.t"]) == {
        "DO_NOT_UPDATE_STATS": "false",
        "EXTERNAL": "TRUE",
        "table_type": "ICEBERG",
        "metadata_location": f"{folder}/v2.metadata.json",
        "previous_metadata_location": f"{folder}/v1.metadata.json",
    }
    table.add_column("n", "BIGINT")
    table = pe.open_table(table.path)
    table.append([{"k": 5, "n": 7}])
    storage = metastore.tables["db.t"].storage
    assert storage is not None
    assert [one.type for one in storage.columns or ()] == ["int", "string", "bigint"]
    count = len(metastore.contexts)
    table.create_tag("good")  # the metadata changes in its place
    assert len(metastore.contexts) == count
    table.rollback_to(1)
    found = parameters(metastore.tables["db.t"])
    assert found["metadata_location"] == f"{folder}/v1.metadata.json"
    assert found["previous_metadata_location"] == f"{folder}/v3.metadata.json"


def test_a_later_commit_that_registers_first_is_kept(
    tmp_path: Path, metastore: KeptTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = new_table(tmp_path, metastore)
    table.append(ROWS)
    find, later = HiveTables.find, [ROWS]

    def find_later(self: HiveTables, database: str, name: str) -> hms.Table | None:
        if later:
            pe.open_table(table.path).append(later.pop())
        return find(self, database, name)

    monkeypatch.setattr(HiveTables, "find", find_later)
    assert told(lambda: table.append(ROWS)) == []
    assert parameters(metastore.tables["db.t"])["metadata_location"].endswith("/v3.metadata.json")


def test_the_table_may_be_in_several_databases_under_another_name(
    tmp_path: Path, metastore: KeptTables
) -> None:
    names = {"metadata.iceberg.database": "one; two", "metadata.iceberg.table": "name"}
    new_table(tmp_path, metastore, names).append(ROWS)
    assert {*metastore.databases} == {"one", "two"}
    assert {*metastore.tables} == {"one.name", "two.name"}


def test_changes_have_the_settings_of_the_options(tmp_path: Path, metastore: KeptTables) -> None:
    settings = {
        "metadata.iceberg.glue.skip-archive": "true",
        "metadata.iceberg.hive-skip-update-stats": "true",
    }
    new_table(tmp_path, metastore, settings).append(ROWS)
    assert metastore.contexts == [
        {"CASCADE": "true", "skipAWSGlueArchive": "true", "DO_NOT_UPDATE_STATS": "true"}
    ]
    assert parameters(metastore.tables["db.t"])["DO_NOT_UPDATE_STATS"] == "true"


def test_the_address_may_be_in_a_configuration_folder(
    tmp_path: Path, metastore: KeptTables
) -> None:
    text = f"<name>hive.metastore.uris</name><value>{metastore.uri}</value>"
    site = f"<configuration><property>{text}</property></configuration>"
    (tmp_path / "hive-site.xml").write_text(site)
    options = {"metadata.iceberg.uri": "", "metadata.iceberg.hive-conf-dir": str(tmp_path)}
    table = new_table(tmp_path, metastore, options)
    assert told(lambda: table.append(ROWS)) == []
    assert {*metastore.tables} == {"db.t"}


def test_a_table_of_the_catalog_itself_remains_a_paimon_table(
    tmp_path: Path, metastore: KeptTables
) -> None:
    table = new_table(tmp_path, metastore)
    storage = hms.StorageDescriptor(
        location=f"file:{table.path}",
        columns=[],
        input_format=PAIMON_FORMAT.input_format,
        output_format=PAIMON_FORMAT.output_format,
    )
    metastore.databases["db"] = None
    metastore.tables["db.t"] = hms.Table(
        table_name="t",
        db_name="db",
        storage=storage,
        parameters={"table_type": "PAIMON", "bucket": "-1"},
        partition_keys=[hms.FieldSchema(name="v", type="string")],
        table_type="MANAGED_TABLE",
    )
    table.append(ROWS)
    found = metastore.tables["db.t"]
    assert parameters(found) == {
        "table_type": "ICEBERG",
        "bucket": "-1",
        "metadata_location": f"{tmp_path}/iceberg/db/t/metadata/v1.metadata.json",
    }
    assert found.table_type == "MANAGED_TABLE"
    columns = [hms.FieldSchema(name="k", type="int")]
    assert found.storage == replace(storage, columns=columns)


def test_a_table_of_others_is_not_touched(tmp_path: Path, metastore: KeptTables) -> None:
    new_table(tmp_path / "one", metastore).append(ROWS)
    before = metastore.tables["db.t"]
    other = new_table(tmp_path / "two", metastore)
    (message,) = told(lambda: other.append(ROWS))
    assert f"The metastore has another table db.t, at {tmp_path}/one/iceberg/db/t." in message
    assert "metadata.iceberg.table" in message
    assert metastore.tables["db.t"] is before
    assert other.count() == 2


def test_after_a_failure_the_old_file_remains_and_the_next_commit_registers(
    tmp_path: Path, metastore: KeptTables
) -> None:
    table = new_table(tmp_path, metastore)
    table.append(ROWS)
    metastore.refuses = True
    for number in (2, 3):
        (message,) = told(lambda: table.append(ROWS))
        assert f"db.t in the Hive metastore at {metastore.uri}" in message
        assert "the next commit registers the newest metadata" in message
        assert table.count() == 2 * number
    assert Path(parameters(metastore.tables["db.t"])["metadata_location"]).exists()
    metastore.refuses = False
    assert told(lambda: table.append(ROWS)) == []
    found = Path(parameters(metastore.tables["db.t"])["metadata_location"])
    assert found.name == "v4.metadata.json"
    assert [path.name for path in found.parent.glob("v*.json")] == [found.name]


def test_a_database_that_another_client_drops_is_a_warning(
    tmp_path: Path, metastore: KeptTables
) -> None:
    metastore.loses_databases = True
    table = new_table(tmp_path, metastore)
    (message,) = told(lambda: table.append(ROWS))
    assert f"Cannot use the Hive metastore {metastore.uri}: no object for create_table" in message
    assert table.count() == 2


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"metadata.iceberg.uri": ""}, "'metadata.iceberg.uri' is missing"),
        ({"metadata.iceberg.uri": "http://host"}, "not a Hive metastore"),
        ({"hive.metastore.sasl.enabled": "true"}, "Kerberos"),
        (
            {"metadata.iceberg.hive-client-class": "com.amazonaws.Client"},
            "'metadata.iceberg.hive-client-class' = 'com.amazonaws.Client' is not supported",
        ),
        ({"metadata.iceberg.hive-conf-dir": "/nowhere"}, "hive-site.xml"),
    ],
)
def test_a_metastore_that_cannot_be_used_is_told_before_the_commit(
    tmp_path: Path, metastore: KeptTables, changes: Mapping[str, str], says: str
) -> None:
    table = new_table(tmp_path, metastore, changes)
    (message,) = told(lambda: table.append(ROWS))
    assert "do not register them" in message
    assert says in message
    assert metastore.requests == []
    assert table.count() == 2
