"""What official Java 2.0.0 made of random records, engine by engine and function by function.

`java_answers.json` holds, per case, the schema, the records of three commits and the rows that Java
read afterwards. The table was write-only, so each commit is one level-0 file, merged by Java's
writer, and the read merged the three.
"""

import json
import math
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest

from paimon_explore.data_types.json_parser import parse_fields
from paimon_explore.errors import InvalidInputError
from paimon_explore.metadata.schema.table_schema import TableSchema
from support.merging import Row, merged_commits

ANSWERS: dict[str, dict[str, object]] = json.loads(
    Path(__file__).with_name("java_answers.json").read_text(encoding="utf-8")
)
REFUSED = [name for name, case in ANSWERS.items() if case["rows"] is None]
MERGED = [name for name in ANSWERS if name not in REFUSED]


def decoded(value: object) -> object:
    if isinstance(value, list):
        return [decoded(part) for part in value]
    if not isinstance(value, dict):
        return value
    [(kind, inner)] = value.items()
    return READERS[kind](inner)


READERS: dict[str, Callable[..., object]] = {
    "float": float,
    "decimal": Decimal,
    "bytes": bytes.fromhex,
    "map": lambda pairs: [(decoded(key), decoded(item)) for key, item in pairs],
    "row": lambda fields: {name: decoded(part) for name, part in fields.items()},
}


def comparable(value: object, *, ordered: bool) -> str:
    """Floats by their bits, all NaN alike; elements without an order are sorted."""
    if isinstance(value, float) and math.isnan(value):
        return "nan"
    if isinstance(value, list):
        parts = [comparable(part, ordered=True) for part in value]
        return repr(parts if ordered else sorted(parts))
    return repr(value)


def table_of(case: dict[str, object]) -> tuple[TableSchema, list[list[Row]]]:
    schema = case["schema"]
    commits = case["commits"]
    assert isinstance(schema, dict)
    assert isinstance(commits, list)
    fields = parse_fields(schema["fields"], "answers")
    table = TableSchema(
        id=0,
        fields=tuple(fields),
        highest_field_id=99,
        primary_keys=("k",),
        options=schema["options"],
    )
    records = [[(row[0], *map(decoded, row[1:])) for row in rows] for rows in commits]
    if "ignore-delete" in table.options:  # Java's writer drops these before it merges
        records = [[row for row in rows if str(row[0])[0] == "+"] for rows in records]
    return table, records


def shown(case: dict[str, object], table: TableSchema, rows: list[Row]) -> list[list[str]]:
    unordered = case["unordered"]
    assert isinstance(unordered, list)
    names = table.row_type.names
    return sorted(
        [
            comparable(value, ordered=name not in unordered)
            for name, value in zip(names, row, strict=True)
        ]
        for row in rows
    )


@pytest.mark.parametrize("name", MERGED)
@pytest.mark.parametrize("key_order", [True, False])
def test_rows_are_those_that_java_reads(name: str, *, key_order: bool) -> None:
    case = ANSWERS[name]
    table, commits = table_of(case)
    found = merged_commits(table, commits, key_order=key_order)
    rows = case["rows"]
    assert isinstance(rows, list)
    expected: list[Row] = [tuple(map(decoded, row)) for row in rows]
    assert shown(case, table, found) == shown(case, table, expected)


@pytest.mark.parametrize("name", REFUSED)
def test_records_that_java_refuses_are_refused(name: str) -> None:
    table, commits = table_of(ANSWERS[name])
    with pytest.raises(InvalidInputError, match=r"deletes \(-D\) or old values"):
        merged_commits(table, commits)
