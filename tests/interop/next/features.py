"""Tables with what is new in the next version, and the histories that a repeated kind lacks.

Each function makes one table in several states, and is named like the table; the first line of
its docstring is the table's description.
"""

import datetime as dt
import struct
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa

from oracle import ROW_KIND, JavaPaimon

Rows = Sequence[Mapping[str, Any]]
Fields = list[tuple[str, str | Mapping[str, Any]]]
Make = Callable[[JavaPaimon, Path], object]
EVOLUTION = {"bucket": "-1", "row-tracking.enabled": "true", "data-evolution.enabled": "true"}
DELETES = {"deletion-vectors.enabled": "true"}
NULLABLE = {"bucket": "2", "primary-key.nullable": "true"}
NULLABLE_FIELDS = [("a", "INT"), ("b", "STRING"), ("v", "STRING"), ("n", "BIGINT")]
FEW_FILES = {"compaction.min.file-num": "2"}


def set_option(key: str, value: str) -> Mapping[str, str]:
    """Change of an option."""
    return {"change": "set_option", "key": key, "value": value}


# -------------------------------------------------------------------- nullable primary keys


def keys(start: int, end: int, text: str) -> Rows:
    """Rows with null in each part of the key."""
    return [
        {
            "a": None if i % 5 == 0 else i,
            "b": None if i % 3 == 0 else f"b{i % 4}",
            "v": None if i % 7 == 0 else f"{text}{i}",
            "n": i,
        }
        for i in range(start, end)
    ]


def gone(rows: Rows) -> Rows:
    """The same rows as deletes."""
    return [{**row, ROW_KIND: "-D"} for row in rows]


def nullable(options: Mapping[str, str], *, removes: bool = True, **table: Any) -> Make:  # noqa: ANN401
    """Tables with null in primary keys."""

    def make(java: JavaPaimon, folder: Path) -> None:
        more = {"primary_keys": ["a", "b"], "options": {**NULLABLE, **options}, **table}
        java.create_table(folder, NULLABLE_FIELDS, **more)
        java.write(folder, keys(0, 30, "x"))
        java.write(folder, keys(10, 40, "y"))
        java.create_tag(folder, "two")
        if removes:
            java.write(folder, gone(keys(0, 6, "x")))
        java.compact(folder)
        java.write(folder, keys(5, 20, "z"))
        java.compact(folder, full=False)

    return make


# -------------------------------------------------------------------- GEOMETRY and GEOGRAPHY


def point(x: float, y: float) -> bytes:
    """A point in well-known binary."""
    return struct.pack("<BIdd", 1, 1, x, y)


SPATIAL = [
    ("id", "INT NOT NULL"),
    ("g", "GEOMETRY"),
    ("h", "GEOMETRY('EPSG:3857')"),
    ("e", "GEOGRAPHY"),
    ("f", "GEOGRAPHY(EPSG:4326, karney)"),
]


def places(start: int, end: int) -> Rows:
    """Rows with points, some null."""
    return [
        {
            "id": i,
            "g": None if i % 4 == 3 else point(i, -i),
            "h": point(i * 1000.0, 0.5),
            "e": None if i % 3 == 0 else point(i / 10, i / 7),
            "f": point(0, i),
        }
        for i in range(start, end)
    ]


def spatial(options: Mapping[str, str], primary_keys: Sequence[str] = ()) -> Make:
    """Tables with geometries."""

    def make(java: JavaPaimon, folder: Path) -> None:
        java.create_table(folder, SPATIAL, primary_keys=primary_keys, options=options)
        java.write(folder, places(0, 10))
        java.write(folder, places(6, 20))
        java.alter(folder, {"change": "add_column", "column": "late", "type": "GEOMETRY(c)"})
        if primary_keys:
            java.compact(folder)
            java.write(folder, gone([{**row, "late": None} for row in places(2, 4)]))
        else:
            java.append_compact(folder, options=FEW_FILES)
        java.write(folder, [{**row, "late": point(1, 2)} for row in places(18, 24)])

    return make


def geometry_nested(java: JavaPaimon, folder: Path) -> None:
    """Geometries in arrays, maps and rows"""
    row = {"type": "ROW", "fields": [{"id": 5, "name": "g", "type": "GEOMETRY"}]}
    java.create_table(
        folder,
        [
            ("id", "INT"),
            ("a", {"type": "ARRAY", "element": "GEOMETRY"}),
            ("m", {"type": "MAP", "key": "STRING NOT NULL", "value": "GEOGRAPHY"}),
            ("r", row),
        ],
        options={"bucket": "-1"},
    )
    for start in (0, 4):
        rows = [
            {
                "id": i,
                "a": None if i == 1 else [point(i, 0), None][: i % 3],
                "m": [("k", point(0, i)), ("n", None)][: i % 3],
                "r": None if i == 2 else {"g": point(i, i)},
            }
            for i in range(start, start + 4)
        ]
        java.write(folder, rows)
    java.append_compact(folder, options=FEW_FILES)


# -------------------------------------------------------------------- data evolution


STOCK = [("id", "INT"), ("name", "STRING"), ("qty", "BIGINT"), ("tags", "STRING")]


def stock(start: int, end: int) -> Rows:
    """Rows of a table with data evolution."""
    return [
        {"id": i, "name": f"n{i}", "qty": i * 10, "tags": None if i % 3 else f"t{i}"}
        for i in range(start, end)
    ]


def ints(name: str, values: Sequence[int | None]) -> pa.Table:
    """New values of a column of whole numbers."""
    return pa.table({name: pa.array(values, pa.int64())})


def texts(name: str, values: Sequence[str | None]) -> pa.Table:
    """New values of a column of text."""
    return pa.table({name: pa.array(values, pa.string())})


def evolved(options: Mapping[str, str], **table: Any) -> Make:  # noqa: ANN401
    """Columns of known rows written again, then compacted: sequence numbers for each column."""

    def make(java: JavaPaimon, folder: Path) -> None:
        java.create_table(folder, STOCK, options={**EVOLUTION, **options}, **table)
        java.write(folder, stock(0, 10))
        java.write(folder, stock(10, 16))
        java.write_columns(folder, ints("qty", [-i for i in range(10)]), 0)
        java.write_columns(folder, texts("tags", ["again"] * 6), 10)
        java.append_compact(folder, options=FEW_FILES)
        java.write_columns(folder, texts("name", [None, "x"] * 8), 0)
        java.alter(folder, {"change": "add_column", "column": "more", "type": "BIGINT"})
        java.write_columns(folder, ints("more", list(range(16))), 0)
        java.append_compact(folder, options=FEW_FILES)
        java.write(folder, [{**row, "more": 7} for row in stock(16, 20)])

    return make


def evolution_deletes(java: JavaPaimon, folder: Path) -> None:
    """Data evolution with deletion vectors, compacted, then applied with new row ids"""
    java.create_table(folder, STOCK, options={**EVOLUTION, **DELETES})
    java.write(folder, stock(0, 10))
    java.write(folder, stock(10, 20))
    java.delete_row_ids(folder, [1, 5, 12])
    java.write_columns(folder, ints("qty", [i + 1000 for i in range(10)]), 0)
    java.append_compact(folder, options=FEW_FILES)
    java.create_tag(folder, "kept")
    java.delete_row_ids(folder, [0, 19])
    java.materialize_deletions(folder)
    java.write(folder, stock(20, 23))


# -------------------------------------------------------------------- indexes of row ids

ARRAYS: Fields = [
    ("id", "INT"),
    ("words", {"type": "ARRAY", "element": "STRING"}),
    ("numbers", {"type": "ARRAY", "element": "BIGINT"}),
    ("days", {"type": "ARRAY", "element": "DATE"}),
    ("name", "STRING"),
]


def arrays(start: int, end: int) -> Rows:
    """Rows with arrays: null, empty, with null, with repeated elements."""
    day = dt.date(2026, 1, 1)
    return [
        {
            "id": i,
            "words": None if i % 6 == 0 else ["a", f"w{i % 4}", "a", None][: i % 5],
            "numbers": [i, i * 2, i][: i % 4],
            "days": None if i % 4 == 0 else [day + dt.timedelta(i), None],
            "name": None if i % 5 == 0 else f"n{i % 6}",
        }
        for i in range(start, end)
    ]


def multivalue(options: Mapping[str, str]) -> Make:
    """Multivalue indexes of arrays, over a part of the rows."""

    def make(java: JavaPaimon, folder: Path) -> None:
        java.create_table(folder, ARRAYS, options={**EVOLUTION, **options})
        java.write(folder, arrays(0, 20))
        java.write(folder, arrays(20, 40))
        for column in ("words", "numbers", "days"):
            java.create_global_index(folder, column, "multivalue")
        java.write(folder, arrays(40, 50))

    return make


def indexed(kind: str, options: Mapping[str, str]) -> Make:
    """Sorted indexes with the snapshot that they were built from."""

    def make(java: JavaPaimon, folder: Path) -> None:
        java.create_table(folder, STOCK, options={**EVOLUTION, **options})
        java.write(folder, stock(0, 20))
        java.create_global_index(folder, "qty", kind)
        java.create_global_index(folder, "name", kind)
        java.write(folder, stock(20, 30))
        java.create_tag(folder, "partly")
        java.create_global_index(folder, "qty", kind)
        java.write(folder, stock(30, 35))

    return make


def refreshed(kind: str) -> Make:
    """An indexed column updated with the action IGNORE, and the index built again for its rows."""

    def make(java: JavaPaimon, folder: Path) -> None:
        options = {**EVOLUTION, "global-index.column-update-action": "IGNORE"}
        java.create_table(folder, STOCK, options=options)
        java.write(folder, stock(0, 10))
        java.write(folder, stock(10, 20))
        java.create_global_index(folder, "qty", kind)
        java.write_columns(folder, ints("qty", [-1] * 10), 10)
        java.create_tag(folder, "stale")
        java.create_global_index(folder, "qty", kind)
        java.write(folder, stock(20, 24))

    return make


def index_deletes(java: JavaPaimon, folder: Path) -> None:
    """A btree index of a table with deletion vectors"""
    java.create_table(folder, STOCK, options={**EVOLUTION, **DELETES})
    java.write(folder, stock(0, 20))
    java.delete_row_ids(folder, [3])
    java.create_global_index(folder, "qty", "btree")
    java.delete_row_ids(folder, [4, 5])
    java.write(folder, stock(20, 24))


def index_partitioned(java: JavaPaimon, folder: Path) -> None:
    """Bitmap and multivalue indexes of a partitioned table, one partition overwritten"""
    fields: Fields = [("dt", "STRING"), *ARRAYS]
    java.create_table(folder, fields, partition_keys=["dt"], options=EVOLUTION)
    for day in ("a", "b"):
        java.write(folder, [{**row, "dt": day} for row in arrays(0, 12)])
    java.create_global_index(folder, "id", "bitmap")
    java.create_global_index(folder, "words", "multivalue")
    java.write(folder, [{**row, "dt": "a"} for row in arrays(3, 9)], overwrite={"dt": "a"})


# -------------------------------------------------------------------- indexes of primary keys


def keyed_index(options: Mapping[str, str]) -> Make:
    """Indexes of the buckets of a primary-key table."""

    def make(java: JavaPaimon, folder: Path) -> None:
        fields: Fields = [("id", "INT NOT NULL"), *ARRAYS[1:]]
        every = {"bucket": "2", **DELETES, **options}
        java.create_table(folder, fields, primary_keys=["id"], options=every)
        java.write(folder, arrays(0, 30))
        java.compact(folder)
        java.write(folder, arrays(20, 50))
        java.write(folder, gone(arrays(5, 9)))
        java.compact(folder)
        java.write(folder, [{**row, "name": "new"} for row in arrays(10, 15)])

    return make


# -------------------------------------------------------------------- BLOB

PICTURES = [("id", "INT NOT NULL"), ("name", "STRING"), ("b", "BLOB")]


def pictures(start: int, end: int, text: str) -> Rows:
    """Rows with values in blob files: null, empty, short."""
    return [
        {
            "id": i,
            "name": None if i % 3 == 0 else f"{text}{i}",
            "b": None if i % 4 == 0 else b"" if i % 5 == 0 else f"{text}-{i}".encode(),
        }
        for i in range(start, end)
    ]


def keyed_blobs(options: Mapping[str, str], *, removes: bool = True) -> Make:
    """BLOB columns of primary-key tables."""

    def make(java: JavaPaimon, folder: Path) -> None:
        every = {"bucket": "1", **options}
        java.create_table(folder, PICTURES, primary_keys=["id"], options=every)
        java.write(folder, pictures(0, 12, "x"))
        java.write(folder, pictures(6, 20, "y"))
        java.create_tag(folder, "two")
        java.compact(folder)
        if removes:
            java.write(folder, gone(pictures(0, 3, "x")))
        java.write(folder, pictures(10, 14, "z"))

    return make


BLOB_KEYS: Mapping[str, Sequence[object]] = {
    "STRING": ["", "k", "é"],
    "BOOLEAN": [True, False],
    "TINYINT": [1, -128],
    "SMALLINT": [1, -(2**15)],
    "INT": [0, 1, -(2**31)],
    "BIGINT": [1, -(2**63)],
    "DECIMAL(10, 2)": [Decimal("-1.25"), Decimal("7.00")],
    "DECIMAL(30, 3)": [Decimal("-1.250"), Decimal("12345678901234567890.123")],
    "DATE": [dt.date(1900, 1, 1), dt.date(2026, 5, 5)],
    "TIME(3)": [dt.time(1, 2, 3)],
    "BYTES": [b"", b"\x00\xff"],
    "CHAR(3)": ["abc", "def"],
}


def blob_maps(java: JavaPaimon, folder: Path) -> None:
    """MAP of BLOB with keys of every type, and ARRAY of BLOB"""
    fields: list[tuple[str, Any]] = [("id", "INT"), ("a", {"type": "ARRAY", "element": "BLOB"})]
    for number, key in enumerate(BLOB_KEYS):
        fields.append((f"m{number}", {"type": "MAP", "key": f"{key} NOT NULL", "value": "BLOB"}))
    java.create_table(folder, fields, options=EVOLUTION)

    def row(i: int) -> Mapping[str, object]:
        maps = {
            f"m{number}": None
            if (i + number) % 5 == 0
            else [(key, [b"v%d" % i, None, b""][(i + at) % 3]) for at, key in enumerate(some)]
            for number, some in enumerate(BLOB_KEYS.values())
        }
        return {"id": i, "a": None if i == 1 else [b"x", None, b"", b"y"][: i % 5], **maps}

    java.write(folder, [row(i) for i in range(4)])
    java.write(folder, [row(i) for i in range(4, 7)])
    java.append_compact(folder, options={**FEW_FILES, "blob-compaction.enabled": "true"})


def blob_evolution(java: JavaPaimon, folder: Path) -> None:
    """BLOB values written again for known rows, deleted rows, blob files compacted"""
    java.create_table(folder, [("id", "INT"), *PICTURES[1:]], options={**EVOLUTION, **DELETES})
    java.write(folder, pictures(0, 8, "x"))
    java.write(folder, pictures(8, 12, "y"))
    new = pa.table({"b": pa.array([b"new", None, b""] + [b"n"] * 5, pa.large_binary())})
    java.write_columns(folder, new, 0)
    java.delete_row_ids(folder, [2, 9])
    java.append_compact(folder, options={**FEW_FILES, "blob-compaction.enabled": "true"})
    java.write(folder, pictures(12, 15, "z"))


# -------------------------------------------------------------------- VECTOR

VECTORS: Fields = [
    ("id", "INT NOT NULL"),
    ("name", "STRING"),
    ("v", {"type": "VECTOR", "element": "FLOAT", "length": 3}),
]


def vectors(start: int, end: int) -> Rows:
    """Rows with vectors."""
    return [
        {"id": i, "name": f"n{i}", "v": None if i % 4 == 0 else [i, i / 2, -1.0]}
        for i in range(start, end)
    ]


def vector_tables(options: Mapping[str, str], primary_keys: Sequence[str] = ()) -> Make:
    """Arrays of fixed size."""

    def make(java: JavaPaimon, folder: Path) -> None:
        java.create_table(folder, VECTORS, primary_keys=primary_keys, options=options)
        java.write(folder, vectors(0, 12))
        java.write(folder, vectors(8, 20))
        if primary_keys:
            java.compact(folder)
        else:
            java.append_compact(folder, options=FEW_FILES)
        java.write(folder, vectors(19, 23))

    return make


# -------------------------------------------------------------------- maps, variants


def map_layouts(java: JavaPaimon, folder: Path) -> None:
    """A MAP whose storage layout is switched twice"""
    kind = {"type": "MAP", "key": "STRING NOT NULL", "value": "BIGINT"}
    key = "fields.m.map.storage-layout"
    java.create_table(folder, [("id", "INT"), ("m", kind)], options={"bucket": "-1"})

    def rows(start: int) -> Rows:
        return [
            {"id": i, "m": None if i % 4 == 0 else [("a", i), ("b", None), (f"c{i}", 1)][: i % 4]}
            for i in range(start, start + 6)
        ]

    java.write(folder, rows(0))
    java.alter(folder, set_option(key, "shared-shredding"))
    java.write(folder, rows(6))
    java.append_compact(folder, options=FEW_FILES)
    java.alter(folder, set_option(key, "default"))
    java.write(folder, rows(12))


# -------------------------------------------------------------------- postponed buckets


def postponed(options: Mapping[str, str]) -> Make:
    """Tables with postponed buckets, written to buckets by batch jobs."""

    def make(java: JavaPaimon, folder: Path) -> None:
        fields = [("dt", "STRING NOT NULL"), ("k", "INT NOT NULL"), ("v", "STRING")]
        java.create_table(
            folder,
            fields,
            partition_keys=["dt"],
            primary_keys=["dt", "k"],
            options={"bucket": "-2", **options},
        )

        def rows(start: int, end: int, day: str) -> Rows:
            return [{"dt": day, "k": k, "v": f"v{start}"} for k in range(start, end)]

        java.write_postponed(folder, [*rows(0, 20, "a"), *rows(0, 10, "b")])
        java.write_postponed(folder, rows(10, 30, "a"))
        java.write(folder, rows(25, 40, "a"))
        java.write(folder, rows(5, 8, "c"))

    return make


# -------------------------------------------------------------------- chain tables


def chain(pattern: str, formatter: str, times: Sequence[str], options: Mapping[str, str]) -> Make:
    """A chain table: full snapshots in one branch, changes in another."""

    def make(java: JavaPaimon, folder: Path) -> None:
        every = {
            "bucket": "2",
            "merge-engine": "deduplicate",
            "sequence.field": "n",
            "partition.timestamp-pattern": pattern,
            "partition.timestamp-formatter": formatter,
            "chain-table.enabled": "true",
            **options,
        }
        columns = [column.removeprefix("$") for column in pattern.split()]
        fields = [(c, "STRING NOT NULL") for c in columns]
        java.create_table(
            folder,
            [*fields, ("k", "INT NOT NULL"), ("v", "STRING"), ("n", "BIGINT")],
            partition_keys=columns,
            primary_keys=[*columns, "k"],
            options=every,
        )
        for branch in ("snapshot", "delta"):
            java.create_branch(folder, branch)
        both = [
            set_option("scan.fallback-snapshot-branch", "snapshot"),
            set_option("scan.fallback-delta-branch", "delta"),
        ]
        java.alter(folder, *both)
        for branch in ("snapshot", "delta"):
            java.alter(Path(f"{folder}$branch_{branch}"), *both)

        def rows(time: str, start: int, end: int, n: int) -> Rows:
            values = dict(zip(columns, time.split(" ", len(columns) - 1), strict=True))
            return [{**values, "k": k, "v": f"{time}/{k}", "n": n} for k in range(start, end)]

        java.write(folder, rows(times[0], 0, 8, 1), branch="snapshot")
        for turn, time in enumerate(times[1:], 2):
            java.write(folder, rows(time, turn, turn + 4, turn), branch="delta")
        java.write(folder, rows(times[2], 0, 9, 9), branch="snapshot")

    return make


# -------------------------------------------------------------------- Iceberg


def iceberg(options: Mapping[str, str], *, keyed: bool) -> Make:
    """Tables with Iceberg metadata."""

    def make(java: JavaPaimon, folder: Path) -> None:
        every = {"metadata.iceberg.storage": "table-location", **options}
        every.setdefault("bucket", "1" if keyed else "-1")
        fields = [("k", "INT NOT NULL"), ("v", "STRING"), ("n", "BIGINT")]
        java.create_table(folder, fields, primary_keys=["k"] if keyed else [], options=every)
        rows = [{"k": i, "v": f"v{i}", "n": i} for i in range(20)]
        java.write(folder, rows)
        java.write(folder, rows[5:12])
        if keyed:
            java.compact(folder)
        else:
            java.append_compact(folder, options=FEW_FILES)
        java.write(folder, [{**row, "v": "new"} for row in rows[:3]])
        if keyed:
            java.compact(folder)

    return make


# -------------------------------------------------------------------- histories

PEOPLE = [("id", "INT NOT NULL"), ("name", "STRING")]


def people(start: int, end: int, text: str) -> Rows:
    """Rows of a plain table."""
    return [{"id": i, "name": f"{text}{i}"} for i in range(start, end)]


def history_branches(java: JavaPaimon, folder: Path) -> None:
    """Branches, one from a tag with its own schema, one fast-forwarded"""
    java.create_table(folder, PEOPLE, primary_keys=["id"], options={"bucket": "1"})
    for turn in range(4):
        java.write(folder, people(turn, turn + 5, f"v{turn}-"))
    java.create_tag(folder, "old", snapshot=2)
    java.create_branch(folder, "dev", tag="old")
    java.create_branch(folder, "empty")
    java.write(folder, people(50, 53, "dev"), branch="dev")
    java.write(folder, people(1, 3, "dev"), branch="dev")


def history_rolled_back(java: JavaPaimon, folder: Path) -> None:
    """Rolled back, then written again; snapshots expired"""
    java.create_table(folder, PEOPLE, primary_keys=["id"], options={"bucket": "1"})
    for turn in range(5):
        java.write(folder, people(turn, turn + 5, f"v{turn}-"))
    java.rollback(folder, snapshot=3)
    java.create_tag(folder, "three")
    java.write(folder, people(60, 64, "after"))
    java.write(folder, people(61, 66, "last"))
    java.expire(folder, {"snapshot.num-retained.min": "1", "snapshot.num-retained.max": "2"})


def history_changelogs(java: JavaPaimon, folder: Path) -> None:
    """Changelogs that outlive their snapshots, and a consumer"""
    options = {
        "bucket": "1",
        "changelog-producer": "input",
        "changelog.num-retained.min": "10",
        "changelog.num-retained.max": "20",
        "snapshot.num-retained.min": "1",
        "snapshot.num-retained.max": "2",
    }
    java.create_table(folder, PEOPLE, primary_keys=["id"], options=options)
    for turn in range(6):
        java.write(folder, people(turn, turn + 5, f"v{turn}-"), commit_identifier=turn, stream=True)
    java.reset_consumer(folder, "reader", 5)
    java.expire(folder, {})


def history_schema(java: JavaPaimon, folder: Path) -> None:
    """Columns added, renamed, dropped, moved, widened, also nested, between writes"""
    nested = {"type": "ROW", "fields": [{"id": 3, "name": "x", "type": "INT"}]}
    fields: Fields = [*PEOPLE, ("n", "INT"), ("at", nested)]
    java.create_table(folder, fields, primary_keys=["id"], options={"bucket": "1"})

    def rows(start: int, **values: object) -> Rows:
        return [{"id": i, **values} for i in range(start, start + 4)]

    java.write(folder, rows(0, name="a", n=1, at={"x": 1}))
    java.alter(
        folder,
        {"change": "add_column", "column": "more", "type": "DOUBLE"},
        {"change": "update_type", "column": "n", "type": "BIGINT"},
    )
    java.write(folder, rows(2, name="b", n=2**40, at={"x": 2}, more=0.5))
    java.alter(folder, {"change": "rename_column", "column": "name", "name": "title"})
    java.alter(folder, {"change": "add_column", "column": ["at", "y"], "type": "STRING"})
    java.alter(folder, {"change": "move_column", "column": "more", "position": "first"})
    java.write(folder, rows(4, title="c", at={"x": 3, "y": "y"}))
    java.alter(folder, {"change": "drop_column", "column": "n"})
    java.alter(folder, {"change": "update_default", "column": "title", "default": "none"})
    java.write(folder, rows(6, title="d"))
    java.compact(folder)
    java.write(folder, rows(1, title="e"))


def history_overwritten(java: JavaPaimon, folder: Path) -> None:
    """Overwrites of partitions and of the table, dropped partitions, truncated"""
    java.create_table(
        folder,
        [("dt", "STRING"), ("id", "INT")],
        partition_keys=["dt"],
        options={"bucket": "-1"},
    )

    def rows(start: int, end: int) -> Rows:
        return [{"dt": ["a", "b=/ %", None][i % 3], "id": i} for i in range(start, end)]

    java.write(folder, rows(0, 12))
    java.write(folder, rows(12, 14), overwrite="dynamic")
    java.drop_partitions(folder, {"dt": "a"})
    java.write(folder, rows(20, 26))
    java.write(folder, [{"dt": "a", "id": 99}], overwrite={"dt": "a"})
    java.write(folder, rows(30, 36), overwrite="table")
    java.truncate(folder)
    java.write(folder, rows(40, 44))


def history_analyzed(java: JavaPaimon, folder: Path) -> None:
    """A statistics file"""
    java.create_table(folder, [("id", "INT"), ("name", "STRING")], options={"bucket": "-1"})
    java.write(folder, people(0, 9, "a"))
    column = {"colId": 0, "distinctCount": 9, "min": "0", "max": "8", "nullCount": 0}
    column |= {"avgLen": 4, "maxLen": 4}
    statistics: dict[str, object] = {"snapshotId": 1, "schemaId": 0, "mergedRecordCount": 9}
    statistics |= {"mergedRecordSize": 900, "colStats": {"id": column}}
    java.update_statistics(folder, statistics)
    java.write(folder, people(9, 12, "b"))


def manifests_merged(options: Mapping[str, str]) -> Make:
    """Many commits whose manifests are merged."""

    def make(java: JavaPaimon, folder: Path) -> None:
        every = {"bucket": "-1", "manifest.merge-min-count": "4", **options}
        java.create_table(
            folder, [("p", "INT"), ("id", "INT")], partition_keys=["p"], options=every
        )
        for turn in range(9):
            java.write(folder, [{"p": i % 3, "id": turn * 10 + i} for i in range(6)])
            if turn == 5:
                java.drop_partitions(folder, {"p": "1"})
            if turn == 7:
                java.append_compact(folder, options=FEW_FILES)

    return make


PARTIAL = {"merge-engine": "partial-update"}
FEATURES: Mapping[str, tuple[str, Make]] = {
    "nullable_key": ("null in primary keys", nullable({})),
    "nullable_key_orc": ("null in primary keys, ORC", nullable({"file.format": "orc"})),
    "nullable_key_avro": ("null in primary keys, Avro", nullable({"file.format": "avro"})),
    "nullable_key_dynamic": (
        "null in primary keys, dynamic buckets",
        nullable({"bucket": "-1", "dynamic-bucket.target-row-num": "10"}),
    ),
    "nullable_key_partial": (
        "null in primary keys, partial-update",
        nullable(PARTIAL, removes=False),
    ),
    "nullable_key_aggregation": (
        "null in primary keys, aggregation",
        nullable(
            {"merge-engine": "aggregation", "fields.n.aggregate-function": "sum"}, removes=False
        ),
    ),
    "nullable_key_first_row": (
        "null in primary keys, first-row",
        nullable({"merge-engine": "first-row"}, removes=False),
    ),
    "nullable_key_vectors": ("null in primary keys, deletion vectors", nullable(DELETES)),
    "nullable_key_lookup": (
        "null in primary keys, changelog by lookup",
        nullable({"changelog-producer": "lookup"}),
    ),
    "nullable_key_input": (
        "null in primary keys, changelog of the input",
        nullable({"changelog-producer": "input"}),
    ),
    "nullable_key_partition": (
        "null in a partition column of the key",
        nullable({}, partition_keys=["b"]),
    ),
    "nullable_key_sequence": (
        "null in primary keys, a sequence field, thin files",
        nullable({"sequence.field": "n", "data-file.thin-mode": "true"}),
    ),
    "nullable_bucket_key": ("null in the bucket key", nullable({"bucket": "3", "bucket-key": "a"})),
    "geometry_append": ("geometries, append", spatial({"bucket": "-1"})),
    "geometry_key": ("geometries, primary key", spatial({"bucket": "1"}, ["id"])),
    "geometry_partial": (
        "geometries, partial-update",
        spatial({"bucket": "1", **PARTIAL, "ignore-delete": "true"}, ["id"]),
    ),
    "geometry_vectors": (
        "geometries, deletion vectors",
        spatial({"bucket": "1", **DELETES}, ["id"]),
    ),
    "geometry_evolution": ("geometries, data evolution", spatial(EVOLUTION)),
    "geometry_iceberg": (
        "geometries, Iceberg metadata",
        spatial(
            {
                "bucket": "-1",
                "metadata.iceberg.storage": "table-location",
                "metadata.iceberg.format-version": "3",
            }
        ),
    ),
    "geometry_nested": (str(geometry_nested.__doc__), geometry_nested),
    "column_sequences": ("sequence numbers of columns", evolved({})),
    "column_sequences_orc": ("sequence numbers of columns, ORC", evolved({"file.format": "orc"})),
    "column_sequences_stats": (
        "sequence numbers of columns, dense statistics off",
        evolved({"metadata.stats-dense-store": "false"}),
    ),
    "evolution_deletes": (str(evolution_deletes.__doc__), evolution_deletes),
    "multivalue_index": ("multivalue indexes", multivalue({})),
    "multivalue_index_zstd": (
        "multivalue indexes, small compressed blocks",
        multivalue(
            {
                "multivalue-index.compression": "zstd",
                "multivalue-index.dictionary-block-size": "64 b",
            }
        ),
    ),
    "btree_index": ("btree indexes", indexed("btree", {})),
    "bitmap_index": ("bitmap indexes", indexed("bitmap", {})),
    "btree_index_ranges": (
        "btree indexes of few records each",
        indexed("btree", {"sorted-index.records-per-range": "5"}),
    ),
    "btree_index_refreshed": ("btree index, refreshed", refreshed("btree")),
    "bitmap_index_refreshed": ("bitmap index, refreshed", refreshed("bitmap")),
    "index_deletes": (str(index_deletes.__doc__), index_deletes),
    "index_partitioned": (str(index_partitioned.__doc__), index_partitioned),
    "key_index_btree": (
        "btree index of a primary-key table",
        keyed_index({"pk-btree.index.columns": "name"}),
    ),
    "key_index_bitmap": (
        "bitmap index of a primary-key table",
        keyed_index({"pk-bitmap.index.columns": "name"}),
    ),
    "key_index_multivalue": (
        "multivalue index of a primary-key table",
        keyed_index({"pk-multivalue.index.columns": "words,numbers"}),
    ),
    "blob_key": ("BLOB of a primary-key table", keyed_blobs({})),
    "blob_key_partial": ("BLOB, partial-update", keyed_blobs({**PARTIAL}, removes=False)),
    "blob_key_partial_group": (
        "BLOB in a sequence group, partial-update",
        keyed_blobs({**PARTIAL, "fields.name.sequence-group": "b"}, removes=False),
    ),
    "blob_key_first_row": (
        "BLOB, first-row",
        keyed_blobs({"merge-engine": "first-row"}, removes=False),
    ),
    "blob_key_vectors": ("BLOB, deletion vectors", keyed_blobs(DELETES)),
    "blob_maps": (str(blob_maps.__doc__), blob_maps),
    "blob_evolution": (str(blob_evolution.__doc__), blob_evolution),
    "vector_append": ("vectors, append", vector_tables({"bucket": "-1"})),
    "vector_key": ("vectors, primary key", vector_tables({"bucket": "1"}, ["id"])),
    "vector_evolution": ("vectors, data evolution", vector_tables(EVOLUTION)),
    "vector_files": (
        "vectors in files of their own",
        vector_tables({**EVOLUTION, "vector.file.format": "parquet", "vector-field": "v"}),
    ),
    "map_layouts": (str(map_layouts.__doc__), map_layouts),
    "postponed_default": (
        "postponed buckets, 4 by default",
        postponed({"postpone.default-bucket-num": "4"}),
    ),
    "postponed_by_rows": (
        "postponed buckets, estimated by rows",
        postponed({"postpone.target-row-num-per-bucket": "5"}),
    ),
    "chain_days": (
        "chain table, days",
        chain("$dt", "yyyyMMdd", ["20260101", "20260102", "20260103", "20260104"], {}),
    ),
    "chain_minutes": (
        "chain table, minutes",
        chain(
            "$dt",
            "yyyy-MM-dd HH:mm",
            ["2026-01-01 00:00", "2026-01-01 00:15", "2026-01-01 00:30", "2026-01-01 01:00"],
            {},
        ),
    ),
    "chain_hours": (
        "chain table, days and hours",
        chain(
            "$dt $hour",
            "yyyyMMdd HH",
            ["20260101 22", "20260101 23", "20260102 00", "20260102 03"],
            {},
        ),
    ),
    "chain_vectors": (
        "chain table, days, deletion vectors",
        chain("$dt", "yyyyMMdd", ["20260101", "20260102", "20260103", "20260104"], DELETES),
    ),
    "iceberg_rows": (
        "Iceberg version 3, row tracking",
        iceberg(
            {"metadata.iceberg.format-version": "3", "row-tracking.enabled": "true"}, keyed=False
        ),
    ),
    "iceberg_append": ("Iceberg version 2", iceberg({}, keyed=False)),
    "iceberg_key": ("Iceberg version 2, primary key", iceberg({}, keyed=True)),
    "iceberg_vectors": (
        "Iceberg version 3, deletion vectors",
        iceberg(
            {
                "metadata.iceberg.format-version": "3",
                "deletion-vectors.bitmap64": "true",
                **DELETES,
            },
            keyed=True,
        ),
    ),
    "history_branches": (str(history_branches.__doc__), history_branches),
    "history_rolled_back": (str(history_rolled_back.__doc__), history_rolled_back),
    "history_changelogs": (str(history_changelogs.__doc__), history_changelogs),
    "history_schema": (str(history_schema.__doc__), history_schema),
    "history_overwritten": (str(history_overwritten.__doc__), history_overwritten),
    "history_analyzed": (str(history_analyzed.__doc__), history_analyzed),
    "manifests_merged": ("merged manifests", manifests_merged({})),
    "manifests_sorted": (
        "sorted manifests",
        manifests_merged({"manifest-sort.enabled": "true"}),
    ),
    "manifests_legacy": (
        "merged manifests, all entries at once",
        manifests_merged({"manifest.merge-optimize.enabled": "false"}),
    ),
}
"""Name of a table, what it shows, and how it is made."""
