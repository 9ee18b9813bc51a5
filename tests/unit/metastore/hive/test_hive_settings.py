from pathlib import Path

import pytest

from paimon_explore.errors import InvalidInputError, StorageError, UnsupportedFeatureError
from paimon_explore.metastore.hive.hive_settings import (
    HiveSettings,
    hive_configuration,
    hive_settings,
)

SITE = """<?xml version="1.0"?>
<configuration>
  <property><name>hive.metastore.uris</name><value>thrift://a:1,thrift://b</value></property>
  <property><name>hive.metastore.client.socket.timeout</name><value>30s</value></property>
  <property><name>empty</name></property>
</configuration>
"""


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HIVE_CONF_DIR", raising=False)
    monkeypatch.setenv("HADOOP_USER_NAME", "anna")


def settings(**options: str) -> HiveSettings:
    named = {key.replace("__", "-").replace("_", "."): value for key, value in options.items()}
    return hive_settings(hive_configuration(named))


def test_several_addresses_with_and_without_a_port() -> None:
    found = settings(uri="thrift://h1:1234, h2 ,thrift://[::1]:7")
    assert found.addresses == (("h1", 1234), ("h2", 9083), ("::1", 7))
    assert found.uri == "thrift://h1:1234,thrift://h2:9083,thrift://[::1]:7"
    assert found.user == "anna"


def test_hive_site_is_read_and_options_override_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "hive-site.xml").write_text(SITE)
    found = settings(hive__conf__dir=str(tmp_path))
    assert found.addresses == (("a", 1), ("b", 9083))
    assert found.timeout == 30
    assert settings(hive__conf__dir=str(tmp_path), uri="c:2").addresses == (("c", 2),)
    monkeypatch.setenv("HIVE_CONF_DIR", str(tmp_path))
    assert settings().addresses == (("a", 1), ("b", 9083))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("no xml", "not a Hadoop configuration"),
        ("<!DOCTYPE a [<!ENTITY b 'c'>]><configuration/>", "not a Hadoop configuration"),
    ],
)
def test_a_broken_hive_site_is_named(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "hive-site.xml").write_text(content)
    with pytest.raises(InvalidInputError, match=message):
        settings(hive__conf__dir=str(tmp_path))


def test_a_missing_hive_site_is_named(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"hive-site\.xml"):
        settings(hive__conf__dir=str(tmp_path))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "requires option 'uri'"),
        ({"uri": "http://a:1"}, "not a Hive metastore"),
        ({"uri": "thrift://"}, "not a Hive metastore"),
        ({"uri": "thrift://a:port"}, "not a Hive metastore"),
        ({"uri": "a", "timeout": "soon"}, "'timeout' must be a duration"),
        ({"uri": "a", "hive_metastore_failure_retries": "-1"}, "from 0 to 1000"),
        ({"uri": "a", "hive_metastore_use_SSL": "perhaps"}, "'true' or 'false'"),
    ],
)
def test_wrong_options_are_named(options: dict[str, str], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        settings(**options)


def test_kerberos_is_refused() -> None:
    with pytest.raises(UnsupportedFeatureError, match="Kerberos"):
        settings(uri="a", hive_metastore_sasl_enabled="true")


def test_time_outs_and_retries_are_options() -> None:
    found = settings(
        uri="a",
        timeout="10 s",
        connect__timeout="1500 ms",
        hive_metastore_connect_retries="0",
        hive_metastore_failure_retries="5",
        hive_metastore_client_connect_retry_delay="2",
        hive_metastore_thrift_framed_transport_enabled="true",
    )
    assert (found.timeout, found.connect_timeout) == (10, 1.5)
    assert (found.connect_attempts, found.retries, found.delay) == (1, 5, 2)
    assert found.framed
    assert not found.tls
