"""The rows of a query's result in a form that both engines share; needs only pyarrow."""

import hashlib
from decimal import Decimal

import pyarrow as pa


def check_rows(found: pa.Table, *, ordered: bool) -> dict[str, object]:
    """What engines must agree on: the number of rows, and a digest of their values.

    Other numbers than integers are compared to four digits, as engines give averages of decimals
    different scales; the order only if the query has one.
    """
    columns = [[_text(value) for value in column.to_pylist()] for column in found.columns]
    rows = list(zip(*columns, strict=True))
    if not ordered:
        rows.sort()
    digest = hashlib.sha256(repr(rows).encode()).hexdigest()[:12]
    return {"rows": len(rows), "first": rows[:1], "digest": digest}


def _text(value: object) -> str:
    if isinstance(value, float | Decimal):
        return f"{float(value):.4g}"
    return str(value).rstrip()
