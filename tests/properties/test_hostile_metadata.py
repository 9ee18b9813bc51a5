"""Metadata at its extremes: every field of every metadata file, every file name, every nesting.

The other hostile tests change files at random; these walk the family in order, so that no field and
no extreme is left out. Whatever is asked of such a table, the answer is a value or a named error.
"""

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from functools import reduce
from pathlib import Path
from types import MappingProxyType

import pyarrow as pa
import pytest

import paimon_explore as pe
from paimon_explore.errors import FormatError, PaimonError, UnsupportedFeatureError
from paimon_explore.inspection.explorer.explorer_state import ExplorerState
from paimon_explore.metadata.consumer import parse_consumer
from paimon_explore.metadata.manifest.index_manifest import IndexEntries
from paimon_explore.metadata.manifest.manifest_codec import (
    decode_entries,
    decode_index_entries,
    encode_records,
)
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.manifest.manifest_list import ManifestFiles
from paimon_explore.metadata.schema.table_schema import parse_schema
from paimon_explore.metadata.snapshot import parse_snapshot
from paimon_explore.metadata.statistics_file import parse_statistics
from paimon_explore.metadata.tag import parse_tag
from paimon_explore.spark.data_source import source_options
from paimon_explore.store.manifests import shared_cache
from paimon_explore.table.table import Table
from support.decoding import decode_manifest_list
from support.depth import DEEP, some
from support.golden import GoldenTables
from support.hostile import age, places_in
from support.small_tables import new_catalog

INTEGERS = (-1, 2**31 - 1, 2**31, -(2**31), 2**62, 2**63 - 1, -(2**63), 2**63, 10**40)
TEXTS = ("", "a\0b", "9" * 5000, "y" * 100_000, "../x", "\ud800", "\u202e\x1b[31m", "-5", "true")


def _nested(wrap: Callable[[object], object], inner: object, depth: int = 900) -> object:
    for _ in range(depth):
        inner = wrap(inner)
    return inner


DEEP_LIST = _nested(lambda inner: [inner], [])
DEEP_TYPE = _nested(lambda inner: {"type": "ARRAY", "element": inner}, "INT")
SHAPES: tuple[object, ...] = (
    None,
    True,
    1.5,
    float("inf"),
    [],
    {},
    [[]],
    {"": {}},
    DEEP_LIST,
    DEEP_TYPE,
)
GONE = object()
VALUES = (*INTEGERS, *TEXTS, *SHAPES, GONE)
LONG_AGO = 1_600_000_000

PARSERS: Mapping[str, tuple[Callable[[bytes], object], str, str]] = MappingProxyType(
    {
        "snapshot": (lambda d: parse_snapshot(d, "f"), "tags", "snapshot/snapshot-*"),
        "schema": (lambda d: parse_schema(d, "f"), "se_nested", "schema/schema-*"),
        "tag": (lambda d: parse_tag(d, "tag-f"), "tags", "tag/tag-*"),
        "statistics": (lambda d: parse_statistics(d, "f"), "analyze", "statistics/stat-*"),
        "consumer": (lambda d: parse_consumer(d, "f"), "", '{"nextSnapshot": 3}'),
    }
)


@pytest.mark.parametrize("kind", PARSERS)
def test_every_member_of_a_json_file_at_every_extreme_is_a_value_or_a_format_error(
    kind: str, golden: GoldenTables
) -> None:
    parse, table, pattern = PARSERS[kind]
    source = pattern
    if table:
        found = golden.table("java200", table).folder.glob(pattern)
        source = max(found, key=lambda path: path.stat().st_size).read_text(encoding="utf-8")
    places = len(list(places_in(json.loads(source))))
    cases = [(place, value) for place in range(places) for value in VALUES]
    for place, value in some(cases, 5, len(kind)):
        try:
            parse(_changed_json(source, place, value))
        except (FormatError, UnsupportedFeatureError):
            continue
    assert len(cases) >= len(VALUES)


def _changed_json(source: str, place: int, value: object) -> bytes:
    document = json.loads(source)
    holder, key = list(places_in(document))[place]
    holder[key] = value
    if value is GONE:
        del holder[key]
    return json.dumps(document).encode("utf-8", "surrogatepass")


def _asks(table: Table) -> Mapping[str, Callable[[], object]]:
    """Everything that reads metadata, without what reads every data file."""
    inspect, maintenance = table.inspect, table.maintenance
    return {
        "repr": lambda: repr(table),
        "HTML": table._repr_html_,
        "rows": lambda: table.to_arrow().validate(full=True),
        "files": inspect.files,
        "manifests": inspect.manifests,
        "snapshots": inspect.snapshots,
        "schemas": inspect.schemas,
        "partitions": inspect.partitions,
        "tags": inspect.tags,
        "branches": inspect.branches,
        "consumers": inspect.consumers,
        "indexes": inspect.table_indexes,
        "list of files": lambda: repr(table.files()),
        "health": lambda: repr(table.health()),
        "LSM": lambda: repr(table.inspect.lsm()),
        "schema history": lambda: repr(table.inspect.schema_history()),
        "node": lambda: repr(table.inspect.node("delta/0/0")),
        "expiry": lambda: repr(table.what_if.expire_snapshots()),
        "compaction preview": lambda: repr(table.what_if.compact()),
        "options preview": lambda: repr(table.what_if.options({"bucket": 3, "num-levels": 4})),
        "comparison": lambda: repr(pe.compare(table, rows=0)),
        "check": maintenance.fsck,
        "dry expiry": lambda: maintenance.expire_snapshots(
            retain_max=1, retain_min=1, older_than="0 s", dry_run=True
        ),
        "orphans": lambda: maintenance.remove_orphan_files(older_than="0 s", dry_run=True),
        "changes": lambda: list(table.changes()),
        "explain": lambda: repr(table.explain()),
        "difference": lambda: repr(table.diff(1)),
        "heat": lambda: repr(table.inspect.heat()),
        "explorer": lambda: _explorer(table),
        "an old snapshot": lambda: table.at(snapshot=1).to_arrow(),
    }


def _explorer(table: Table) -> None:
    state = ExplorerState(table._inspector())
    state.open()
    while not (found := state.history().body)["done"]:
        pass
    frame = int(str(found["frame"]))
    state.rows(frame, [0])
    state.detail(f"file/{frame}/0")
    state.bytes(f"file/{frame}/0")


def look(folder: Path, what: str) -> int:
    """Ask a table everything; how often it refused with a named error."""
    shared_cache().clear()
    try:
        asks = _asks(pe.open_table(folder))
    except PaimonError:
        return 1
    refused = 0
    for name, ask in asks.items():
        try:
            ask()
        except PaimonError:
            refused += 1
        except Exception as error:
            error.add_note(f"{what}, asked for {name}")
            raise
    return refused


CODECS: Mapping[str, tuple[Callable[[bytes], pa.Table], Callable[[pa.Table], bytes]]] = (
    MappingProxyType(
        {
            "manifest-list-": (
                lambda d: decode_manifest_list(d, "f").table,
                lambda t: encode_records(ManifestFiles(t), "null"),
            ),
            "index-manifest-": (
                lambda d: decode_index_entries(d, "f").table,
                lambda t: encode_records(IndexEntries(t), "null"),
            ),
            "manifest-": (
                lambda d: decode_entries([("f", d)])[0].table,
                lambda t: encode_records(ManifestEntries(t), "null"),
            ),
        }
    )
)
BYTES = (b"", b"\xff" * 50, bytes(7), bytes(4) + b"\xff" * 12)
Change = tuple[str, Callable[[], pa.Table]]


def _cells(kind: pa.DataType, value: object) -> Iterator[tuple[str, object]]:
    """Every value at its extremes, members of records and elements of lists too."""
    if pa.types.is_integer(kind):
        yield from ((f" = {number}", number) for number in INTEGERS if abs(number) < 2**63)
    elif pa.types.is_string(kind):
        yield from ((f" = {text[:9]!r}", text) for text in TEXTS if text != "\ud800")
    elif pa.types.is_binary(kind):
        yield from ((f" = {data[:9]!r}", data) for data in BYTES)
    elif isinstance(kind, pa.ListType) and isinstance(value, list):
        yield " = []", []
        yield " = nulls", [None] * 3
        for name, inner in _cells(kind.value_type, value[0] if value else None):
            yield f"[0]{name}", [inner, *value[1:]]
    elif isinstance(kind, pa.StructType) and isinstance(value, dict):
        for field in kind:
            for name, inner in _cells(field.type, value[field.name]):
                yield f".{field.name}{name}", {**value, field.name: inner}


def _changed_tables(table: pa.Table) -> Iterator[tuple[str, pa.Table]]:
    rows = table.to_pylist()
    for field in table.schema:
        for name, value in _cells(field.type, rows[0][field.name]):
            changed = [{**rows[0], field.name: value}, *rows[1:]]
            try:
                yield f"{field.name}{name}", pa.Table.from_pylist(changed, table.schema)
            except (pa.ArrowException, OverflowError):
                continue  # wider than the field


@pytest.mark.parametrize("prefix", CODECS)
@pytest.mark.parametrize("name", ["append_part_types", "dv_pk", "row_tracking", "pk_dynamic"])
def test_every_field_of_a_manifest_at_every_extreme_is_read_or_refused(
    name: str, prefix: str, golden: GoldenTables, tmp_path: Path
) -> None:
    folder = tmp_path / name
    shutil.copytree(golden.table("java200", name).folder, folder)
    age(folder)
    decode, encode = CODECS[prefix]
    manifests = [p for p in (folder / "manifest").glob(f"{prefix}*") if "manifest-list" in prefix
                 or "manifest-list" not in p.name]  # fmt: skip
    path = max(manifests, key=lambda path: path.stat().st_size, default=None)
    if path is None:
        return
    before = path.read_bytes()
    changes = list(_changed_tables(decode(before)))
    turn = len(name) + len(prefix)
    for what, table in changes if DEEP else some(changes, len(changes), turn):
        try:
            data = encode(table)
        except (AssertionError, OverflowError, pa.ArrowException, TypeError, ValueError):
            continue  # what cannot be written
        path.write_bytes(data)
        os.utime(path, (LONG_AGO, LONG_AGO))
        look(folder, f"{prefix} {what}")
    path.write_bytes(before)
    assert len(changes) > 20


def test_a_file_of_a_schema_that_cannot_exist_is_refused_by_name(
    golden: GoldenTables, tmp_path: Path
) -> None:
    folder = tmp_path / "t"
    shutil.copytree(golden.table("java200", "append_part_types").folder, folder)
    age(folder)
    for path in (folder / "manifest").glob("manifest-*"):
        if "manifest-list" not in path.name:
            entries = decode_entries([("f", path.read_bytes())])[0].table
            rows = [{**row, "schema_id": 2**62} for row in entries.to_pylist()]
            table = pa.Table.from_pylist(rows, entries.schema)
            path.write_bytes(encode_records(ManifestEntries(table), "null"))
    assert look(folder, "schema 2^62") > 0


NAMES = [
    *(b"snapshot/snapshot-" + end for end in (b"9" * 40, b"9" * 19, b"00", b"\xff", b"-1", b"1.5")),
    *(b"schema/schema-" + end for end in (b"9" * 40, b"9" * 200, b"\xff", b"")),
    *(b"tag/tag-" + end for end in (b"\xff\xfe", b"", b"a\nb", b"\x1b[31m", b"y" * 200)),
    *(b"branch/branch-" + end for end in (b"\xff", b"", b"x\x1b", b"main")),
    *(b"consumer/consumer-" + end for end in (b"\xff", b"", b"\n")),
    *(b"changelog/changelog-" + end for end in (b"9" * 40, b"\xff")),
    *(b"snapshot/LATEST", b"snapshot/EARLIEST"),
    *(b"manifest/\xff", b"\xff", b"bucket-0/\xff", b"dt=\xff/bucket-0/x", b"statistics/\xff"),
    *(b"tag/tag-success-file/\xff", b"index/\xff", b"snapshot/\xff\xfe"),
]


@pytest.mark.parametrize("name", some(NAMES, 3), ids=repr)
def test_a_file_of_any_name_is_read_refused_or_left_alone(
    name: bytes, golden: GoldenTables, tmp_path: Path
) -> None:
    tables = ["tags", "branches", "changelog_decoupled"] if DEEP else ["tags"]
    for table in tables:
        folder = tmp_path / table
        shutil.copytree(golden.table("java200", table).folder, folder)
        _place(folder, name)
        age(folder)
        look(folder, f"{table} with {name!r}")


def _place(folder: Path, name: bytes) -> None:
    """A file of that name with a content that fits its folder; a branch without a schema."""
    path = folder / os.fsdecode(name)
    if name.startswith(b"branch/"):
        path.mkdir(parents=True, exist_ok=True)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    snapshot = next((folder / "snapshot").glob("snapshot-[1-9]*")).read_bytes()
    contents = {
        "schema": (folder / "schema" / "schema-0").read_bytes(),
        "consumer": b'{"nextSnapshot": 1}',
    }
    hint = b"LATEST" in name or b"EARLIEST" in name
    path.write_bytes(b"9" * 40 if hint else contents.get(path.parent.name, snapshot))


def _deep_arrow() -> pa.DataType:
    deep: pa.DataType = pa.int32()
    for _ in range(500):
        deep = pa.list_(deep)
    return deep


DEPTH = 7900
CONDITIONS: Mapping[str, Callable[[Table], object]] = MappingProxyType(
    {
        "parentheses": lambda t: t.scan(where="(" * DEPTH + "a = 1" + ")" * DEPTH),
        "NOTs": lambda t: t.scan(where="not " * DEPTH + "a = 1"),
        "signs": lambda t: t.scan(where="a = " + "+".join(["1"] * DEPTH)),
        "functions": lambda t: t.scan(where="abs(" * DEPTH + "a" + ")" * DEPTH + " = 1"),
        "cases": lambda t: t.scan(where="case when " * 2000 + "a=1" + " then true end" * 2000),
        "IS TRUEs": lambda t: t.scan(where="a = 1" + " is true" * DEPTH),
        "casts": lambda t: t.scan(where="a" + "::int" * DEPTH + " = 1"),
        "lists": lambda t: t.scan(where="a in " + "(" * DEPTH),
        "brackets": lambda t: t.scan(where="a = " + "[" * DEPTH),
        "terms": lambda t: t.scan(where=reduce(lambda one, _: ~one, range(900), pe.col("a") == 1)),
        "sums of terms": lambda t: t.scan(
            where=reduce(lambda one, _: one + 1, range(900), pe.col("a")) == 1
        ),
        "conditions on files": lambda t: t.files("(" * DEPTH + "level = 0" + ")" * DEPTH),
        "new values": lambda t: t.update({"a": "(" * DEPTH + "1" + ")" * DEPTH}),
        "ARRAYs": lambda t: t.add_column("x", "ARRAY<" * DEPTH + "INT" + ">" * DEPTH),
        "ROWs": lambda t: t.add_column("x", "ROW<a " * DEPTH + "INT" + ">" * DEPTH),
        "type parameters": lambda t: t.add_column("x", "DECIMAL" + "(" * DEPTH),
        "Arrow types": lambda _: pe.Catalog("memory://deep/wh").create_table(
            "db.u", {"a": _deep_arrow()}
        ),
        "values": lambda t: t.append([{"a": DEEP_LIST}]),
        "lists of columns": lambda _: source_options({"path": "/t", "columns": "[" * DEPTH}),
        "digits": lambda t: t.scan(where="a = " + "9" * 6000).to_arrow(),
        "digits of a snapshot": lambda t: t.at(snapshot=10**5000),
        "digits of a time": lambda t: t.at(timestamp="9" * 5000),
        "digits of a place": lambda t: t.inspect.timeline().resolve("9" * 6000),
    }
)


@pytest.fixture(scope="module")
def small() -> Table:
    table = new_catalog("memory://deep/wh").create_table("db.t", {"a": "INT"})
    table.append([{"a": 1}])
    return table


@pytest.mark.parametrize("name", CONDITIONS)
def test_what_nests_too_deep_is_refused_by_name(name: str, small: Table) -> None:
    with pytest.raises(PaimonError):
        CONDITIONS[name](small)


def test_many_conditions_side_by_side_are_no_deep_ones(small: Table) -> None:
    where = " or ".join(f"a = {number}" for number in range(300))
    assert small.scan(where=where).to_arrow().num_rows == 1
    nested = reduce(lambda one, _: ~one, range(100), pe.col("a") == 1)
    assert small.scan(where=nested).to_arrow().num_rows == 1
