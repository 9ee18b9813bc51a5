"""Formats lengths of time in one unit."""

_UNITS = (("s", 1), ("min", 60), ("h", 3600), ("d", 86_400))
_LEAST = 2
"""A larger unit is used from this many of it."""


def span_text(millis: float) -> str:
    """Format a length of time.

    >>> span_text(1500), span_text(300_000), span_text(3 * 86_400_000)
    ('2 s', '5 min', '3 d')
    >>> span_text(120)
    '120 ms'
    """
    seconds = max(millis, 0) / 1000
    if seconds < 1:
        return f"{max(millis, 0):.0f} ms"
    unit, length = next(((u, n) for u, n in reversed(_UNITS) if seconds >= _LEAST * n), _UNITS[0])
    return f"{seconds / length:,.0f} {unit}"
