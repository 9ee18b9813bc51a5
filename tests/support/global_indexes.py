"""Tables with global indexes that Java 2.0.0 and pypaimon 2.1.0 built, and their rows.

`global_indexes.tar.xz` holds the tables of `TABLES`; `tests/interop/global_index_tables.py` makes
it anew. All have the rows of `given()`; the columns of `TYPES` are indexed for the first 30 rows.
"""

import math
from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path

ARCHIVE = Path(__file__).with_name("global_indexes.tar.xz")

TYPES: Mapping[str, str] = {
    "b": "BOOLEAN",
    "i8": "TINYINT",
    "i16": "SMALLINT",
    "i32": "INT",
    "i64": "BIGINT",
    "f": "FLOAT",
    "d": "DOUBLE",
    "dec": "DECIMAL(10, 2)",
    "long_dec": "DECIMAL(30, 5)",
    "dt": "DATE",
    "tm": "TIME(3)",
    "ts0": "TIMESTAMP(0)",
    "ts3": "TIMESTAMP(3)",
    "ts6": "TIMESTAMP(6)",
    "ts9": "TIMESTAMP(9)",
    "ltz": "TIMESTAMP(6) WITH LOCAL TIME ZONE",
    "s": "STRING",
    "v": "VARCHAR(20)",
}
"""All types that can be indexed, except CHAR, whose indexes are not used."""

JAVA_TABLES: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "java_btree": ("btree", {}),
    "java_bitmap": ("bitmap", {}),
    "java_btree_zstd": (
        "btree",
        {
            "btree-index.compression": "zstd",
            "btree-index.block-size": "64 b",
            "sorted-index.records-per-range": "8",
        },
    ),
    "java_btree_lz4": (
        "btree", {"btree-index.compression": "lz4", "btree-index.block-size": "100 b"}
    ),
    "java_bitmap_zstd": (
        "bitmap",
        {"bitmap-index.compression": "zstd", "bitmap-index.dictionary-block-size": "64 b"},
    ),
}  # fmt: skip
"""Kind of index and options of the tables that Java wrote."""
PYPAIMON_TABLES: Mapping[str, str] = {"pypaimon_btree": "btree", "pypaimon_bitmap": "bitmap"}
TABLES = (*JAVA_TABLES, *PYPAIMON_TABLES)

INDEXED_ROWS = 30
_ALL_ROWS = 36
_NUMBERS = (0.0, -0.0, math.nan, 1.5, -1.5, math.inf, -math.inf)
_BEGIN = datetime(1969, 12, 31, 23, 59, 50)  # noqa: DTZ001 - wall clock


def given() -> list[dict[str, object]]:
    """The rows of every table, in order of row ids; every seventh has nulls only."""
    return [_row(i) if i % 7 != 3 else dict.fromkeys(TYPES) for i in range(_ALL_ROWS)]


def _row(i: int) -> dict[str, object]:
    moment = _BEGIN + timedelta(seconds=i, microseconds=1000 * i)
    return {
        "b": i % 2 == 0,
        "i8": i % 5 - 2,
        "i16": i * 100 - 500,
        "i32": i * 100_000 - 5,
        "i64": i // 2 * 10**12 - 3,
        "f": _NUMBERS[(i + i // 7) % 7],
        "d": _NUMBERS[(i + i // 7) % 7],
        "dec": Decimal(i - 5).scaleb(-2),
        "long_dec": Decimal(i - 5) * Decimal(10) ** 20,
        "dt": date(1969, 12, 25) + timedelta(days=i),
        "tm": time(i % 24, 1, 2, 3000),
        "ts0": _BEGIN + timedelta(seconds=i),
        "ts3": moment,
        "ts6": moment + timedelta(microseconds=i),
        "ts9": moment + timedelta(microseconds=i),
        "ltz": (moment + timedelta(microseconds=i)).replace(tzinfo=UTC),
        "s": "ab"[i % 2] + "ä\U0001f600" * (i % 3) + str(i % 6),
        "v": "x" * (i % 4),
    }
