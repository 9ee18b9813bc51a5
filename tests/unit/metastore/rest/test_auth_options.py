import json
import pickle
from pathlib import Path

import pytest

from paimon_explore.errors import InvalidInputError, StorageError
from paimon_explore.metastore.rest.auth.auth_options import DlfAuth, auth_provider
from paimon_explore.metastore.rest.auth.auth_provider import SignedRequest
from paimon_explore.metastore.rest.auth.dlf_signers import DefaultSigner
from paimon_explore.metastore.rest.auth.dlf_token import (
    DlfToken,
    EcsRoleLoader,
    TokenFileLoader,
    parse_dlf_token,
)

REQUEST = SignedRequest(method="GET", path="/v1/config", parameters={})
KEYS = {"dlf.access-key-id": "key", "dlf.access-key-secret": "secret", "dlf.region": "cn-x"}
TOKEN = {
    "AccessKeyId": "key",
    "AccessKeySecret": "secret",
    "SecurityToken": "sts",
    "Expiration": "2026-01-31T12:00:00Z",
}


def no_fetch(url: str) -> bytes:
    raise AssertionError(url)


@pytest.mark.parametrize(
    "options", [{"token": "t"}, {"token.provider": "bear", "token": "t"}], ids=["implied", "named"]
)
def test_a_token_is_sent_as_bearer(options: dict[str, str]) -> None:
    found = auth_provider(options, "http://h", no_fetch)
    assert found.headers(REQUEST) == {"Authorization": "Bearer t"}
    assert "t)" not in repr(found)
    assert not found.renew()


@pytest.mark.parametrize(
    ("options", "uri", "expected"),
    [
        (KEYS, "http://h", "Credential=key/"),
        ({**KEYS, "token.provider": "dlf"}, "http://h", "/cn-x/DlfNext/"),
        ({**KEYS, "dlf.region": ""}, "https://cn-hangzhou-vpc.dlf.aliyuncs.com", "/cn-hangzhou/"),
        (KEYS, "https://dlfnext.cn-hangzhou.aliyuncs.com", "acs key:"),
        ({**KEYS, "dlf.signing-algorithm": "openapi"}, "http://h", "acs key:"),
    ],
)
def test_keys_of_dlf_sign_requests(options: dict[str, str], uri: str, expected: str) -> None:
    found = pickle.loads(pickle.dumps(auth_provider(options, uri, no_fetch)))  # noqa: S301 - ours
    assert expected in found.headers(REQUEST)["Authorization"]
    assert "secret" not in repr(found)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "needs credentials"),
        ({"token.provider": "bear"}, "'token' is missing"),
        ({"token": "a\nb"}, "printable"),
        ({"token.provider": "kerberos"}, "'kerberos' is unknown"),
        ({"token.provider": "dlf"}, "region of DLF is unknown"),
        ({"token.provider": "dlf", "dlf.region": "r"}, "needs keys"),
        ({**KEYS, "dlf.access-key-secret": ""}, "must not be empty"),
        ({**KEYS, "dlf.signing-algorithm": "v9"}, "'v9' is unknown"),
        ({**KEYS, "dlf.token-loader": "magic"}, "'magic' is unknown"),
        ({**KEYS, "dlf.token-loader": "local_file"}, "'dlf.token-path' is missing"),
    ],
)
def test_unusable_credentials_are_refused(options: dict[str, str], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        auth_provider(options, "http://localhost", no_fetch)


def test_a_token_file_is_read_again_before_the_token_expires(tmp_path: Path) -> None:
    file = tmp_path / "token"
    now = 1_769_851_800_000  # 9000 seconds before the expiration
    clock = [now]
    file.write_text(json.dumps(TOKEN))
    auth = DlfAuth(DefaultSigner("r"), loader=TokenFileLoader(str(file)), clock=lambda: clock[0])
    assert "Credential=key/" in auth.headers(REQUEST)["Authorization"]
    file.write_text(json.dumps({**TOKEN, "AccessKeyId": "key2"}))
    clock[0] += 5_000_000
    assert "Credential=key/" in auth.headers(REQUEST)["Authorization"]
    clock[0] += 1_000_000  # less than an hour is left
    assert "Credential=key2/" in auth.headers(REQUEST)["Authorization"]


def test_a_token_file_is_read_again_after_a_refusal(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(json.dumps(TOKEN))
    auth = DlfAuth(DefaultSigner("r"), loader=TokenFileLoader(str(file)), clock=lambda: 0)
    auth.headers(REQUEST)
    file.write_text(json.dumps({**TOKEN, "AccessKeyId": "key2"}))
    for _ in range(2):  # two threads, whose requests were signed with the old keys
        assert auth.renew()
        assert "Credential=key2/" in auth.headers(REQUEST)["Authorization"]


def test_a_token_file_that_is_being_replaced_is_waited_for(tmp_path: Path) -> None:
    file = tmp_path / "token"
    contents = [None, '{"AccessKeyId": "k', json.dumps(TOKEN)]
    waits = []

    def sleep(seconds: float) -> None:
        waits.append(seconds)
        content = contents[len(waits)]
        assert content is not None
        file.write_text(content)

    assert TokenFileLoader(str(file), sleep).load().access_key_id == "key"
    assert waits == [0.2, 0.4]


def test_a_missing_token_file_is_told() -> None:
    with pytest.raises(StorageError, match=r"/nowhere/token: No such file.*dlf.token-path"):
        TokenFileLoader("/nowhere/token", lambda _: None).load()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not.*valid|invalid"),
        (b"[]", "invalid"),
        (b'{"AccessKeyId": "k"}', "AccessKeySecret is missing"),
        (json.dumps({**TOKEN, "AccessKeySecret": 5}).encode(), "AccessKeySecret is missing or"),
        (json.dumps({**TOKEN, "Expiration": "soon"}).encode(), "Expiration is not a UTC time"),
    ],
)
def test_what_is_no_token_is_refused_without_showing_it(content: bytes, message: str) -> None:
    with pytest.raises(StorageError, match=message) as caught:
        parse_dlf_token(content, "/file")
    assert "secret" not in str(caught.value)


def test_the_role_of_an_ecs_host_is_asked_for() -> None:
    pages = {"http://m/": b"my-role\n", "http://m/my-role": json.dumps(TOKEN).encode()}
    loader = EcsRoleLoader(url="http://m/", role=None, fetch=pages.__getitem__)
    expected = DlfToken(
        access_key_id="key",
        access_key_secret="secret",  # noqa: S106 - of the test
        security_token="sts",  # noqa: S106 - of the test
        expires_at_millis=1_769_860_800_000,
    )
    assert loader.load() == expected
    assert (
        EcsRoleLoader(url="http://m/", role="my-role", fetch=pages.__getitem__).load() == expected
    )


@pytest.mark.parametrize("page", [b"", b"<html> </html>", b"../up"])
def test_what_is_no_role_is_refused(page: bytes) -> None:
    with pytest.raises(StorageError, match="named no role"):
        EcsRoleLoader(url="http://m/", role=None, fetch=lambda _: page).load()
