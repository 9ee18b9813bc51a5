"""A small warehouse of sample tables, written by this library."""

from datetime import date
from decimal import Decimal
from os import PathLike
from tempfile import mkdtemp

import pyarrow as pa

from paimon_explore.fileio.local import LocalFileIO, absolute_path
from paimon_explore.table.catalog.catalog import Catalog
from paimon_explore.table.table import open_table

_DAYS = (date(2026, 1, 1), date(2026, 1, 2), date(2026, 1, 3))
_CITIES = ("Oslo", "Turin", "Lyon", "Zürich", "大阪")


def demo(path: str | PathLike[str] | None = None) -> Catalog:
    """Create a warehouse with one table of every kind, in the database `demo`; about a second.

    | table | what it shows |
    | --- | --- |
    | `orders` | an append table with partitions, five commits, null values |
    | `customers` | a primary-key table with two buckets: upserts, deletes, sorted runs to merge |
    | `stock` | aggregation: amounts are summed, the last price stays |
    | `profiles` | partial-update: each source fills its own columns |
    | `events` | a changelog of its input |
    | `parcels` | deletion vectors, levels, a lookup changelog, a file index, tags, a consumer |
    | `trips` | a schema that changed: columns added, renamed, widened; a tag, a branch |
    | `readings` | dynamic buckets with their hash index |
    | `notes` | row tracking: the values of an updated column are in a file of their own |
    | `types` | a column of every type |
    | `empty` | a table without a snapshot |

    Args:
        path: folder of the warehouse, created if it does not exist; None for a new temporary one.
            If it has the database `demo` already, nothing is written.

    >>> catalog = demo()
    >>> catalog.table("demo.orders").count()
    30
    """
    folder = absolute_path(mkdtemp(prefix="paimon-demo-") if path is None else str(path))
    LocalFileIO().make_folder(folder)
    catalog = Catalog(folder)
    if "demo" in catalog.databases():
        return catalog
    catalog.create_database("demo")
    for make in _TABLES:
        make(catalog)
    return catalog


def _columns(**types: pa.DataType) -> pa.Schema:
    return pa.schema(types)


def _orders(catalog: Catalog) -> None:
    table = catalog.create_table(
        "demo.orders",
        {"id": "BIGINT NOT NULL", "city": "STRING", "amount": "DECIMAL(10, 2)", "dt": "DATE"},
        partition_by=["dt"],
        comment="Orders by day",
    )
    for commit in range(5):
        first = 100 * commit
        table.append(
            [
                {
                    "id": first + i,
                    "city": None if i == commit else _CITIES[(first + i) % len(_CITIES)],
                    "amount": Decimal(first + i) / 4,
                    "dt": _DAYS[(commit + i) % len(_DAYS)],
                }
                for i in range(6)
            ]
        )


def _customers(catalog: Catalog) -> None:
    table = catalog.create_table(
        "demo.customers",
        _columns(id=pa.int32(), name=pa.string(), city=pa.string()),
        primary_key=["id"],
        options={"bucket": "2"},
    )
    for commit in range(4):
        names = {i: f"customer {i} v{commit}" for i in range(commit * 5, commit * 5 + 12)}
        table.upsert(
            [{"id": i, "name": n, "city": _CITIES[i % len(_CITIES)]} for i, n in names.items()]
        )
    table.delete("id IN (3, 4)")


def _stock(catalog: Catalog) -> None:
    table = catalog.create_table(
        "demo.stock",
        _columns(item=pa.string(), amount=pa.int64(), price=pa.float64()),
        primary_key=["item"],
        options={
            "bucket": "1",
            "merge-engine": "aggregation",
            "fields.amount.aggregate-function": "sum",
            "fields.price.aggregate-function": "last_non_null_value",
        },
    )
    table.upsert([{"item": "nut", "amount": 5, "price": 0.1}, {"item": "bolt", "amount": 2}])
    table.upsert([{"item": "nut", "amount": -3}, {"item": "bolt", "amount": 1, "price": 0.25}])


def _profiles(catalog: Catalog) -> None:
    table = catalog.create_table(
        "demo.profiles",
        _columns(id=pa.int32(), mail=pa.string(), phone=pa.string()),
        primary_key=["id"],
        options={"bucket": "1", "merge-engine": "partial-update"},
    )
    table.upsert([{"id": 1, "mail": "a@example.org"}, {"id": 2, "mail": "b@example.org"}])
    table.upsert([{"id": 1, "phone": "+47 1"}, {"id": 3, "phone": "+39 3"}])


def _events(catalog: Catalog) -> None:
    table = catalog.create_table(
        "demo.events",
        _columns(id=pa.int32(), state=pa.string()),
        primary_key=["id"],
        options={"bucket": "1", "changelog-producer": "input"},
    )
    table.upsert([{"id": 1, "state": "new"}, {"id": 2, "state": "new"}])
    table.upsert([{"id": 1, "state": "paid", "_ROW_KIND": "+U"}])
    table.upsert([{"id": 2, "state": "new", "_ROW_KIND": "-D"}])


def _parcels(catalog: Catalog) -> None:
    table = catalog.create_table(
        "demo.parcels",
        _columns(dt=pa.date32(), id=pa.int32(), city=pa.string(), grams=pa.int64()),
        primary_key=["dt", "id"],
        partition_by=["dt"],
        options={
            "bucket": "2",
            "deletion-vectors.enabled": "true",
            "changelog-producer": "lookup",
            "file-index.bloom-filter.columns": "city",
            "file-index.bloom-filter.city.items": "1000",  # few bytes a file
            "snapshot.num-retained.min": "20",
        },
        comment="Parcels by day, as they were weighed",
    )
    for commit in range(4):
        table.upsert(
            [
                {
                    "dt": _DAYS[i % 2],
                    "id": i,
                    "city": _CITIES[(i + commit) % len(_CITIES)],
                    "grams": 100 * i + commit,
                }
                for i in range(4 * commit, 4 * commit + 9)
            ]
        )
    table.create_tag("weighed")
    table.delete("id = 7")
    for _ in table.changes(to_snapshot=3, consumer_id="labels"):
        pass  # the consumer has read so far


def _trips(catalog: Catalog) -> None:
    table = catalog.create_table(
        "demo.trips",
        _columns(id=pa.int32(), place=pa.string(), seats=pa.int32()),
        comment="Trips; look at t.inspect.schema_history()",
    )
    table.append([{"id": 1, "place": "Oslo", "seats": 4}, {"id": 2, "place": "Lyon", "seats": 2}])
    table.create_tag("before")
    table.add_column("guide", "STRING", comment="who leads it", after="place")
    table.rename_column("place", "city")
    table.alter_column_type("seats", "BIGINT")
    table.append([{"id": 3, "city": "Turin", "guide": "Ada", "seats": 3_000_000_000}])
    table.create_branch("draft", "before")
    open_table(table.path, branch="draft").append([{"id": 9, "place": "Zürich", "seats": 1}])


def _readings(catalog: Catalog) -> None:
    table = catalog.create_table(
        "demo.readings",
        _columns(sensor=pa.string(), celsius=pa.float64()),
        primary_key=["sensor"],
        options={"bucket": "-1", "dynamic-bucket.target-row-num": "4"},
    )
    for commit in range(2):
        table.upsert(
            [{"sensor": f"s{i:02}", "celsius": i / 2 + commit} for i in range(commit, 7 + commit)]
        )


def _notes(catalog: Catalog) -> None:
    table = catalog.create_table(
        "demo.notes",
        _columns(id=pa.int32(), text=pa.string(), stars=pa.int32()),
        options={"row-tracking.enabled": "true", "data-evolution.enabled": "true"},
    )
    table.append([{"id": i, "text": f"note {i}", "stars": i % 3} for i in range(4)])
    table.update({"stars": "stars + 1"}, "id >= 2")


def _types(catalog: Catalog) -> None:
    columns: dict[str, tuple[pa.DataType, object]] = {
        "b": (pa.bool_(), True),
        "i": (pa.int32(), -7),
        "d": (pa.decimal128(20, 3), Decimal("12345678901234567.125")),
        "s": (pa.string(), "Zürich 大阪"),
        "y": (pa.binary(), b"\x00\xff"),
        "day": (pa.date32(), date(1969, 12, 31)),
        "ts": (pa.timestamp("us"), 1_700_000_000_123_456),
        "ltz": (pa.timestamp("ms", tz="UTC"), -1),
        "list": (pa.list_(pa.int64()), [1, None, 3]),
        "map": (pa.map_(pa.string(), pa.float64()), [("a", 1.5), ("b", None)]),
        "row": (pa.struct([("x", pa.int32()), ("y", pa.string())]), {"x": 1, "y": None}),
    }
    schema = _columns(**{name: kind for name, (kind, _) in columns.items()})
    table = catalog.create_table("demo.types", schema)
    values = [pa.array([value, None], kind) for kind, value in columns.values()]
    table.append(pa.Table.from_arrays(values, schema=schema))


def _empty(catalog: Catalog) -> None:
    catalog.create_table("demo.empty", _columns(id=pa.int64()))


_TABLES = (
    _orders,
    _customers,
    _stock,
    _profiles,
    _events,
    _parcels,
    _trips,
    _readings,
    _notes,
    _types,
    _empty,
)
