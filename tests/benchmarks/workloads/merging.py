"""Merge reads of primary-key tables: 4 buckets, several overlapping runs."""

from benchmarks.case import Case, Goal, Json, peak_mib, times

_MILLION = 1_000_000
_CONTENDERS = ("ours", "rust", "limit")


def _merge(
    table: str, title: str, goals: tuple[Goal, ...], columns: tuple[str, ...] | None = None
) -> Case:
    parameters: dict[str, Json] = {"table": table, "columns": columns}
    some = "" if columns is None else f", {len(columns)} columns"
    return Case(
        id=f"merge-{table}{some}".replace("_", "-").replace(", ", "-").replace(" ", "-"),
        title=f"merge read, {title}{some}",
        operation="read",
        parameters=parameters,
        units=int(table.rpartition("_")[2].removesuffix("m")) * _MILLION,
        unit="rows",
        tables=(table,),
        contenders=_CONTENDERS,
        goals=goals,
    )


def _streamed(millions: int, most_mib: float) -> Case:
    table = f"keyed_dense_{millions}m"
    return Case(
        id=f"merge-memory-{millions}m",
        title=f"memory of a streamed merge read, {millions}M rows",
        operation="stream",
        parameters={"table": table},
        units=millions * _MILLION,
        unit="rows",
        tables=(table,),
        contenders=("ours", "rust"),
        goals=(peak_mib(most_mib),),
    )


_TWO = ("k", "v1")

CASES = (
    _merge("keyed_dense_1m", "dense integer keys, 1M rows", ()),
    _merge("keyed_dense_5m", "dense integer keys, 5M rows", (times(2), times(0.9, "limit"))),
    _merge("keyed_dense_5m", "dense integer keys, 5M rows", (times(4), times(0.7, "limit")), _TWO),
    _merge("keyed_dense_10m", "dense integer keys, 10M rows", ()),
    _merge("keyed_hashed_5m", "hashed integer keys, 5M rows", (times(1.6), times(0.7, "limit"))),
    _merge(
        "keyed_hashed_5m", "hashed integer keys, 5M rows", (times(3), times(0.4, "limit")), _TWO
    ),
    _merge("keyed_user_2m", "keys like user-000123, 2M rows", (times(1.4),)),
    _merge("keyed_uuid_2m", "UUID keys, 2M rows", (times(1.2),)),
    _merge("keyed_url_2m", "URL keys, 2M rows", (times(1.2),)),
    _merge("keyed_partial_1m", "partial update, 1M rows", (times(3),)),
    _merge("keyed_aggregated_1m", "aggregation, 1M rows", (times(5),)),
    _streamed(5, 355),
    _streamed(10, 500),
)
