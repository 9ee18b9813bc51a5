"""Rows of system tables in a form in which those of two implementations compare."""

import json
import re
from collections.abc import Collection, Sequence
from datetime import datetime

import pyarrow as pa

_JAVA_OBJECT = re.compile(r"\[B@[0-9a-f]+")
_BYTES = re.compile(r"0x[0-9a-f]*")
_JSON = frozenset({"fields", "options", "partition_keys", "primary_keys", "colstat"})
_LISTS = frozenset({"function", "function_options"})
"""Of `$aggregation_fields`: in the order of a Java hash map."""
_SPELLED = {"delete_row_count": "deleteRowCount"}


def facts(
    table: pa.Table | Sequence[dict[str, object]], columns: Collection[str] | None = None
) -> list[str]:
    """The rows, sorted: paths by their file name, JSON parsed, bytes hidden, hash order undone.

    Java prints bytes as an object's address, which no one else can.

    Args:
        table: rows of a system table.
        columns: the ones that matter; all of them by default.
    """
    rows = table.to_pylist() if isinstance(table, pa.Table) else table
    return sorted(
        json.dumps(
            {
                _SPELLED.get(name, name): _fact(name, value)
                for name, value in row.items()
                if columns is None or _SPELLED.get(name, name) in columns
            },
            sort_keys=True,
            default=str,
        )
        for row in rows
    )


def _fact(name: str, value: object) -> object:
    if isinstance(value, str) and name.endswith("_time"):
        value = datetime.fromisoformat(value)
    if isinstance(value, datetime):
        return value.isoformat(timespec="milliseconds")
    if not isinstance(value, str):
        return value
    if name == "file_path":
        return value.rpartition("/")[2]
    if name in _LISTS:
        return sorted(value.strip("[]").split(", "))
    if name in _JSON and value[:1] in "[{":
        return json.loads(value)
    return _BYTES.sub("bytes", _JAVA_OBJECT.sub("bytes", value))
