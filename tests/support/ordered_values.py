"""Values of each type in the order in which Java compares them, null first."""

import datetime as dt
from collections.abc import Mapping, Sequence
from decimal import Decimal

_FLOATS = [-float("inf"), -1.5, -1e-40, -0.0, 0.0, 1e-40, 1.5, float("inf"), float("nan")]
_PREFIX = "a long common begin of all "

IN_ORDER: Mapping[str, Sequence[object]] = {
    "BOOLEAN": [None, False, True],
    "TINYINT": [None, -128, -1, 0, 127],
    "INT": [None, -(2**31), -1, 0, 1, 2, 2**31 - 1],
    "BIGINT": [None, -(2**63), -1, 0, 2**63 - 1],
    "FLOAT": [None, *_FLOATS],
    "DOUBLE": [None, *_FLOATS],
    "DECIMAL(9, 2)": [None, Decimal("-5.00"), Decimal("-0.01"), Decimal("0.00"), Decimal("7.10")],
    "DECIMAL(38, 0)": [
        None,
        *map(Decimal, (-(10**37), -(2**64), -1, 0, 1, 2**64 - 1, 2**64, 10**37)),
    ],
    "DATE": [None, dt.date(1969, 12, 31), dt.date(1970, 1, 1), dt.date(9999, 12, 31)],
    "TIME(3)": [None, dt.time(0), dt.time(23, 59, 59, 999000)],
    "TIMESTAMP(6)": [
        None,
        dt.datetime.fromisoformat("1969-01-01"),
        dt.datetime.fromisoformat("1969-12-31T23:59:59.999999"),
        dt.datetime.fromisoformat("1970-01-01"),
        dt.datetime.fromisoformat("2024-01-01"),
    ],
    "TIMESTAMP(9)": [None, -(10**18), -1_000_001, -1_000_000, -1, 0, 1, 10**18],
    "STRING": [None, "", "\0", "a", "a\0", "a\0b", "ab", "b", "\u00e9", "\uffff", "\U0001f600"],
    "BYTES": [None, b"", b"\0", b"\x01", b"\x7f", b"\x80", b"\xff"],
    "STRING without zero": [
        *(None, "", "a", "aaaaaaa", "aaaaaaaa", "aaaaaaaaa", "aaaaaaab", "aaaaaab", "ab"),
        *("b", "b" * 15, "b" * 16, "b" * 17, "b" * 99),
    ],
    "STRING with zeros": [
        *(None, "aaaaaaa", "aaaaaaa\0", "aaaaaaa\0\0", "aaaaaaaa", "aaaaaaaa\0", "aaaaaaaaa"),
    ],
    "STRING of one length": [None, *(f"{_PREFIX}{end}" for end in ("000", "001", "010", "100"))],
    "STRING of one begin": [
        None,
        *(f"{_PREFIX}{end}" for end in ("", "\0", "a", "aaaaaaaaa", "b")),
    ],
}
"""By type; what follows " of ", " with " or " without " tells lists of one type apart."""


def type_of(name: str) -> str:
    """The type of a list of `IN_ORDER`, as in schema files."""
    return name.split(" with", maxsplit=1)[0].split(" of ", maxsplit=1)[0]
