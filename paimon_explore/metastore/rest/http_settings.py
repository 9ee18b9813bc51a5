"""Time-outs and retries of requests to a REST catalog, from catalog options.

Paimon has no options for them; the names are those of storage options.

| option | meaning | default |
| --- | --- | --- |
| `connect-timeout` | maximum time to connect | 10 s |
| `timeout` | maximum time to wait for the next bytes of a response | 60 s |
| `max-retries` | how often a request that may be repeated is sent again | 5 |

Durations are texts such as `500 ms`, `30 s`, `2 min`; a number without a unit is in seconds.
"""

from collections.abc import Mapping

from paimon_explore.errors import InvalidInputError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metastore.catalog_options import CatalogOptions

_RETRIES = range(1_000_001)
_FIRST_WAIT = 0.2
_MAX_WAIT = 10.0
_JITTER = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpSettings:
    """Limits of one request.

    Attributes:
        connect_timeout: maximum time to connect, in seconds.
        read_timeout: maximum time to wait for the next bytes, in seconds.
        max_retries: how often a request is sent again, if it may be repeated.
    """

    connect_timeout: float = 10.0
    read_timeout: float = 60.0
    max_retries: int = 5


def http_settings(options: Mapping[str, str]) -> HttpSettings:
    """Return the settings of catalog options.

    Raises:
        InvalidInputError: a value is not a duration, or not a number of retries.

    >>> http_settings({"timeout": "5 s"}).read_timeout
    5.0
    """
    given, default = CatalogOptions(options), HttpSettings()
    settings = HttpSettings(
        connect_timeout=given.seconds("connect-timeout", default.connect_timeout),
        read_timeout=given.seconds("timeout", default.read_timeout),
        max_retries=given.integer("max-retries", default.max_retries, _RETRIES),
    )
    if min(settings.connect_timeout, settings.read_timeout) <= 0:
        raise InvalidInputError("Options 'connect-timeout' and 'timeout' must be above 0.")
    return settings


def backoff_seconds(retry: int, chance: float, retry_after: float | None = None) -> float:
    """Return the wait before a retry: doubled with each retry, or what the server asks for.

    Args:
        retry: number of previous retries.
        chance: a random number in [0, 1), for jitter.
        retry_after: the seconds in the header `Retry-After` of the response, if any.

    >>> backoff_seconds(2, 0.0), backoff_seconds(0, 0.5, retry_after=3.0)
    (0.8, 3.0)
    """
    if retry_after is not None:
        return min(max(retry_after, 0.0), _MAX_WAIT)
    return min(_FIRST_WAIT * 2.0**retry, _MAX_WAIT) * (1 + _JITTER * chance)
