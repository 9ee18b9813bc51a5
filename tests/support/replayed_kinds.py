"""The kinds of tables whose changes are replayed."""

from collections.abc import Iterable, Mapping
from itertools import product

from support.replaying import Kind

TRACKED = {"row-tracking.enabled": "true"}
VECTORS = {"deletion-vectors.enabled": "true"}
BUCKETS = {
    "one bucket": {"bucket": "1"},
    "two buckets": {"bucket": "2"},
    "dynamic buckets": {"bucket": "-1", "dynamic-bucket.target-row-num": "2"},
    "postponed buckets": {"bucket": "-2"},
}
ENGINES: Mapping[str, Mapping[str, str]] = {
    "deduplicate": {},
    "sequence": {"sequence.field": "v"},
    "ignoring deletes": {"ignore-delete": "true"},
    "partial-update": {"merge-engine": "partial-update", "ignore-delete": "true"},
    "partial-update, deletes": {
        "merge-engine": "partial-update",
        "partial-update.remove-record-on-delete": "true",
    },
    "aggregation": {
        "merge-engine": "aggregation",
        "fields.v.aggregate-function": "sum",
        "aggregation.remove-record-on-delete": "true",
    },
    "first-row": {"merge-engine": "first-row", "ignore-delete": "true"},
}
PRODUCERS = ("none", "input", "lookup", "full-compaction")


def _keyed() -> Iterable[tuple[str, Kind]]:
    keys = {"p, k": ("p", "k"), "k": ("k",)}
    upkeep = {"": {}, ", write-only": {"write-only": "true"}}
    for (key, columns), (buckets, of_buckets), (engine, of_engine), producer, (
        vectors,
        of_vectors,
    ), (
        lazy,
        of_upkeep,
    ) in product(
        keys.items(),
        BUCKETS.items(),
        ENGINES.items(),
        PRODUCERS,
        {"": {}, ", vectors": VECTORS}.items(),
        upkeep.items(),
    ):
        if (columns == ("k",)) != (buckets == "dynamic buckets" and producer == "none"):
            continue
        if columns == ("k",) and engine in {"ignoring deletes", "sequence"}:
            continue  # a key stays in its old partition, too; not allowed
        if engine == "first-row" and (vectors or producer in {"input", "full-compaction"}):
            continue
        if vectors and producer == "full-compaction":
            continue
        options = {
            **of_buckets,
            **of_engine,
            **of_vectors,
            **of_upkeep,
            "changelog-producer": producer,
        }
        yield (
            f"{engine}, {producer}, {buckets}, by {key}{vectors}{lazy}",
            Kind(options=options, keys=columns),
        )


KINDS: Mapping[str, Kind] = {
    "append": Kind(),
    "append, vectors": Kind(options=VECTORS),
    "append, buckets": Kind(options={"bucket": "2", "bucket-key": "k"}),
    "append, buckets, vectors": Kind(options={"bucket": "2", "bucket-key": "k", **VECTORS}),
    "append, row tracking": Kind(options=TRACKED),
    "append, row tracking, vectors": Kind(options={**TRACKED, **VECTORS}),
    "append, data evolution": Kind(options={**TRACKED, "data-evolution.enabled": "true"}),
    **dict(_keyed()),
}

APPEND = [name for name in KINDS if name.startswith("append")]
KEYED = [name for name in KINDS if not name.startswith("append")]
