"""Storage options: each spelling opens the same bucket; what is unknown is refused."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import product

import obstore
import pyarrow as pa
import pytest

from paimon_explore import Catalog, open_table
from paimon_explore.errors import InvalidInputError, NotFoundError, StorageError
from paimon_explore.fileio.object_store import ObjectStoreFileIO
from paimon_explore.fileio.resolve import resolve
from paimon_explore.fileio.store_options import option_pairs, store_settings
from support.depth import DEEP
from support.s3 import S3Place, s3_place
from support.s3_faults import s3_faults

SCHEMA = pa.schema({"a": pa.int64()})
URL = "http://h:9000"
SPELLINGS: dict[str, dict[str, object]] = {  # {} stands for the endpoint
    "paimon": {"s3.endpoint": "{}", "s3.access-key": "k", "s3.secret-key": "s"},
    "paimon, path style": {
        "s3.endpoint": "{}",
        "s3.access-key": "k",
        "s3.secret-key": "s",
        "s3.path.style.access": "true",
    },
    "hadoop": {
        "fs.s3a.endpoint": "{}",
        "fs.s3a.access.key": "k",
        "fs.s3a.secret.key": "s",
        "fs.s3a.path.style.access": "true",
        "fs.s3a.connection.ssl.enabled": "false",
        "fs.s3a.attempts.maximum": "5",
        "fs.s3a.connection.timeout": "20000",
    },
    "boto3": {
        "endpoint_url": "{}",
        "aws_access_key_id": "k",
        "aws_secret_access_key": "s",
        "region_name": "eu-central-1",
        "use_ssl": False,
        "verify": True,
    },
    "s3fs": {"endpoint_url": "{}", "key": "k", "secret": "s", "anon": False},
    "s3fs, nested": {
        "key": "k",
        "secret": "s",
        "client_kwargs": {"endpoint_url": "{}", "region_name": "us-east-1"},
        "config_kwargs": {"s3": {"addressing_style": "path"}, "connect_timeout": 5},
    },
    "s3fs, nested as JSON": {
        "key": "k",
        "secret": "s",
        "client_kwargs": '{"endpoint_url": "{}"}',
    },
    "pyarrow": {"access_key": "k", "secret_key": "s", "endpoint_override": "{}"},
    "pyiceberg": {
        "s3.access-key-id": "k",
        "s3.secret-access-key": "s",
        "s3.endpoint": "{}",
        "s3.region": "us-east-1",
        "s3.force-virtual-addressing": "false",
        "s3.connect-timeout": "5",
        "s3.request-timeout": "30",
    },
    "object_store": {
        "access_key_id": "k",
        "secret_access_key": "s",
        "endpoint": "{}",
        "allow_http": "true",
        "virtual_hosted_style_request": "false",
    },
    "delta-rs": {
        "AWS_ACCESS_KEY_ID": "k",
        "AWS_SECRET_ACCESS_KEY": "s",
        "AWS_ENDPOINT_URL": "{}",
        "AWS_REGION": "us-east-1",
        "AWS_ALLOW_HTTP": "true",
        "timeout": "30s",
    },
    "no scheme": {"endpoint": "{host}", "key": "k", "secret": "s", "use_ssl": "false"},
    "oss": {
        "fs.oss.endpoint": "{}",
        "fs.oss.accessKeyId": "k",
        "fs.oss.accessKeySecret": "s",
        "fs.oss.impl": "any",
    },
    "several storages": {
        "s3.endpoint": "{}",
        "s3.access-key": "k",
        "s3.secret-key": "s",
        "azure_storage_account_key": "x",
        "fs.gs.project.id": "x",
    },
}
SCHEMES = ["s3", "s3a", "s3n", "oss", "S3"]
WAYS = (
    list(product(SPELLINGS, SCHEMES))
    if DEEP
    else [(name, SCHEMES[turn % len(SCHEMES)]) for turn, name in enumerate(SPELLINGS)]
)
"""Spellings with schemes: all of them in the deep run, else each spelling with one scheme."""


@pytest.fixture(scope="module")
def place() -> Iterator[S3Place]:
    with s3_place("spellings") as found:
        yield found


def filled(spelling: dict[str, object], endpoint: str) -> dict[str, object]:
    """The options with the endpoint in its place."""

    def fill(value: object) -> object:
        if isinstance(value, dict):
            return {name: fill(inner) for name, inner in value.items()}
        if isinstance(value, str):
            host = endpoint.partition("://")[2]
            return value.replace("{}", endpoint).replace("{host}", host)
        return value

    return {name: fill(value) for name, value in spelling.items()}


@pytest.mark.parametrize(("name", "scheme"), WAYS)
def test_a_table_is_written_and_read_with_each_spelling_and_scheme(
    place: S3Place, name: str, scheme: str
) -> None:
    options = filled(SPELLINGS[name], place.options["s3.endpoint"])
    catalog = Catalog(f"{scheme}://spellings/{scheme}-{name.replace(' ', '')}", options)
    catalog.create_database("db")
    table = catalog.create_table("db.t", SCHEMA)
    table.append([{"a": 1}])
    assert open_table(table.path, storage_options=options).count() == 1


@pytest.mark.parametrize(
    ("location", "options"),
    [
        ("s3://spellings/hosted", {"s3.endpoint": "http://store.test", "path_style": "false"}),
        ("oss://spellings/hosted-oss", {"fs.oss.endpoint": "http://oss-cn-hangzhou.aliyuncs.com"}),
    ],
)
def test_buckets_in_host_names_are_reached(
    place: S3Place, location: str, options: dict[str, str]
) -> None:
    with s3_faults(place) as proxy:
        via = {"proxy_url": proxy.options["s3.endpoint"], "key": "k", "secret": "s"}
        catalog = Catalog(location, {**options, **via, "disable_bulk_delete": "true"})
        catalog.create_database("db")
        catalog.create_table("db.t", SCHEMA).append([{"a": 1}])
        assert len(proxy.log) > 5
    key = location.partition("spellings/")[2]
    direct = open_table(f"s3://spellings/{key}/db.db/t", storage_options=place.options)
    assert direct.count() == 1


@pytest.mark.parametrize(
    ("kind", "options", "config"),
    [
        ("s3", {}, {}),
        ("s3", {"region": "eu-west-1"}, {"region": "eu-west-1"}),
        ("s3", {"endpoint": URL}, {"endpoint": URL, "region": "us-east-1"}),
        (
            "s3",
            {"endpoint": "h:9000/", "path-style-access": "false"},
            {
                "endpoint": "https://b.h:9000",
                "region": "us-east-1",
                "virtual_hosted_style_request": "true",
            },
        ),
        (
            "oss",
            {"fs.oss.endpoint": "oss-cn-beijing-internal.aliyuncs.com"},
            {
                "endpoint": "https://b.s3.oss-cn-beijing-internal.aliyuncs.com",
                "region": "cn-beijing",
                "virtual_hosted_style_request": "true",
                "disable_bulk_delete": "true",
            },
        ),
        (
            "oss",
            {"s3.access-key": "other", "fs.oss.accessKeyId": "own", "region": "oss-cn-hangzhou"},
            {
                "access_key_id": "own",
                "endpoint": "https://b.s3.oss-cn-hangzhou.aliyuncs.com",
                "region": "cn-hangzhou",
                "virtual_hosted_style_request": "true",
                "disable_bulk_delete": "true",
            },
        ),
        (
            "s3",
            {"s3.access-key": "own", "fs.oss.accessKeyId": "x"},
            {"access_key_id": "own"},
        ),
        ("s3", {"s3.access-key": "own", "key": "x"}, {"access_key_id": "own"}),
        ("gs", {"google_service_account": "f"}, {"service_account": "f"}),
        (
            "gs",
            {"gcs.oauth2.token": "t", "anon": True},
            {"bearer_token": "t", "skip_signature": "true"},
        ),
        (
            "abfss",
            {"account_key": "x", "sas_token": "y"},
            {"account_key": "x", "sas_key": "y"},
        ),
        ("abfss", {"azure_storage_account_name": "a"}, {"account_name": "a"}),
        ("abfss", {"adls.account-key": "x"}, {"account_key": "x"}),
        (
            "abfss",
            {"fs.azure.account.key.acc.dfs.core.windows.net": "x"},
            {"account_key": "x"},
        ),
        ("az", {"endpoint": URL, "account": "a"}, {"endpoint": URL, "account_name": "a"}),
    ],
)
def test_options_mean_the_settings_of_the_client(
    kind: str, options: dict[str, object], config: dict[str, str]
) -> None:
    found = store_settings(kind, "b", option_pairs(options))
    assert found.config == config
    is_plain = "http://" in config.get("endpoint", "")
    assert found.client.get("allow_http", False) is is_plain


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("5.0", 5), (5, 5), (0.5, 0.5), ("500ms", 0.5), ("2 min", 120), (timedelta(seconds=3), 3)],
)
def test_durations_are_seconds_or_have_a_unit(value: object, seconds: float) -> None:
    options = option_pairs({"timeout": value, "retry_timeout": value})
    found = store_settings("s3", "b", options)
    assert found.client["timeout"] == timedelta(seconds=seconds)
    assert found.retry_timeout == seconds


def test_a_duration_of_hadoop_without_a_unit_is_in_milliseconds() -> None:
    found = store_settings("s3", "b", (("fs.s3a.connection.establish.timeout", "2000"),))
    assert found.client["connect_timeout"] == timedelta(seconds=2)


@pytest.mark.parametrize(
    ("location", "options", "message"),
    [
        ("s3://b/w", {"s3.endpont": "x"}, "Did you mean 's3.endpoint'"),
        ("s3://b/w", {"acces_key_id": "x"}, "Did you mean 'access_key_id'"),
        ("s3a://b/w", {"fs.s3a.acess.key": "x"}, "Did you mean 'fs.s3a.access.key'"),
        ("s3://b/w", {"client_kwargs": {"endpoint_ur": "x"}}, "Did you mean 'endpoint_url'"),
        ("s3://b/w", {"retry_timout": "x"}, "Did you mean 'retry_timeout'"),
        ("gs://b/w", {"service_acount": "x"}, "Did you mean 'service_account'"),
        ("abfss://c@a.dfs.core.windows.net/w", {"acount_key": "x"}, "Did you mean 'account_key'"),
        ("s3://b/w", {"qqq": "x"}, "Storage options: "),
        ("s3://b/w", {"timeout": "soon"}, "must be a duration"),
        ("s3://b/w", {"max_retries": "-1"}, "an integer of at least 0"),
        ("s3://b/w", {"use_ssl": "perhaps"}, "true or false"),
        ("s3://b/w", {"key": ["a"]}, "type list"),
        ("s3://b/w", {"client_kwargs": "{"}, "not valid JSON"),
        ("s3://b/w", {"key": "1", "access_key": "2"}, "two names of the same storage option"),
        ("oss://b/w", {"key": "1"}, "needs the storage option 'fs.oss.endpoint'"),
        ("s3:///w", {}, "does not name a bucket"),
    ],
)
def test_options_that_cannot_be_used_are_refused_when_a_location_is_opened(
    location: str, options: dict[str, object], message: str
) -> None:
    with pytest.raises(InvalidInputError, match=message) as caught:
        resolve(location, options)
    assert "acces-secret" not in str(caught.value)


def test_the_endpoint_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", URL)
    assert store_settings("s3", "b", ()).config["endpoint"] == URL
    assert store_settings("s3", "b", (("endpoint", "http://x"),)).config["endpoint"] == "http://x"


@pytest.mark.parametrize("location", ["s3://spellings/nope", "s3://spellings", "s3://spellings/"])
def test_where_there_is_no_table_there_is_none(place: S3Place, location: str) -> None:
    with pytest.raises(NotFoundError, match="Table 's3://spellings"):
        open_table(location, storage_options=place.options)


def test_a_bucket_that_is_not_there_is_named(place: S3Place) -> None:
    with pytest.raises(NotFoundError, match="Bucket 'no-such-bucket' does not exist"):
        open_table("s3://no-such-bucket/t", storage_options=place.options)
    catalog = Catalog("s3://no-such-bucket/w", place.options)
    with pytest.raises(NotFoundError, match="Bucket 'no-such-bucket' does not exist"):
        catalog.create_database("db")


def test_a_handle_of_a_dropped_table_says_that_it_is_gone(place: S3Place) -> None:
    catalog = Catalog(f"{place.location}/dropped", place.options)
    catalog.create_database("db")
    table = catalog.create_table("db.t", SCHEMA)
    table.append([{"a": 1}])
    catalog.drop_table("db.t")
    for act in (
        table.to_arrow,
        table.count,
        table.maintenance.fsck,
        lambda: table.append([{"a": 2}]),
    ):
        with pytest.raises(NotFoundError, match=r"Table 's3://spellings.*' does not exist"):
            act()


class PanicException(BaseException):
    """What Rust code raises when it panics."""


@pytest.mark.parametrize("name", ["get", "get_range", "head", "list", "put", "delete", "copy"])
def test_a_panic_of_the_client_is_a_storage_error(
    name: str, place: S3Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    file_io = ObjectStoreFileIO(option_pairs(dict(place.options)))
    path = "s3://spellings/panic/file"
    file_io.replace(path, b"content")

    def panics(*_: object, **__: object) -> None:
        raise PanicException("called `Option::unwrap()` on a `None` value")

    acts: dict[str, Callable[[], object]] = {
        "get": lambda: file_io.read(path),
        "get_range": lambda: file_io.read_range(path, 0, 1),
        "head": lambda: file_io.status(path),
        "list": lambda: list(file_io.walk(path)),
        "put": lambda: file_io.create(f"{path}2", b""),
        "delete": lambda: file_io.delete(path),
        "copy": lambda: file_io.rename_folder("s3://spellings/panic", "s3://spellings/moved"),
    }
    monkeypatch.setattr(obstore, name, panics)
    with pytest.raises(StorageError, match="failed internally: called `Option::unwrap"):
        acts[name]()
