"""Finds the file to inspect, and its table.

A file is given by its path, by its name, or by a node of the manifest tree.

Detects the layout of a file by its first and last bytes and its name.
"""

import re
from collections.abc import Callable
from dataclasses import field
from functools import cache, partial
from os import PathLike
from typing import NamedTuple

import pyarrow as pa

from paimon_explore.data_types.definitions import DataType
from paimon_explore.encoding.avro.container import is_avro
from paimon_explore.encoding.blob.blob_file import MAGIC as BLOB_MAGIC
from paimon_explore.encoding.row_format.row_file import FOOTER_BYTES
from paimon_explore.encoding.row_format.row_file import MAGIC as ROW_MAGIC
from paimon_explore.errors import (
    InvalidInputError,
    NotFoundError,
    PaimonError,
    UnsupportedFeatureError,
)
from paimon_explore.fileio import paths
from paimon_explore.fileio.file_io import FileIO
from paimon_explore.fileio.resolve import resolve
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.byte_inspector.avro_parts import NO_MEANING, avro_parts
from paimon_explore.inspection.byte_inspector.byte_layout import (
    NOT_AVRO,
    Agreement,
    ByteLayout,
    agreement,
)
from paimon_explore.inspection.byte_inspector.columnar_parts import (
    ORC,
    PARQUET,
    orc_parts,
    parquet_footer_size,
    parquet_parts,
)
from paimon_explore.inspection.byte_inspector.index_parts import (
    file_index_parts,
    hashes_parts,
    is_file_index,
    is_vectors,
    vectors_parts,
)
from paimon_explore.inspection.byte_inspector.json_parts import RULES, json_parts
from paimon_explore.inspection.byte_inspector.manifest_field_docs import SchemaOf, manifest_meaning
from paimon_explore.inspection.byte_inspector.spans import (
    MemoryReader,
    Reader,
    Space,
    Span,
    Spans,
    grown,
)
from paimon_explore.inspection.rendering.code_snippet import Code
from paimon_explore.inspection.rendering.number_format import bytes_text
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.table_paths import (
    CHANGELOG_PREFIX,
    CONSUMER_PREFIX,
    SCHEMA_PREFIX,
    SNAPSHOT_PREFIX,
    TAG_PREFIX,
    TablePaths,
)
from paimon_explore.sanitize import masked_json
from paimon_explore.store.table_store import TableStore

_BLOB_TAIL = 5
_LIST_NAMES = ("compressed sizes", "uncompressed sizes", "first rows")


def hint_parts(spans: Spans) -> None:
    """Build the spans of a hint, a number as text."""
    rule = "The id of a snapshot as text. Hints may be stale; readers verify them."
    spans.leaf("snapshot", "UTF-8", spans.left, rule=rule)


def text_parts(spans: Spans) -> None:
    """Build the spans of lines of text."""
    number = 0
    while spans.left:
        end = spans.data.find(b"\n", spans.position)
        size = (spans.end if end < 0 else end + 1) - spans.position
        spans.leaf(f"line {number}", "UTF-8", size)
        number += 1


def is_row_file(data: bytes) -> bool:
    """Whether the bytes end like a row file."""
    return len(data) >= FOOTER_BYTES and data[-4:] == ROW_MAGIC.to_bytes(4, "little")


def row_file_parts(spans: Spans) -> None:
    """Build the spans of a row file: compressed blocks, index, footer."""
    footer = spans.end - FOOTER_BYTES
    index = int.from_bytes(spans.data[footer + 12 : footer + 20], "little", signed=True)
    size = int.from_bytes(spans.data[footer + 20 : footer + 24], "little", signed=True)
    if not 0 <= index <= index + size == footer:
        raise InvalidInputError(
            f"The index must end at byte {footer:,}, the start of the footer, but its "
            f"offset is {index} and its size is {size}."
        )
    if index:
        spans.leaf("blocks", "bytes", index, rule="Rows in blocks compressed with Zstandard.")
    with spans.group("index") as note:
        note.about = "3 lists of numbers"
        for name in _LIST_NAMES:
            length = spans.number("length", "varint")
            start = spans.position
            build = partial(_differences, rule="Difference from the previous number.")
            spans.later(name, length, build, about=f"{length} bytes from byte {start:,}")
    with spans.group("footer") as note:
        spans.number("rows", "int64 LE")
        note.about = f"{spans.number('blocks', 'int32 LE')} blocks"
        spans.number("index offset", "int64 LE")
        spans.number("index size", "int32 LE")
        spans.number("version", "uint8", rule="Version of the layout; always 1.")
        spans.leaf("reserved", "zeros", 3)
        spans.leaf("magic", "bytes", 4, rule="Magic number: the bytes 'ROWS', little-endian.")


def _differences(spans: Spans, rule: str) -> None:
    while spans.left:
        spans.number("difference", "zigzag", rule=rule)


def is_blob_file(data: bytes) -> bool:
    """Whether the bytes start like a blob file, or are a blob file of nulls only."""
    return data[:4] == BLOB_MAGIC.to_bytes(4, "little")


def blob_parts(spans: Spans) -> None:
    """Build the spans of a blob file: entries, list of sizes, version."""
    tail = spans.end - _BLOB_TAIL
    size = int.from_bytes(spans.data[tail : tail + 4], "little", signed=True)
    if not 0 <= size <= tail:
        raise InvalidInputError("The list of entry sizes must be within the file.")
    number = 0
    while spans.position < tail - size:
        number = _entry(spans, number, tail - size)
    rule = "Difference from the previous size; -1 encodes null, -2 an external value."
    spans.later("entry sizes", size, partial(_differences, rule=rule))
    spans.number("list size", "int32 LE")
    spans.number("version", "uint8", rule="Version of the layout; always 1.")


def _entry(spans: Spans, number: int, end: int) -> int:
    """Build one entry; its size follows the value, so the end is found by the next magic."""
    start = spans.position
    magic = BLOB_MAGIC.to_bytes(4, "little")
    at = start
    while True:
        at = spans.data.find(magic, at + 1, end)
        stop = end if at < 0 else at
        stated = int.from_bytes(spans.data[stop - 12 : stop - 4], "little")
        if stated == stop - start:
            break
        if at < 0:
            raise InvalidInputError(
                f"The size stored at the end of entry {number} must be {stop - start:,}, "
                f"the size of the entry in bytes, not {stated:,}."
            )
    with spans.group(f"entry {number}") as note:
        note.about = f"{stated - 16:,} bytes"
        spans.leaf("magic", "bytes", 4)
        spans.leaf("value", "bytes", stated - 16)
        spans.number("entry size", "int64 LE", rule="Size of the entry in bytes.")
        spans.number("checksum", "uint32 LE", rule="CRC-32 of the preceding bytes of the entry.")
    return number + 1


Build = Callable[[Spans], None]

_METADATA = re.compile(r"(manifest|index-manifest)")
_HINTS = ("LATEST", "EARLIEST")
_UNDIVIDED = {"lance": "Lance", "vortex": "Vortex", "mosaic": "Mosaic"}
"""Formats by extension whose parts are known to a native library only."""
_TEXTS = (".csv", ".txt", ".text", ".json", ".hint", "_SUCCESS")
_ICEBERG = ".metadata.json"


class Layout(NamedTuple):
    """The layout of a kind of file.

    Attributes:
        kind: kind of file.
        build: builds the spans of the file.
        rules: the specification of the format.
    """

    kind: str
    build: Build
    rules: str = ""


def layout_of(name: str, data: bytes, schema_of: SchemaOf) -> Layout:
    """Detect the layout of a file.

    Args:
        name: the file name.
        data: the bytes of the file.
        schema_of: gives the schemas of its table.
    """
    if is_avro(data):
        return _avro(name, schema_of)
    if name.endswith(_TEXTS) and not name.endswith(_ICEBERG):
        return Layout("text file", text_parts)
    if data[:1] in (b"{", b"["):
        return _json(name)
    if name in _HINTS:
        return Layout("hint", hint_parts, "concepts/spec/snapshot")
    return _index(name, data, schema_of) or _data(name, data)


def _avro(name: str, schema_of: SchemaOf) -> Layout:
    meaning = manifest_meaning(schema_of) if _METADATA.match(name) else NO_MEANING
    kinds = {
        "manifest-list": "manifest list",
        "manifest": "manifest",
        "index-manifest": "index manifest",
    }
    kind = next((says for prefix, says in kinds.items() if name.startswith(prefix)), "Avro file")
    rules = "concepts/spec/manifest" if meaning is not NO_MEANING else "concepts/spec/fileformat"
    return Layout(kind, lambda spans: avro_parts(spans, meaning), rules)


def _json(name: str) -> Layout:
    prefix = next((known for known in RULES if name.startswith(known)), "")
    kind = prefix.rstrip("-") or "JSON file"
    build = partial(json_parts, rules=RULES.get(prefix, {}))
    return Layout(kind, build, "concepts/spec/overview")


def _index(name: str, data: bytes, schema_of: SchemaOf) -> Layout | None:
    if is_file_index(data):

        def build(spans: Spans) -> None:
            file_index_parts(spans, _constant_types(schema_of))

        return Layout("file index", build, "concepts/spec/fileindex")
    if name.startswith("index-") and is_vectors(data):
        return Layout("deletion vectors", vectors_parts, "concepts/spec/tableindex")
    if name.startswith("index-") and not len(data) % 4:
        return Layout("hash index", hashes_parts, "concepts/spec/tableindex")
    return None


def _constant_types(schema_of: SchemaOf) -> dict[str, DataType]:
    """The types of columns that never changed; a file index does not contain its schema id."""
    latest = schema_of(None)
    numbers = range(0 if latest is None else latest.id + 1)
    schemas = [schema for schema in map(schema_of, numbers) if schema is not None]
    found: dict[str, set[DataType]] = {}
    for one in (one for schema in schemas for one in schema.fields):
        found.setdefault(one.name, set()).add(one.type)
    return {name: types.pop() for name, types in found.items() if len(types) == 1}


def _data(name: str, data: bytes) -> Layout:
    if data[-4:] == PARQUET:
        return Layout("Parquet file", parquet_parts, "parquet-format")
    if data[-4:-1] == ORC:
        build = partial(orc_parts, file=pa.BufferReader(data))
        return Layout("ORC file", build, "ORC specification v1")
    if is_row_file(data):
        return Layout("row file", row_file_parts, "concepts/spec/fileformat")
    if is_blob_file(data):
        return Layout("blob file", blob_parts, "concepts/spec/fileformat")
    kind = _UNDIVIDED.get(name.rpartition(".")[2], "unknown")
    return Layout(f"{kind} file", _unknown)


def _unknown(spans: Spans) -> None:
    spans.rest("bytes", "Unknown file layout.")


MAX_BYTES = 64 << 20
"""Maximum size of files that are read completely; of larger Parquet files, only the footer."""

_MAX_FOOTER = 64 << 20


@dataclass(frozen=True, slots=True)
class FileReader:
    """Reads ranges of a file on demand."""

    file_io: FileIO = field(repr=False)
    path: str
    size: int

    def read(self, offset: int, length: int) -> bytes:
        """Bytes [offset, offset + length)."""
        return self.file_io.read_range(self.path, offset, length)


def file_bytes(
    location: str | PathLike[str], *, storage_options: dict[str, str] | None = None
) -> ByteLayout:
    """Inspect the bytes of a file by its path; `pe.inspect.bytes`.

    If the file is in the folder of a table, its schemas are used.

    Args:
        location: path or URL of the file.
        storage_options: as for `open_table`.

    Raises:
        MissingFileError: the file does not exist.
        UnsupportedFeatureError: the file is too large.

    >>> import paimon_explore as pe
    >>> path = pe.demo().table("demo.orders").path + "/schema/schema-0"
    >>> pe.inspect.bytes(path).to_arrow().num_rows > 10
    True
    """
    file_io, path = resolve(location, storage_options)
    code = Code(python=f"pe.inspect.bytes({str(location)!r})")
    return byte_layout(file_io, path, schemas_around(file_io, path), code)


def byte_layout(file_io: FileIO, path: str, schema_of: SchemaOf, code: Code) -> ByteLayout:
    """Inspect the bytes of a file.

    Raises:
        MissingFileError: the file does not exist.
        UnsupportedFeatureError: the file is too large.
    """
    status = file_io.status(path)
    if status.is_folder:
        raise InvalidInputError(f"{path} is a folder.", hint="Pass the path of a file in it.")
    space, layout = _space(file_io, path, status.size, schema_of)
    reader = space.reader
    return ByteLayout(
        name=status.name,
        path=path,
        layout=layout.kind,
        rules=layout.rules,
        space=space,
        cross_checked=_cross_check(reader.data if isinstance(reader, MemoryReader) else b"", path),
        code=code,
    )


def _cross_check(data: bytes, path: str) -> Callable[[], Agreement]:
    return cache(partial(agreement, data, path)) if is_avro(data) else lambda: NOT_AVRO


def _space(file_io: FileIO, path: str, size: int, schema_of: SchemaOf) -> tuple[Space, Layout]:
    name = paths.name(path)
    if size > MAX_BYTES:
        return _large(file_io, path, size)
    data = file_io.read(path)
    if data[:1] in (b"{", b"["):
        data = masked_json(data)
    layout = layout_of(name, data, schema_of)
    root = grown(data, layout.build, Span(name=name, offset=0, length=len(data)))
    return Space(name=name, reader=MemoryReader(data), root=root), layout


def _large(file_io: FileIO, path: str, size: int) -> tuple[Space, Layout]:
    """The sections of a large Parquet file, from its footer."""
    tail = file_io.read_range(path, size - 8, 8)
    taken = min(parquet_footer_size(tail), size) if tail[4:] == PARQUET else 0
    if not 0 < taken <= _MAX_FOOTER:
        what = f"inspecting the bytes of a file as large as {bytes_text(size)}"
        is_orc = tail[4:7] == ORC
        hint = "Only Parquet files may have this size." if is_orc else ""
        raise UnsupportedFeatureError(what, path, hint=hint)
    window = file_io.read_range(path, size - taken, taken)
    name = paths.name(path)
    like = Span(name=name, offset=0, length=size)
    root = grown(window, parquet_parts, like, size - taken)
    reader: Reader = FileReader(file_io, path, size)
    layout = Layout("Parquet file", parquet_parts, "parquet-format")
    return Space(name=name, reader=reader, root=root), layout


def schemas_of(store: TableStore) -> SchemaOf:
    """A cached lookup of schemas by id; gives None for schemas that cannot be read."""

    @cache
    def schema(schema_id: int | None) -> TableSchema | None:
        schemas = store.schemas
        try:
            return schemas.latest() if schema_id is None else schemas.load(schema_id)
        except PaimonError:
            return None

    return schema


def schemas_around(file_io: FileIO, path: str) -> SchemaOf:
    """A lookup of the schemas of the table around a file: the closest parent with schemas."""
    folder = paths.parent(path)
    while paths.parent(folder) != folder:
        if file_io.exists(paths.join(folder, "schema")):
            return schemas_of(TableStore(file_io, TablePaths(folder)))
        folder = paths.parent(folder)
    return lambda _: None


def metadata_path(table: TablePaths, name: str) -> str | None:
    """The path of a metadata file by its name; None for other files."""
    folders = {
        SNAPSHOT_PREFIX: table.snapshot_dir,
        SCHEMA_PREFIX: table.schema_dir,
        CHANGELOG_PREFIX: table.changelog_dir,
        TAG_PREFIX: table.tag_dir,
        CONSUMER_PREFIX: table.consumer_dir,
        **dict.fromkeys(_HINTS, table.snapshot_dir),
    }
    if name.startswith(("manifest-", "index-manifest-")):
        return table.manifest(name)
    if name.startswith(("stat-", "stats-")):
        return table.statistics(name)
    folder = next((folders[prefix] for prefix in folders if name.startswith(prefix)), None)
    return None if folder is None else paths.join(folder, name)


def find_file(store: TableStore, name: str) -> str:
    """The path of a file of a table.

    Args:
        store: the table.
        name: the name, relative path or absolute path of the file.

    Raises:
        NotFoundError: the file does not exist in the table.
    """
    root = store.paths.root
    if name.startswith(f"{root}/"):
        return name
    if ".." in name.split("/"):
        raise InvalidInputError(
            f"The path {name[:80]!r} must not contain '..'.",
            hint="Pass the path of a file in the table's folder.",
        )
    if "/" in name:
        return paths.join(root, name)
    known = metadata_path(store.paths, name)
    if known is not None and store.file_io.exists(known):
        return known
    for status in store.file_io.walk(root):
        if status.name == name:
            return status.path
    hint = "Pass its name, its path relative to the table's folder, or a node such as 'base/0'."
    raise NotFoundError("file", name, root, hint=hint)
