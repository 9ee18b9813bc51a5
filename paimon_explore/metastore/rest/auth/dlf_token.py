"""The keys of DLF, and how they are loaded: from options, a file, or the role of an ECS host.

Spec: concepts/rest/dlf.
"""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from paimon_explore.errors import FormatError, InvalidInputError, StorageError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.json_object import parse_object

_READS = 5
_WAIT_SECONDS = 0.2
_TIME_FORMAT = "%Y-%m-%dT%H:%M:%SZ"


@dataclass(frozen=True, slots=True, kw_only=True)
class DlfToken:
    """Keys of Alibaba Cloud.

    Attributes:
        access_key_id: the id of the key.
        access_key_secret: the secret of the key.
        security_token: the STS token of temporary keys.
        expires_at_millis: when temporary keys expire, epoch milliseconds; None for never.
    """

    access_key_id: str
    access_key_secret: str
    security_token: str | None = None
    expires_at_millis: int | None = None

    def __repr__(self) -> str:
        """Only the expiry: the rest is secret."""
        return f"DlfToken(******, expires_at_millis={self.expires_at_millis})"


def parse_dlf_token(data: bytes, where: str) -> DlfToken:
    """Parse the JSON of temporary keys, as token files and the metadata service have it.

    Args:
        data: the JSON text, which is secret: errors name only the key that is wrong.
        where: the file or URL, for errors.

    Raises:
        StorageError: not a token.
    """
    try:
        source = parse_object(data, where)
        expiration = source.optional_text("Expiration")
        return DlfToken(
            access_key_id=source.text("AccessKeyId"),
            access_key_secret=source.text("AccessKeySecret"),
            security_token=source.optional_text("SecurityToken"),
            expires_at_millis=None if expiration is None else _millis(expiration),
        )
    except FormatError as error:
        field = getattr(error, "where", "the file")
        reason = f"{field} is missing or invalid"
    except ValueError:
        reason = "Expiration is not a UTC time such as 2026-01-31T12:00:00Z"
    hint = "A token is a JSON object with AccessKeyId, AccessKeySecret, SecurityToken, Expiration."
    raise StorageError("read the DLF token from", where, reason, hint=hint)


def _millis(text: str) -> int:
    return int(datetime.strptime(text, _TIME_FORMAT).replace(tzinfo=UTC).timestamp() * 1000)


class DlfTokenLoader(Protocol):
    """A source of temporary keys; can be pickled."""

    def load(self) -> DlfToken:
        """Load the current keys."""


@dataclass(frozen=True, slots=True)
class TokenFileLoader:
    """Keys in a local file, which another program replaces before they expire.

    Attributes:
        path: the file.
        sleep: waits for seconds between reads of a file that is being replaced.
    """

    path: str
    sleep: Callable[[float], None] = time.sleep

    def load(self) -> DlfToken:
        """Read the file; repeated for a moment if it is missing or incomplete."""
        for attempt in range(_READS):
            try:
                return parse_dlf_token(Path(self.path).read_bytes(), self.path)
            except OSError as error:  # also StorageError
                if attempt == _READS - 1:
                    if isinstance(error, StorageError):
                        raise
                    raise StorageError(
                        "read the DLF token from",
                        self.path,
                        error.strerror or type(error).__name__,
                        hint="Check the option 'dlf.token-path'.",
                    ) from error
            self.sleep(_WAIT_SECONDS * (attempt + 1))
        raise AssertionError


@dataclass(frozen=True, slots=True, kw_only=True)
class EcsRoleLoader:
    """Keys of the role of an ECS host, from its metadata service.

    Attributes:
        url: the URL of the roles, with a slash at the end.
        role: the role; None to ask the service for it.
        fetch: returns the body of a URL.
    """

    url: str
    role: str | None
    fetch: Callable[[str], bytes]

    def load(self) -> DlfToken:
        """Ask the metadata service.

        Raises:
            StorageError: the service cannot be reached, or answered something else.
        """
        role = self.role or self.fetch(self.url).decode("utf-8", "replace").strip()
        if not role or "/" in role or any(map(str.isspace, role)):
            raise StorageError(
                "read the role from",
                self.url,
                "the metadata service named no role",
                hint="Set the option 'dlf.token-ecs-role-name'.",
            )
        url = self.url + role
        return parse_dlf_token(self.fetch(url), url)


def constant_token(key: str, secret: str, security_token: str | None) -> DlfToken:
    """Return the keys of options.

    Raises:
        InvalidInputError: a key is empty.
    """
    if not key or not secret:
        raise InvalidInputError(
            "The catalog options 'dlf.access-key-id' and 'dlf.access-key-secret' must not be empty."
        )
    return DlfToken(access_key_id=key, access_key_secret=secret, security_token=security_token)
