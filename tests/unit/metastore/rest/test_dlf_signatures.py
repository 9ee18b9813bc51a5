"""Signatures of DLF requests: expected values are what Paimon 2.0.0 computes."""

from datetime import UTC, datetime

import pytest

from paimon_explore.metastore.rest.auth.auth_provider import SignedRequest
from paimon_explore.metastore.rest.auth.dlf_signers import DefaultSigner, OpenApiSigner
from paimon_explore.metastore.rest.auth.dlf_token import DlfToken

NOW = datetime(2025, 4, 16, 3, 44, 46, tzinfo=UTC)
TOKEN = DlfToken(
    access_key_id="YourAccessKeyId",
    access_key_secret="YourAccessKeySecret",  # noqa: S106 - of the test
    security_token="sts token",  # noqa: S106 - of the test
)
COMMIT = SignedRequest(
    method="POST",
    path="/v1/p/databases/my+db/tables/t%24branch_b/commit",
    parameters={},
    body='{"x":"ä"}',
)
LIST = SignedRequest(
    method="GET",
    path="/v1/p/databases/db/tables",
    parameters={"pageToken": "a b%&", "maxResults": "10", "empty": ""},
)


@pytest.mark.parametrize(
    ("request_", "signature"),
    [
        (COMMIT, "ade1e5804315dbe6e48ec59b983a4982b039233ae3feca73945161002a6507a8"),
        (LIST, "a5b41391b55507c6f4585f695ffe94839d5294624307a676c3591c36b6e2bf77"),
    ],
)
def test_the_default_signature_is_that_of_java(request_: SignedRequest, signature: str) -> None:
    headers = dict(DefaultSigner("cn-hangzhou").headers(request_, TOKEN, NOW))
    assert headers.pop("Authorization") == (
        "DLF4-HMAC-SHA256 Credential=YourAccessKeyId/20250416/cn-hangzhou/DlfNext/"
        f"aliyun_v4_request,Signature={signature}"
    )
    expected = {
        "x-dlf-content-sha256": "UNSIGNED-PAYLOAD",
        "x-dlf-date": "20250416T034446Z",
        "x-dlf-security-token": "sts token",
        "x-dlf-version": "v1",
    }
    if request_.body:
        expected["Content-MD5"] = "rebZQaKQH+bUa3NOLMsWtg=="
        expected["Content-Type"] = "application/json"
    assert headers == expected


@pytest.mark.parametrize(
    ("request_", "signature"),
    [(COMMIT, "4TFUKVRI9Fz7u4F0nHXjoOhu9+g="), (LIST, "G57QBr4eV3jNc4AtV9l0pDR9JYo=")],
)
def test_the_openapi_signature_is_that_of_java(request_: SignedRequest, signature: str) -> None:
    signer = OpenApiSigner(host="dlfnext.cn-beijing.aliyuncs.com", nonce=lambda: "ef34aae7")
    headers = signer.headers(request_, TOKEN, NOW)
    assert headers["Authorization"] == f"acs YourAccessKeyId:{signature}"
    assert headers["Date"] == "Wed, 16 Apr 2025 03:44:46 GMT"
    assert headers["x-acs-security-token"] == "sts token"
    assert headers["Host"] == "dlfnext.cn-beijing.aliyuncs.com"


def test_each_openapi_request_has_a_nonce_of_its_own() -> None:
    signer = OpenApiSigner(host="h")
    nonces = {signer.headers(LIST, TOKEN, NOW)["x-acs-signature-nonce"] for _ in range(20)}
    assert len(nonces) == 20


def test_repr_shows_no_key() -> None:
    assert "YourAccessKey" not in repr(TOKEN)
    assert "sts" not in repr(TOKEN)
