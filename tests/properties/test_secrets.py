"""Keys, passwords and tokens of a table are never shown, and keep working.

Every option name that holds a secret, in every spelling, is given a canary; everything that a table
shows is then searched for it.
"""

import json
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import pytest

import paimon_explore as pe
from paimon_explore.__main__ import main
from paimon_explore.errors import PaimonError
from paimon_explore.fileio.hdfs import HdfsFileIO
from paimon_explore.fileio.object_store import ObjectStoreFileIO
from paimon_explore.metadata.schema.table_schema import parse_schema
from paimon_explore.sanitize import MASK, is_secret, masked, masked_json
from paimon_explore.spark.data_source import source_options
from paimon_explore.sql_statements.commands.show_statements import create_text
from paimon_explore.table.table import Table
from support.displayed import displayed
from support.small_tables import new_catalog

CANARY = "c4n4ryQ"
NAMES = [
    "s3.access-key",
    "s3.secret-key",
    "s3.session-token",
    "fs.s3a.access.key",
    "fs.s3a.secret.key",
    "fs.s3a.session.token",
    "fs.s3a.bucket.wh.secret.key",
    "fs.s3a.server-side-encryption.key",
    "fs.oss.accessKeyId",
    "fs.oss.accessKeySecret",
    "fs.oss.securityToken",
    "fs.azure.account.key.acme.dfs.core.windows.net",
    "fs.azure.account.oauth2.client.secret",
    "fs.azure.sas.box.acme.blob.core.windows.net",
    "fs.gs.auth.service.account.private.key",
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "aws_session_token",
    "access_key_id",
    "AccountKey",
    "azure_storage_account_key",
    "azure_storage_sas_key",
    "sas_token",
    "connection_string",
    "service_account_key",
    "google_application_credentials",
    "jdbc.password",
    "PASSWORD",
    "ssl.keystore.passwd",
    "dlf.access-key-secret",
    "dlf.security-token",
    "token",
    "credential",
    "oauth2.credentials",
    "metadata.iceberg.rest.token",
    "metadata.iceberg.rest.credential",
    "metadata.iceberg.rest.header.Authorization",
    "header.Authorization",
    "X-Amz-Signature",
    "api-key",
]
HARMLESS = {
    "bucket": "2",
    "bucket-key": "id",
    "fields.password.aggregate-function": "last_value",
    "file-index.bloom-filter.columns": "token",
    "full-text.tokenizer": "standard",
    "hive.metastore.sasl.enabled": "true",
    "s3.endpoint": "http://host:9000",
    "s3.region": "eu",
    "sequence.field": "v",
}
URLS = [
    f"s3://user:{CANARY}@bucket/t",
    f"s3://AKIA:ab/{CANARY}+x@bucket/t",
    f"https://acme.blob.core.windows.net/c/f?sv=2024&sig={CANARY}%3D&se=1",
    f"https://b.s3.amazonaws.com/k?X-Amz-Credential={CANARY}&X-Amz-Signature={CANARY}&partNumber=1",
    f"https://b.s3.amazonaws.com/k?x-amz-security-token={CANARY}",
    f"DefaultEndpointsProtocol=https;AccountName=acme;AccountKey={CANARY}==;EndpointSuffix=x",
    f"wasbs://c@acme.blob.core.windows.net/?SharedAccessSignature={CANARY}",
    f"https://host/path?token={CANARY}#part",
]


@pytest.fixture(scope="module")
def catalog() -> pe.Catalog:
    """A warehouse whose location and storage options hold secrets."""
    made = pe.Catalog(f"memory://user:{CANARY}@{uuid4()}/wh", dict.fromkeys(NAMES, CANARY))
    made.create_database("db")
    return made


@pytest.fixture(scope="module")
def table(catalog: pe.Catalog) -> Table:
    """A table whose options, comments and history hold secrets."""
    made = catalog.create_table(
        "db.t",
        {"id": "INT", "password": "STRING"},
        primary_key="id",
        options={
            **dict.fromkeys(NAMES, CANARY),
            **{f"team.url{i}": url for i, url in enumerate(URLS)},
            "bucket": 1,
            "fields.password.aggregate-function": "last_value",
        },
        comment=URLS[0],
    )
    made.upsert([{"id": 1, "password": "x"}])
    made.set_options({"s3.secret-key": f"new{CANARY}"})
    made.set_options({"jdbc.password": None})
    made.add_column("more", "INT", comment=URLS[2])
    made.upsert([{"id": 2, "password": "y", "more": 3}])
    made.create_tag("good")
    return made


def test_nothing_that_a_table_shows_holds_a_secret(
    table: Table, catalog: pe.Catalog, tmp_path: Path
) -> None:
    count = 0
    for what, text in displayed(table, catalog, tmp_path):
        at = text.find(CANARY)
        assert at < 0, f"{what}: …{text[max(at - 60, 0) : at + 40]}…"
        count += 1
    assert count > 180


def test_options_keep_their_values_where_they_are_used(table: Table) -> None:
    assert table.schema.options["s3.secret-key"] == f"new{CANARY}"
    assert table.options["token"] == CANARY
    data = table._store.file_io.read(table._store.paths.schema(0))
    assert json.loads(data)["options"]["jdbc.password"] == CANARY
    assert parse_schema(data, "f").options["s3.secret-key"] == CANARY
    assert ObjectStoreFileIO((("token", CANARY),)).options == (("token", CANARY),)


@pytest.mark.parametrize("name", NAMES)
def test_a_secret_is_known_by_its_name_in_any_spelling(name: str) -> None:
    spellings = {name, name.upper(), name.lower(), name.replace(".", "_"), name.replace("-", ".")}
    assert [one for one in spellings if not is_secret(one)] == []


def test_other_options_are_shown(table: Table) -> None:
    assert [name for name in HARMLESS if is_secret(name)] == []
    options = dict(zip(*table.inspect.options().to_pydict().values(), strict=True))
    assert options["fields.password.aggregate-function"] == "last_value"
    assert options["s3.secret-key"] == MASK
    assert options["team.url0"] == f"s3://user:{MASK}@bucket/t"


@pytest.mark.parametrize("url", URLS)
def test_secrets_in_urls_are_masked_and_the_rest_stays(url: str) -> None:
    shown = masked(f"cannot read {url}: denied")
    assert CANARY not in shown
    assert MASK in shown
    assert shown.startswith("cannot read ")
    assert shown.endswith(": denied")
    assert len(masked_json(url.encode())) == len(url.encode())


@pytest.mark.parametrize(
    "text",
    [
        "http://host:8080/path/a@b",
        "abfss://container@acme.dfs.core.windows.net/t",
        "s3://bucket/dt=2026-01-01/token=5/data-1",
        "token = 'abc' AND password IN ('x')",
        "Columns: 'password', 'token'.",
        "2026-01-01 10:30:00 is after 10:29",
        "https://host/p?x=1&y=2",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert masked(text) == text


def test_errors_with_storage_options_hide_them(tmp_path: Path) -> None:
    options = {"access_key_id": CANARY, "secret_access_key": CANARY, "region": "x"}
    asks: list[Callable[[], object]] = [
        lambda: pe.open_table(f"s3://u:{CANARY}@/x", storage_options=options),
        lambda: pe.open_table(f"nope://u:{CANARY}@b/x", storage_options=options),
        lambda: pe.open_table(str(tmp_path / f"t?sig={CANARY}")),
        lambda: pe.Catalog(str(tmp_path), options).table("db.t"),
        lambda: pe.open_table(str(tmp_path), options={"s3.secret-key": {"a": CANARY}}),  # type: ignore[dict-item]
        lambda: source_options({"storage.secret-key": CANARY}),
        lambda: source_options({"path": "/t", "my.secret": CANARY}),
        lambda: source_options({"path": f"s3://u:{CANARY}@b/t", "columns": "[1"}),
    ]
    for ask in asks:
        with pytest.raises(PaimonError) as raised:
            ask()
        assert CANARY not in f"{raised.value} {raised.value!r}"


def test_storages_and_spark_options_print_without_secrets(table: Table) -> None:
    pairs = tuple((name, CANARY) for name in (*NAMES, "key"))
    given = {f"storage.{name}": value for name, value in pairs} | {"path": "/t"}
    values = [ObjectStoreFileIO(pairs), HdfsFileIO(pairs), source_options(given)]
    assert [value for value in values if CANARY in f"{value!r} {value}"] == []
    assert CANARY not in create_text("db.t", table.schema)


def test_the_command_line_prints_no_secret(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / f"wh?sig={CANARY}"
    new_catalog(place).create_table("db.t", {"a": "INT"}, options={"my.password": CANARY})
    codes = [main(["show", f"{place}/{rest}"]) for rest in ("", "db.db", "db.db/t", "db.db/none")]
    assert codes == [0, 0, 0, 1]
    told = capsys.readouterr()
    assert CANARY not in told.out + told.err
    assert MASK in told.err
