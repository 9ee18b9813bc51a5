"""Storage options of object stores: translates all accepted spellings to object_store settings.

A name may have the prefix of a storage (`s3.`, `fs.s3a.`, `fs.oss.`, `aws_`, `azure_`, …); case and
separators (dots, hyphens, underscores) are ignored. So the names of Paimon, Hadoop, boto3, s3fs,
pyarrow, pyiceberg and object_store are accepted. Options with the prefix of another storage are
ignored; other unknown names are refused.

| option | meaning | default |
| --- | --- | --- |
| `timeout` | maximum duration of one request | 30 s |
| `connect_timeout` | maximum time to connect | 5 s |
| `retry_timeout` | how long failing requests are retried | 60 s |
| `max_retries` | how often a failing request is retried | unlimited within `retry_timeout` |
| `max_requests` | how many requests are sent at the same time, up to 64 | 64 |
| `cache_folder` | local folder with copies of files, shared by processes | no copies |
| `cache_bytes` | limit of the size of all copies | 10 GiB |
| `small_file_bytes` | size up to which a data file is read as a whole | 1 MiB |

Durations are numbers of seconds or texts such as `500ms`, `30s`, `2 min`; with Hadoop's prefix
`fs.` a number without a unit is in milliseconds.
"""

import difflib
import json
import os
import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

from paimon_explore.errors import InvalidInputError
from paimon_explore.fileio import paths
from paimon_explore.fileio.disk_cache import DEFAULT_CACHE_BYTES, DiskCache
from paimon_explore.fileio.store_option_names import (
    IGNORED,
    PREFIXES,
    common_spellings,
    option_names,
    without_separators,
)
from paimon_explore.frozen_dataclass import dataclass

_UNITS = MappingProxyType(
    {"ms": 0.001, "s": 1.0, "sec": 1.0, "second": 1.0, "m": 60.0, "min": 60.0, "minute": 60.0}
    | {"h": 3600.0, "hour": 3600.0}
)
_DURATIONS = frozenset(
    {"timeout", "connect_timeout", "read_timeout", "retry_timeout", "pool_idle_timeout"}
)
_SWITCHES = frozenset(
    {"allow_http", "allow_invalid_certificates", "http1_only", "http2_only", "randomize_addresses"}
    | {"path_style", "virtual_hosted_style_request", "skip_signature", "use_ssl", "verify"}
)
_NESTED_OPTIONS = frozenset({"clientkwargs", "configkwargs", "clientoptions", "retryconfig"})
_ENDPOINT_VARIABLES = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT")
_OSS_HOST = re.compile(r"(?:s3\.)?oss-([a-z0-9-]+?)(?:-internal)?\.aliyuncs\.com")
_IP_OR_LOCAL = re.compile(r"\d+\.\d+\.\d+\.\d+|\[.*|localhost|[^.]+")
_DEFAULT_RETRY_TIMEOUT = 60.0
DEFAULT_MAX_REQUESTS = 64
SMALL_FILE_BYTES = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreSettings:
    """Settings for opening a bucket.

    Attributes:
        config: settings of the store, with the names of object_store.
        client: settings of the HTTP client.
        retry_timeout: seconds during which failing requests are retried.
        max_retries: maximum number of retries of a request; None for no limit.
        small_file_bytes: size up to which a data file is read as a whole in one request.
        cache: copies of files on the local disk; None without the option `cache_folder`.
    """

    config: Mapping[str, str]
    client: Mapping[str, str | bool | timedelta]
    retry_timeout: float
    max_retries: int | None
    small_file_bytes: int = SMALL_FILE_BYTES
    cache: DiskCache | None = None


def option_pairs(given: Mapping[str, object] | None) -> tuple[tuple[str, str], ...]:
    """Convert options to sorted pairs of strings; nested options (`client_kwargs`) are flattened.

    >>> option_pairs({"key": "k", "client_kwargs": {"endpoint_url": "http://h"}, "anon": True})
    (('anon', 'true'), ('endpoint_url', 'http://h'), ('key', 'k'))

    Raises:
        InvalidInputError: a value is not a string, number, bool or timedelta.
    """
    return tuple(sorted(_flattened(given or {})))


def _flattened(given: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    for name, value in given.items():
        inner: object = value
        if isinstance(value, str) and without_separators(str(name)) in _NESTED_OPTIONS:
            inner = _json(str(name), value)
        if isinstance(inner, Mapping):
            yield from _flattened(inner)
        elif isinstance(value, bool):
            yield str(name), str(value).lower()
        elif isinstance(value, timedelta):
            yield str(name), f"{value.total_seconds()}s"
        elif isinstance(value, str | int | float):
            yield str(name), str(value)
        elif value is not None:
            raise InvalidInputError(
                f"The storage option {name!r} cannot have a value of type {type(value).__name__}.",
                hint="Use a str, a number, a bool or a timedelta.",
            )


def _json(name: str, text: str) -> object:
    try:
        found = json.loads(text)
    except ValueError as error:
        raise InvalidInputError(
            f"The storage option {name!r} is not valid JSON.", hint="Pass a dict."
        ) from error
    if not isinstance(found, Mapping):
        raise InvalidInputError(f"The storage option {name!r} must be a dict.")
    return found


def store_settings(kind: str, bucket: str, options: tuple[tuple[str, str], ...]) -> StoreSettings:
    """Translate storage options to the settings of a bucket.

    Args:
        kind: the scheme of the location, lower case.
        bucket: the bucket, container or host of the location.
        options: pairs of strings, see `option_pairs`.

    Raises:
        InvalidInputError: an option is unknown, has an invalid value, or is given twice.
    """
    known = _translated(kind, options)
    retry_timeout = _seconds(known.pop("retry_timeout", f"{_DEFAULT_RETRY_TIMEOUT}s"))
    retries = known.pop("max_retries", None)
    known.pop("max_requests", None)
    cache = _disk_cache(known)
    small = _count("small_file_bytes", known.pop("small_file_bytes", str(SMALL_FILE_BYTES)))
    client: dict[str, str | bool | timedelta] = {}
    for name in [name for name in known if name in option_names("client").values()]:
        client[name] = _client_value(name, known.pop(name))
    if "verify" in known:
        client["allow_invalid_certificates"] = not _boolean("verify", known.pop("verify"))
    if kind in paths.S3_SCHEMES:
        plain = _complete_s3(kind, bucket, known)
        client["allow_http"] = bool(client.get("allow_http")) or plain
    elif known.get("endpoint", known.get("base_url", "")).startswith("http://"):
        client["allow_http"] = True
    known.pop("use_ssl", None)
    return StoreSettings(
        config=known,
        client=client,
        retry_timeout=retry_timeout,
        max_retries=None if retries is None else _count("max_retries", retries),
        small_file_bytes=small,
        cache=cache,
    )


def _disk_cache(known: dict[str, str]) -> DiskCache | None:
    """Take the options of the cache on the local disk out of the others."""
    max_bytes = _count("cache_bytes", known.pop("cache_bytes", str(DEFAULT_CACHE_BYTES)))
    folder = known.pop("cache_folder", "")
    if not folder:
        return None
    return DiskCache(folder=str(Path(folder).expanduser().absolute()), max_bytes=max_bytes)


@lru_cache(maxsize=32)
def max_requests_of(options: tuple[tuple[str, str], ...]) -> int:
    """Return the option `max_requests`, in any accepted spelling.

    Raises:
        InvalidInputError: the value is not a positive integer.
    """
    for name, value in options:
        if _without_prefix(name, "s3")[1] == "maxrequests":
            found = _count("max_requests", value)
            if found:
                return found
            raise InvalidInputError("The storage option 'max_requests' must be at least 1.")
    return DEFAULT_MAX_REQUESTS


def _translated(kind: str, options: tuple[tuple[str, str], ...]) -> dict[str, str]:
    """Translate options to names of object_store; the prefix of the location takes precedence.

    Raises:
        InvalidInputError: a name is unknown, or an option has two different values.
    """
    own = _provider(kind)
    names = {**option_names("client"), **option_names(own)}
    found: dict[str, tuple[int, str, str]] = {}
    for given, value in options:
        prefix, short = _without_prefix(given, own)
        owner = PREFIXES.get(prefix, own)
        if owner != own or short in IGNORED:
            continue
        name = names.get(short)
        if name is None:
            raise _unknown(given, kind)
        rank = 0 if prefix == "" else 1 if ("oss" in prefix) == (kind == "oss") else -1
        if name in _DURATIONS and prefix.startswith("fs."):
            value = f"{value}ms" if value.strip().isdigit() else value  # noqa: PLW2901 - its unit
        if name == "addressing_style":
            name, value = "path_style", str(value.lower() == "path").lower()  # noqa: PLW2901
        before = found.get(name)
        if before is not None and before[0] == rank and before[2] != value:
            raise InvalidInputError(
                f"{before[1]!r} and {given!r} are two names of the same storage option but have "
                "different values.",
                hint="Pass only one of them.",
            )
        if before is None or before[0] < rank:
            found[name] = (rank, given, value)
    return {name: value for name, (_, _, value) in found.items()}


def is_known_option(name: str) -> bool:
    """Return whether a name with the prefix of a storage is an option of that storage.

    >>> is_known_option("fs.oss.accessKeyId"), is_known_option("fs.oss.frobnicate")
    (True, False)
    """
    prefix, short = _without_prefix(name, "")
    provider = PREFIXES.get(prefix)
    if provider is None:
        return False
    return short in IGNORED or short in option_names("client") or short in option_names(provider)


def _provider(kind: str) -> str:
    if kind in paths.S3_SCHEMES:
        return "s3"
    return "google" if kind in paths.GOOGLE_SCHEMES else "azure"


def _without_prefix(given: str, own: str) -> tuple[str, str]:
    """Split a name into the prefix of a storage, or "", and the rest without separators."""
    lower = given.strip().lower()
    if lower.startswith(("fs.azure.account.key.", "fs.azure.sas.fixed.token.")):
        return "fs.azure.", "accountkey" if ".account.key." in lower else "sastoken"
    for prefix in PREFIXES:
        if lower.startswith(prefix):
            return prefix, without_separators(lower[len(prefix) :])
    return "", without_separators(lower) if own else lower


def _unknown(given: str, kind: str) -> InvalidInputError:
    candidates = common_spellings(_provider(kind))
    close = difflib.get_close_matches(given.lower(), candidates, n=1, cutoff=0.6)
    hint = f"Did you mean {close[0]!r}?" if close else f"Storage options: {', '.join(candidates)}."
    return InvalidInputError(
        f"{given!r} is not a storage option for {kind}:// locations.", hint=hint
    )


def _complete_s3(kind: str, bucket: str, config: dict[str, str]) -> bool:
    """Complete endpoint, region and addressing style.

    Returns:
        Whether requests use plain HTTP.
    """
    endpoint = config.pop("endpoint", "" if kind == "oss" else _endpoint_of_environment())
    endpoint = endpoint.rstrip("/")
    style = config.pop("path_style", None)
    virtual = config.pop("virtual_hosted_style_request", None)
    encrypted = _boolean("use_ssl", config.pop("use_ssl", "true"))
    if kind == "oss":
        endpoint = _oss_endpoint(endpoint, config)
        config.setdefault("disable_bulk_delete", "true")
    if endpoint and "://" not in endpoint:
        endpoint = f"{'https' if encrypted else 'http'}://{endpoint}"
    if style is not None:
        hosted = not _boolean("path_style", style)
    elif virtual is not None:
        hosted = _boolean("virtual_hosted_style_request", virtual)
    else:
        hosted = kind == "oss" and not _IP_OR_LOCAL.fullmatch(_host(endpoint))
    if style is not None or virtual is not None or hosted:
        config["virtual_hosted_style_request"] = str(hosted).lower()
    if endpoint:
        if hosted and not _host(endpoint).startswith(f"{bucket}."):
            scheme, _, rest = endpoint.partition("://")
            endpoint = f"{scheme}://{bucket}.{rest}"
        config["endpoint"] = endpoint
        if not config.keys() & {"region", "default_region"}:
            config["region"] = "us-east-1"
    return endpoint.startswith("http://")


def _endpoint_of_environment() -> str:
    found = (os.environ.get(name, "") for name in _ENDPOINT_VARIABLES)
    return next(filter(None, found), "")


def _oss_endpoint(endpoint: str, config: dict[str, str]) -> str:
    """Return the S3-compatible endpoint of OSS; also sets the region in `config`.

    Raises:
        InvalidInputError: neither endpoint nor region is given.
    """
    region = config.get("region", "").removeprefix("oss-")
    if not endpoint and not region:
        raise InvalidInputError(
            "An oss:// location needs the storage option 'fs.oss.endpoint'.",
            hint="Pass an endpoint such as 'oss-cn-hangzhou.aliyuncs.com'.",
        )
    endpoint = endpoint or f"oss-{region}.aliyuncs.com"
    found = _OSS_HOST.fullmatch(_host(endpoint))
    if found is None:
        return endpoint
    config["region"] = region or found[1]
    scheme, mark, host = endpoint.rpartition("://")
    return f"{scheme}{mark}s3.{host.removeprefix('s3.')}"


def _host(endpoint: str) -> str:
    rest = endpoint.rpartition("://")[2].partition("/")[0]
    return rest if rest.startswith("[") else rest.partition(":")[0]


def _client_value(name: str, value: str) -> str | bool | timedelta:
    if name in _SWITCHES:
        return _boolean(name, value)
    return timedelta(seconds=_seconds(value, name)) if name in _DURATIONS else value


def _boolean(name: str, value: str) -> bool:
    lower = value.strip().lower()
    if lower in ("true", "1", "yes", "on"):
        return True
    if lower in ("false", "0", "no", "off"):
        return False
    raise InvalidInputError(f"The storage option {name!r} must be true or false.")


def _count(name: str, value: str) -> int:
    if not value.strip().isdecimal():
        raise InvalidInputError(f"The storage option {name!r} must be an integer of at least 0.")
    return int(value)


def _seconds(value: str, name: str = "retry_timeout") -> float:
    found = re.fullmatch(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([a-z]*)\s*", value.lower())
    unit = found[2] if found is not None else ""
    scale = _UNITS.get(unit or "s") or _UNITS.get(unit.removesuffix("s"))
    if found is None or scale is None:
        raise InvalidInputError(
            f"The storage option {name!r} must be a duration.",
            hint="Pass a number of seconds, or a string such as '500ms', '30s' or '2 min'.",
        )
    return float(found[1]) * scale
