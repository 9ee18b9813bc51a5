"""What both engines do with results, beside the rows of a query in a form that they share.

Needs only pyarrow; `pyarrow.compute` is loaded late, as neither engine needs it for a first batch.
"""

import hashlib
from decimal import Decimal
from typing import Any

import pyarrow as pa


def added_up(column: Any) -> Any:  # noqa: ANN401 - an array of any type
    """The sum of a column."""
    import pyarrow.compute as pc  # noqa: PLC0415 - see above

    return pc.sum(column).as_py()


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
