"""Names of storage options in Paimon, Hadoop, boto3 and others, and their names in object_store."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

PREFIXES: Mapping[str, str] = MappingProxyType(
    {
        prefix: store
        for store, prefixes in {  # longer prefixes before their own prefixes
            "s3": (
                *("fs.s3a.", "fs.s3n.", "fs.s3.", "s3a.", "s3n.", "s3.", "aws_", "aws."),
                *("fs.oss.", "oss."),
            ),
            "google": ("fs.gs.", "google_", "gcs.", "gs."),
            "azure": ("fs.azure.", "azure_storage_", "azure_", "adls.", "abfs."),
        }.items()
        for prefix in prefixes
    }
)
"""Prefix of an option -> its storage."""

IGNORED = frozenset({"signatureversion", "impl"})
"""Settings of other clients that are ignored."""


def without_separators(name: str) -> str:
    """Return a name in lower case without separators.

    >>> without_separators("Path-Style.access")
    'pathstyleaccess'
    """
    return name.lower().translate(_SEPARATORS)


_SEPARATORS = str.maketrans("", "", "._- ")


def _by_spelling(names: Iterable[str], others: Mapping[str, Iterable[str]]) -> Mapping[str, str]:
    found = {without_separators(name): name for name in names}
    found |= {other: name for name, spellings in others.items() for other in spellings}
    return MappingProxyType(found)


CLIENT_NAMES = _by_spelling(
    (
        *("allow_http", "allow_invalid_certificates", "cache_bytes", "cache_folder"),
        *("connect_timeout", "http1_only", "http2_only", "max_requests", "max_retries"),
        *("pool_idle_timeout", "pool_max_idle_per_host", "proxy_url", "proxy_ca_certificate"),
        *("proxy_excludes", "randomize_addresses", "read_timeout", "retry_timeout"),
        *("root_certificate", "small_file_bytes", "timeout", "user_agent"),
    ),
    {
        "timeout": ("requesttimeout", "connectionrequesttimeout"),
        "connect_timeout": ("connectiontimeout", "connectionestablishtimeout"),
        "max_retries": ("maxattempts", "attemptsmaximum", "maxerrorretries"),
    },
)
"""Options of HTTP client and retries: spelling without separators -> name in object_store."""

_S3_NAMES = _by_spelling(
    (
        *("access_key_id", "secret_access_key", "session_token", "endpoint", "region"),
        *("default_region", "path_style", "virtual_hosted_style_request", "addressing_style"),
        *("use_ssl", "verify", "skip_signature", "checksum_algorithm"),
        *("container_authorization_token_file", "container_credentials_full_uri"),
        *("container_credentials_relative_uri", "disable_bulk_delete", "disable_tagging"),
        *("imdsv1_fallback", "metadata_endpoint", "request_payer", "role_arn", "role_session_name"),
        *("s3_express", "server_side_encryption", "sse_bucket_key_enabled"),
        *("sse_customer_key_base64", "sse_kms_key_id", "sts_endpoint", "unsigned_payload"),
        *("web_identity_token_file",),
    ),
    {
        "access_key_id": ("accesskey", "accesskeyid", "key", "username"),
        "secret_access_key": ("secretkey", "secret", "accesskeysecret", "password"),
        "session_token": ("token", "securitytoken"),
        "endpoint": ("endpointurl", "endpointurls3", "endpointoverride"),
        "region": ("regionname", "endpointregion"),
        "path_style": ("pathstyleaccess", "forcepathstyle", "usepathstyle"),
        "virtual_hosted_style_request": ("forcevirtualaddressing", "virtualaddressing"),
        "use_ssl": ("connectionsslenabled",),
        "skip_signature": ("anon", "anonymous"),
        "sts_endpoint": ("endpointurlsts",),
    },
)
_GOOGLE_NAMES = _by_spelling(
    (
        *("service_account", "service_account_key", "base_url", "bearer_token"),
        *("application_credentials", "skip_signature"),
    ),
    {
        "service_account": ("serviceaccountpath",),
        "base_url": ("endpoint", "endpointurl", "servicehost"),
        "bearer_token": ("oauth2token",),
        "skip_signature": ("anon", "anonymous"),
    },
)
_AZURE_NAMES = _by_spelling(
    (
        *("account_name", "account_key", "client_id", "client_secret", "tenant_id"),
        *("authority_host", "credential_type", "encryption_key", "sas_key", "token"),
        *("use_emulator", "use_fabric_endpoint", "endpoint", "msi_endpoint", "object_id"),
        *("msi_resource_id", "federated_token_file", "use_azure_cli", "skip_signature"),
        *("disable_tagging", "fabric_token_service_url", "fabric_workload_host"),
        *("fabric_session_token", "fabric_cluster_identifier"),
    ),
    {
        "account_name": ("storageaccountname", "storageaccount", "account"),
        "account_key": ("accesskey", "masterkey", "storageaccountkey", "key"),
        "sas_key": ("sastoken",),
        "tenant_id": ("authorityid",),
        "token": ("bearertoken",),
        "endpoint": ("endpointurl", "accounturl", "blobendpoint"),
        "skip_signature": ("anon", "anonymous"),
    },
)
STORE_NAMES: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {"s3": _S3_NAMES, "google": _GOOGLE_NAMES, "azure": _AZURE_NAMES}
)
"""Options of each storage: spelling without separators -> name in object_store."""

_CLIENT_SPELLINGS = ("timeout", "connect_timeout", "retry_timeout", "max_retries", "allow_http")
SPELLINGS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "s3": (
            *("s3.access-key", "s3.secret-key", "s3.session-token", "s3.endpoint", "s3.region"),
            *("s3.path-style-access", "access_key_id", "secret_access_key", "session_token"),
            *("aws_access_key_id", "aws_secret_access_key", "aws_session_token", "region_name"),
            *("endpoint", "endpoint_url", "region", "key", "secret", "token", "anon"),
            *("fs.s3a.access.key", "fs.s3a.secret.key", "fs.s3a.endpoint"),
            *("fs.s3a.path.style.access", "fs.oss.endpoint", "fs.oss.accessKeyId"),
            *("fs.oss.accessKeySecret", "fs.oss.securityToken", "client_kwargs"),
            *("virtual_hosted_style_request", "skip_signature", *_CLIENT_SPELLINGS),
        ),
        "google": (
            *("service_account", "service_account_key", "application_credentials"),
            *("bearer_token", "base_url", "anon", *_CLIENT_SPELLINGS),
        ),
        "azure": (
            *("account_name", "account_key", "sas_token", "client_id", "client_secret"),
            *("tenant_id", "endpoint", "use_emulator", "azure_storage_account_name"),
            *("azure_storage_account_key", "anon", *_CLIENT_SPELLINGS),
        ),
    }
)
"""Common spellings of each storage, for suggestions."""
