"""When a token is renewed: before it expires.

Java renews a token that expires within the next hour. A token that lives only a few minutes is
renewed at half of its life, so that it is not loaded for each request.
"""

from paimon_explore.frozen_dataclass import dataclass

_SAFE_MILLIS = 3_600_000


@dataclass(frozen=True, slots=True)
class TokenLifetime:
    """The lifetime of a token, epoch milliseconds."""

    received_at: int
    expires_at: int

    def is_due(self, now: int) -> bool:
        """Return whether the token should be renewed.

        >>> TokenLifetime(0, 10_000).is_due(4_000), TokenLifetime(0, 10_000).is_due(6_000)
        (False, True)
        >>> TokenLifetime(0, 8_000_000).is_due(4_300_000)
        False
        """
        margin = min(_SAFE_MILLIS, max(self.expires_at - self.received_at, 0) // 2)
        return now >= self.expires_at - margin
