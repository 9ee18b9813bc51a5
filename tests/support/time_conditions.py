"""Conditions with functions of times and texts, and the rows for which they are true."""

from datetime import date, datetime
from functools import partial

local = partial(datetime, tzinfo=None)
COLUMNS = {"id": "INT", "s": "STRING", "f": "DOUBLE", "ts": "TIMESTAMP(6)", "dt": "DATE"}
NAN = float("nan")
ROWS: list[dict[str, object]] = [
    {
        "id": 1,
        "s": "Hello",
        "f": NAN,
        "ts": local(2024, 2, 29, 13, 45, 10, 250_000),
        "dt": date(2024, 1, 31),
    },
    {
        "id": 2,
        "s": "world\n",
        "f": 1.0,
        "ts": local(1969, 12, 31, 23, 59, 59, 999_999),
        "dt": date(1969, 3, 31),
    },
    {"id": 3},
    {"id": 4, "s": "a.b%c", "f": -0.0, "ts": local(2026, 1, 1), "dt": date(2025, 12, 29)},
]

CASES: dict[str, list[int]] = {
    "s ILIKE 'hEl%'": [1],
    "s NOT ILIKE 'h%'": [2, 4],
    "s ILIKE 'A._!%C' ESCAPE '!'": [4],
    "s RLIKE 'o$'": [1],
    "s REGEXP 'd$'": [2],
    "s RLIKE '^[hw]o'": [2],
    "s NOT RLIKE 'l{2}'": [2, 4],
    r"s RLIKE '^a\\.b.c$'": [4],
    r"s RLIKE '[\\s%]'": [2, 4],
    "rlike(s, 'x|lo|a$')": [1],
    "regexp_like(s, '(?:el)+')": [1],
    "isnan(f)": [1],
    "NOT isnan(f)": [2, 3, 4],
    "EXTRACT(YEAR FROM ts) = 2024": [1],
    "extract(quarter FROM dt) >= 4": [4],
    "EXTRACT(WEEK FROM dt) = 1": [4],
    "EXTRACT(YEAROFWEEK FROM dt) = 2026": [4],
    "EXTRACT(DOY FROM dt) = 90": [2],
    "EXTRACT(DAYOFWEEK FROM dt) = 4": [1],
    "EXTRACT(DOW_ISO FROM dt) = 1": [2, 4],
    "weekday(dt) = 0": [2, 4],
    "EXTRACT(SECOND FROM ts) = 10.25": [1],
    "second(ts) = 59": [2],
    "hour(ts) = 23 AND minute(ts) = 59": [2],
    "year(ts) > 2024": [4],
    "year(ts) < 1970": [2],
    "NOT year(ts) <= 2024": [4],
    "NOT year(dt) = 2024": [2, 4],
    "year(dt) <> 2024": [2, 4],
    "year(dt) BETWEEN 1969 AND 2024": [1, 2],
    "date_trunc('month', ts) = '2024-02-01'": [1],
    "date_trunc('MONTH', ts) < '2024-02-01'": [2],
    "date_trunc('week', ts) = TIMESTAMP '1969-12-29 00:00:00'": [2],
    "date_trunc('quarter', dt) = TIMESTAMP '2024-01-01 00:00:00'": [1],
    "date_trunc('second', ts) = TIMESTAMP '1969-12-31 23:59:59'": [2],
    "date_trunc('hour', ts) > TIMESTAMP '2024-02-29 13:00:00'": [4],
    "date_trunc('hour', ts) <= TIMESTAMP '2024-02-29 13:00:00'": [1, 2],
    "trunc(dt, 'year') = DATE '2024-01-01'": [1],
    "trunc(dt, 'week') >= DATE '2025-12-29'": [4],
    "ts >= TIMESTAMP '2024-03-01 00:00:00' - INTERVAL 1 DAY": [1, 4],
    "dt + INTERVAL 1 MONTH = DATE '2024-02-29'": [1],
    "dt - INTERVAL '1' YEAR = DATE '1968-03-31'": [2],
    "INTERVAL 2 WEEKS + dt = DATE '2026-01-12'": [4],
    "dt + INTERVAL '1 day 2 hours' = TIMESTAMP '2024-02-01 02:00:00'": [1],
    "ts + INTERVAL 1 MICROSECOND = TIMESTAMP '1970-01-01 00:00:00'": [2],
    "ts - INTERVAL 1 MONTH - INTERVAL 1 DAY = TIMESTAMP '2025-11-30 00:00:00'": [4],
    "ts - INTERVAL 1 DAY 2 HOURS = TIMESTAMP '2025-12-30 22:00:00'": [4],
}
"""The ids of the rows, by condition."""
