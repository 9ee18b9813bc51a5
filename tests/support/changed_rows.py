"""Tables of every kind whose rows were updated, deleted and merged, to be read by others."""

from collections.abc import Mapping, Sequence

import pyarrow as pa

from paimon_explore import Table
from support.written import Kind, Row, Step, append, columns, upsert

STOCK = columns({"id": pa.int32(), "name": pa.string(), "qty": pa.int64(), "dt": pa.string()})


def stock(first: int, last: int) -> list[Row]:
    """Rows in two partitions."""
    return [
        {"id": i, "name": f"n{i}", "qty": i * 10, "dt": "odd" if i % 2 else "even"}
        for i in range(first, last)
    ]


def update(values: Mapping[str, object], where: str) -> Step:
    """Rows updated by a predicate."""
    return lambda table: table.update(values, where)


def delete(where: str) -> Step:
    """Rows deleted by a predicate."""
    return lambda table: table.delete(where)


CHANGES: Sequence[Row] = [
    {"id": 2, "qty": 5, "dt": "even"},
    {"id": 5, "qty": -1, "dt": "odd"},
    {"id": 40, "qty": 7, "dt": "odd"},
]


def merge(*, deletes: bool = True) -> Step:
    """Source rows merged: one adds up, one deletes or adds up, one is new."""

    def run(table: Table) -> object:
        described = table.merge(CHANGES, on=["id", "dt"])
        if deletes:
            described = described.when_matched_delete("source.qty < 0")
        return (
            described.when_matched_update({"qty": "target.qty + source.qty"})
            .when_not_matched_insert({"id": "source.id", "qty": "s.qty", "dt": "s.dt"})
            .execute()
        )

    return run


UPDATE = update({"qty": "qty + 1", "name": "upper(name)"}, "id IN (1, 2, 12)")
MOVE = update({"dt": "'moved'"}, "id = 3")
DELETE = delete("id IN (0, 7) OR id > 12")
MORE = stock(100, 104)


def _append(options: Mapping[str, str] | None = None, *, by_partition: bool = False) -> Kind:
    return Kind(
        schema=STOCK,
        partition_by=["dt"] if by_partition else [],
        options=options or {},
        steps=[append(*stock(0, 8)), append(*stock(8, 15)), UPDATE, DELETE, MOVE, merge()],
        count=11,
        more=MORE,
    )


def _evolved(*, by_partition: bool = False) -> Kind:
    """Rows in several files with different columns, of which some are deleted."""
    return Kind(
        schema=STOCK,
        partition_by=["dt"] if by_partition else [],
        options={**_TRACKED, **_VECTORS, "data-evolution.enabled": "true"},
        steps=[
            append(*stock(0, 8)),
            append(*stock(8, 15)),
            UPDATE,
            DELETE,
            delete("_ROW_ID IN (3, 4)"),
            update({"qty": "qty - 1"}, "_ROW_ID < 7"),
            merge(),
        ],
        count=9,
        more=MORE,
    )


def _keyed(
    options: Mapping[str, str],
    *,
    keys: Sequence[str] = ("id",),
    moves: bool = False,
    by_partition: bool = False,
) -> Kind:
    return Kind(
        schema=STOCK,
        primary_key=keys,
        partition_by=["dt"] if by_partition else [],
        options=options,
        steps=[
            upsert(*stock(0, 8)),
            upsert(*stock(8, 15)),
            UPDATE,
            DELETE,
            *([MOVE] if moves else []),
            merge(),
        ],
        count=11,
        more=MORE,
    )


_VECTORS = {"deletion-vectors.enabled": "true"}
_TRACKED = {"row-tracking.enabled": "true"}
_BUCKETS = {"bucket": "2", "bucket-key": "id"}

CHANGED: Mapping[str, Kind] = {
    "rewritten": _append(),
    "rewritten_partitioned": _append(by_partition=True),
    "rewritten_bucketed": _append(_BUCKETS),
    "rewritten_orc": _append({"file.format": "orc"}),
    "rewritten_avro": _append({"file.format": "avro"}),
    "marked": _append(_VECTORS),
    "marked_wide": _append({**_VECTORS, "deletion-vectors.bitmap64": "true"}),
    "marked_partitioned": _append(_VECTORS, by_partition=True),
    "marked_small": _append({**_VECTORS, "deletion-vector.index-file.target-size": "1 b"}),
    "marked_bucketed": _append({**_BUCKETS, **_VECTORS}),
    "tracked": _append(_TRACKED),
    "tracked_marked": _append({**_TRACKED, **_VECTORS}),
    "evolved": Kind(
        schema=STOCK,
        options={**_TRACKED, "data-evolution.enabled": "true"},
        steps=[append(*stock(0, 8)), append(*stock(8, 15)), UPDATE, merge(deletes=False)],
        count=16,
        more=MORE,
    ),
    "evolved_marked": _evolved(),
    "evolved_marked_partitioned": _evolved(by_partition=True),
    "keyed": _keyed({"bucket": "2"}, moves=True),
    "keyed_partitioned": _keyed({"bucket": "1"}, keys=["id", "dt"], by_partition=True),
    "keyed_across": _keyed({"dynamic-bucket.target-row-num": "3"}, moves=True, by_partition=True),
}
"""The kinds by table name."""
