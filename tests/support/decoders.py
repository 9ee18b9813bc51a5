"""Every decoder of bytes, with good bytes of its own: the start of damaged and of fuzzed ones."""

import io
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from functools import cache
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import zstandard
from pyroaring import BitMap, BitMap64

from paimon_explore.commit.iceberg.manifest_files import (
    _columns_in_millis,
    _in_micros,
    read_records,
)
from paimon_explore.commit.iceberg.manifest_records import (
    Content,
    IcebergManifest,
    entry_of,
    manifest_of,
)
from paimon_explore.commit.iceberg.table_metadata import parse_metadata
from paimon_explore.data_types.arrow_buffers import Column, as_python
from paimon_explore.data_types.json_parser import parse_type
from paimon_explore.data_types.type_parser import parse_type_text
from paimon_explore.encoding import shared_shredding as shreds
from paimon_explore.encoding.avro.container import read_header, write_long
from paimon_explore.encoding.avro.reader import read_avro
from paimon_explore.encoding.avro.schema import parse_avro_schema
from paimon_explore.encoding.avro.writer import avro_schema, write_avro
from paimon_explore.encoding.binary_row.decoder import decode_rows
from paimon_explore.encoding.binary_row.row_encoder import encode_rows
from paimon_explore.encoding.blob.blob_collections import (
    encode_array,
    encode_map,
)
from paimon_explore.encoding.blob.blob_descriptor import (
    BlobDescriptor,
    decode_descriptor,
    encode_descriptor,
)
from paimon_explore.encoding.blob.blob_file import BlobDataFile, BlobFileWriter
from paimon_explore.encoding.blob.blob_references import decode_references, encode_references
from paimon_explore.encoding.blob.blob_view import BlobView, decode_view, encode_view
from paimon_explore.encoding.csv_json import CsvLayout, csv_records, decompressed, json_records
from paimon_explore.encoding.data_file_reader import OpenDataFile, PagesError, StoredColumn
from paimon_explore.encoding.deletion_vector import encode_vectors
from paimon_explore.encoding.file_index.container import decode_container, encode_container
from paimon_explore.encoding.file_index.index_condition import Condition, Relation
from paimon_explore.encoding.file_index.index_types import IndexBuilder, IndexSettings, decode_index
from paimon_explore.encoding.global_index.bitmap_file import BitmapIndexFile
from paimon_explore.encoding.global_index.btree_file import BTreeIndexFile
from paimon_explore.encoding.global_index.index_keys import global_index_keys
from paimon_explore.encoding.global_index.index_meta import (
    SortedIndexMeta,
    decode_index_meta,
    encode_index_meta,
)
from paimon_explore.encoding.global_index.index_sources import (
    IndexSources,
    SourceFile,
    decode_sources,
    encode_sources,
)
from paimon_explore.encoding.hash_index import decode_hashes
from paimon_explore.encoding.orc.file_tail import read_tail
from paimon_explore.encoding.orc.reader import open_orc
from paimon_explore.encoding.orc.timestamp_fixes import LocalZoned
from paimon_explore.encoding.parquet.reader import open_parquet
from paimon_explore.encoding.parquet.thrift_compact import ThriftError, decode_struct
from paimon_explore.encoding.roaring_bitmap import (
    BitmapReader,
    WideBitmap,
    decode_bitmap,
    decode_wide,
    encode_bitmap,
    encode_wide,
)
from paimon_explore.encoding.row_format.row_file import RowDataFile, RowFileWriter
from paimon_explore.encoding.variant.json_text import json_text
from paimon_explore.encoding.variant.shredding import assemble, assemble_parts
from paimon_explore.errors import FormatError, UnsupportedFeatureError
from paimon_explore.metadata.consumer import parse_consumer
from paimon_explore.metadata.manifest.manifest_codec import (
    decode_entries,
    decode_index_entries,
    encode_records,
)
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.schema.table_schema import parse_schema
from paimon_explore.metadata.snapshot import parse_snapshot
from paimon_explore.metadata.statistics_file import parse_statistics
from paimon_explore.metadata.tag import parse_tag
from paimon_explore.read.csv_json_data_file import csv_file, json_file
from support.arrow import column_of
from support.decoding import decode_manifest_list, decode_vectors, with_arity
from support.entries import entries, entry
from support.files import orc_bytes, parquet_bytes, stored
from support.global_index_files import KEYED, ask_index_file, index_files
from support.golden import GoldenTables
from support.variants import encode_python, python_value

_ROW_TYPES = [
    parse_type(text, "c")
    for text in ("INT", "STRING", "DECIMAL(30, 2)", "TIMESTAMP(9)", "ARRAY<STRING>", "DATE")
]
_VARIANT, _KEYS = encode_python({"a": [1, "x" * 70, None, 2.5], "b": {"c": date(2024, 1, 1)}})
_NUMBERS: dict[str, Column] = {
    "i": column_of([*range(50)], parse_type("BIGINT", "i")),
    "s": column_of([str(n) for n in range(50)], parse_type("STRING", "s")),
}
_CSV = CsvLayout()


def _rows() -> bytes:
    values: list[list[object]] = [[7], ["some text"], [None], [None], [["a", "x" * 9]], [None]]
    columns = [column_of(v, t) for v, t in zip(values, _ROW_TYPES, strict=True)]
    row: bytes = with_arity(encode_rows(columns, _ROW_TYPES), len(_ROW_TYPES))[0].as_py()
    return row


def _index(kind: str, text: str) -> bytes:
    data_type = parse_type(text, "t")
    builder = IndexBuilder(kind, data_type, IndexSettings(block_bytes=40, chunk_bytes=40))
    values = [1, 5, None, 7, 5] if text == "BIGINT" else ["a", "b", None, "cc", "b"]
    builder.add(column_of(values, data_type))
    return builder.encode()


def _ask_index(kind: str, text: str) -> Callable[[bytes], object]:
    data_type = parse_type(text, "t")
    literal = 5 if text == "BIGINT" else "b"

    def ask(data: bytes) -> None:
        index = decode_index(kind, data, data_type, path="f")
        for relation in (Relation.EQ, Relation.LT, Relation.GE):
            index.rows(Condition(relation, (literal,)))
            index.may_match(Condition(relation, (literal,)))
        index.rows(Condition(Relation.IS_NULL))

    return ask


def _batches(file: OpenDataFile, wanted: Sequence[StoredColumn]) -> None:
    """Read all rows of a file and check what came."""
    wanted = [column for column in wanted if column.name in file.names]
    for batch in file.batches(wanted, range(len(file.spans)), 100):
        for column in batch.columns:
            column.validate(full=True)


_WANTED = [stored("i", "BIGINT"), stored("s", "STRING")]


def _read_parquet(data: bytes) -> None:
    file = open_parquet(pa.BufferReader(data), "f")
    for column in _WANTED:
        if column.name in file.names:
            file.bounds(column)
    _batches(file, _WANTED)


def _read_pages(data: bytes) -> None:
    """Read two rows of each column by pages, or refuse them for the whole row group."""
    file = open_parquet(pa.BufferReader(data), "f")
    file.paged_bytes = 0
    wanted = [column for column in _WANTED if column.name in file.names]
    for number, span in enumerate(file.spans):
        pages = file.paged(wanted, number)
        if pages is None or not span.rows:
            continue
        rows = np.unique(np.array([span.first + span.rows // 2, span.first + span.rows - 1]))
        for column in wanted:
            try:
                pages.bounds(column)
                pages.share(column, rows)
                pages.values([column], rows)[0].validate(full=True)
            except PagesError:
                continue


@cache
def _pages(*, version: Literal["1.0", "2.0"] = "1.0", coded: bool = True) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(
        pa.table(list(_NUMBERS.values()), names=list(_NUMBERS)), sink, row_group_size=30,
        data_page_size=1, write_batch_size=4, use_dictionary=coded, data_page_version=version,
        compression="none" if version == "1.0" else "snappy", write_page_index=coded,
    )  # fmt: skip
    return sink.getvalue().to_pybytes()


def _read_struct(data: bytes) -> None:
    try:
        decode_struct(data)
    except ThriftError:
        return


def _footer(data: bytes) -> bytes:
    return data[-8 - int.from_bytes(data[-8:-4], "little") : -8]


def _read_footer(data: bytes) -> None:
    """Read a file, also by pages, whose footer are these bytes."""
    file = b"".join(
        [_pages()[: -8 - len(_footer(_pages()))], data, len(data).to_bytes(4, "little")]
    )
    _read_parquet(file + b"PAR1")
    _read_pages(file + b"PAR1")


def _read_avro(data: bytes) -> None:
    fields: dict[str, pa.DataType] = {"_FILE_NAME": pa.string(), "_FILE_SIZE": pa.int64()}
    wanted = pa.schema(fields)
    for batch in read_avro(data, wanted, "f"):
        batch.validate(full=True)


_RECORDS = pa.table(
    {
        "a": pa.array([1, None, 2**40], pa.int64()),
        "b": ["x", None, "yy"],
        "c": pa.array([[1, 2], None, []], pa.list_(pa.int32())),
        "d": pa.array([[("k", 1)], [], None], pa.map_(pa.string(), pa.int64())),
        "e": [{"x": 1.5, "y": True}, None, {"x": None, "y": None}],
    }
)


def _read_records(data: bytes) -> None:
    for batch in read_avro(data, _RECORDS.schema, "f"):
        batch.validate(full=True)


def _read_variant(data: bytes) -> None:
    json_text(data, _KEYS)
    python_value(data, _KEYS)


def _read_orc(data: bytes) -> None:
    _batches(open_orc(pa.BufferReader(data), "f", LocalZoned()), _WANTED)


_SHREDDED = pa.struct([("value", pa.binary()), ("typed_value", pa.int64())])
_GROUP = pa.struct(
    [
        ("metadata", pa.binary()),
        ("value", pa.binary()),
        ("typed_value", pa.struct([("a", _SHREDDED), ("b", _SHREDDED)])),
    ]
)


def _read_shredded(data: bytes) -> None:
    """Assemble variants of which a byte tells how the metadata and the values share the others."""
    at, cut = (data[0], data[1]) if len(data) > 1 else (0, 0)
    metadata, value, inner = data[2 : 2 + at], data[2 + at : 2 + at + cut], data[2 + at + cut :]
    typed = {"a": {"value": inner, "typed_value": None}, "b": {"value": None, "typed_value": 5}}
    for whole in (value, None):
        array = pa.array([{"metadata": metadata, "value": whole, "typed_value": typed}], _GROUP)
        assert isinstance(array, pa.StructArray)
        for assembled in (assemble, assemble_parts):
            for variant in as_python(assembled(array, path="f", column="v")):
                assert isinstance(variant, dict)
                json_text(variant["value"], variant["metadata"])


def _shredded(metadata: bytes, value: bytes, inner: bytes) -> bytes:
    return bytes([len(metadata), len(value)]) + metadata + value + inner


_BTREE, _BITMAP_INDEX = zip(*map(index_files, KEYED), strict=True)
_LONGS = global_index_keys(parse_type_text("BIGINT"))


_MAP_METADATA = {
    shreds.LAYOUT_KEY: shreds.KNOWN_LAYOUT,
    shreds.VERSION_KEY: shreds.KNOWN_VERSION,
    shreds.COLUMNS_KEY: b"2",
    shreds.COMPRESSION_KEY: b"none",
}


def _read_map_keys(data: bytes) -> None:
    dictionary = {shreds.SIZE_KEY: b"%d" % len(data), shreds.DICTIONARY_KEY: data}
    shreds.shredding_of({**_MAP_METADATA, **dictionary}, "f", "m")


def _read_vector(data: bytes) -> None:
    """Decode a deletion vector whose size and checksum are right."""
    size, checksum = len(data).to_bytes(4, "big"), zlib.crc32(data).to_bytes(4, "big")
    decode_vectors(b"\1" + size + data + checksum, path="f")


def _read_wide(data: bytes) -> None:
    BitmapReader(data, "f").take_wide()


_DECIMAL = Decimal("-1.25")
_STORED = [StoredColumn(name=f"c{at}", type=kind) for at, kind in enumerate(_ROW_TYPES)]


def _read_row_file(data: bytes) -> None:
    _batches(RowDataFile(pa.BufferReader(data), "f", _STORED), _STORED)


def _row_file() -> bytes:
    out = io.BytesIO()
    writer = RowFileWriter(out.write, _STORED, block_bytes=60)
    values: Sequence[list[object]] = (
        [7, 8], ["some", ""], [_DECIMAL, None], [datetime(2024, 1, 2), None],  # noqa: DTZ001
        [["a", None], []], [date(2024, 1, 1), None],
    )  # fmt: skip
    columns = [column_of(v, c.type) for v, c in zip(values, _STORED, strict=True)]
    writer.write(columns)
    writer.close()
    return out.getvalue()


def _plain_frame(data: bytes) -> bytes:
    """A Zstandard frame of one block that is not compressed."""
    block = (len(data) << 3 | 1).to_bytes(3, "little")
    return b"\x28\xb5\x2f\xfd\xa0" + len(data).to_bytes(4, "little") + block + data


def _read_row_block(data: bytes) -> None:
    """Read a row file with a block of these bytes."""
    frame, rows = _plain_frame(data), int.from_bytes(data[-4:], "little")
    lists = [write_long(one) for one in (len(frame), len(data), 0)]
    index = b"".join(bytes([len(one)]) + one for one in lists)
    sizes = (rows, 8), (1, 4), (len(frame), 8), (len(index), 4)
    footer = b"".join(number.to_bytes(width, "little") for number, width in sizes)
    _read_row_file(frame + index + footer + _row_file()[-8:])


def _row_block() -> bytes:
    with zstandard.ZstdDecompressor().stream_reader(_row_file()) as reader:
        return reader.read(1 << 20)


def _read_blobs(data_type: object) -> Callable[[bytes], object]:
    column = stored("b", data_type)
    return lambda data: _batches(BlobDataFile(pa.BufferReader(data), "f", column), [column])


def blob_file(values: Sequence[bytes | None]) -> bytes:
    """A BLOB file of some values."""
    out = io.BytesIO()
    writer = BlobFileWriter(out.write)
    for value in values:
        writer.add_value(value)
    writer.finish()
    return out.getvalue()


def _read_entry(data_type: object) -> Callable[[bytes], object]:
    return lambda data: _read_blobs(data_type)(blob_file([data]))


_ICEBERG_MANIFEST = IcebergManifest(
    path="f", length=1, content=Content(0), sequence_number=1, min_sequence_number=1,
    snapshot_id=1, files=(1, 0, 0), rows=(1, 0, 0), partitions=(),
)  # fmt: skip


def _read_iceberg_list(data: bytes) -> None:
    for record in read_records(data, "f"):
        manifest_of(record, "f")


def _read_iceberg_manifest(data: bytes) -> None:
    records = read_records(data, "f")
    in_millis = _columns_in_millis(read_header(data).schema)
    for record in records:
        entry_of(_in_micros(record, in_millis), _ICEBERG_MANIFEST)


_TEXT_TYPES = ["INT", "DECIMAL(9, 2)", "TIMESTAMP(3)", "DATE", "BOOLEAN", "DOUBLE", "BYTES"]
_TEXT_COLUMNS = [stored(f"c{at}", text) for at, text in enumerate(_TEXT_TYPES)]
_JSON_COLUMNS = [
    *_TEXT_COLUMNS,
    stored("a", {"type": "ARRAY", "element": "BIGINT"}),
    stored("m", {"type": "MAP", "key": "STRING", "value": "DATE"}),
]


def _read_csv_table(data: bytes) -> None:
    names = [column.name for column in _TEXT_COLUMNS]
    text = decompressed(data, "", path="f")
    _batches(csv_file(text, names, TableOptions({}), path="f"), _TEXT_COLUMNS)


def _read_json_table(data: bytes) -> None:
    text = decompressed(data, "", path="f")
    _batches(json_file(text, TableOptions({}), path="f"), _JSON_COLUMNS)


@dataclass(frozen=True)
class Decoder:
    """What reads some bytes, and where good bytes are.

    Attributes:
        read: reads them.
        sample: good bytes, several of them, or a file of a golden table.
        errors: what refuses other bytes.
    """

    read: Callable[[bytes], object]
    sample: bytes | list[bytes] | tuple[str, str]
    errors: tuple[type[Exception], ...] = (FormatError, UnsupportedFeatureError)

    def samples(self, golden: GoldenTables) -> list[bytes]:
        """Good bytes."""
        if isinstance(self.sample, bytes):
            return [self.sample]
        if isinstance(self.sample, list):
            return self.sample
        table, pattern = self.sample
        files = golden.table("java200", table).folder.glob(pattern)
        return [max(files, key=lambda path: (path.stat().st_size, path.name)).read_bytes()]


DECODERS: Mapping[str, Decoder] = {
    "snapshot": Decoder(lambda d: parse_snapshot(d, "f"), ("tags", "snapshot/snapshot-*")),
    "schema": Decoder(lambda d: parse_schema(d, "f"), ("se_nested", "schema/schema-0")),
    "tag": Decoder(lambda d: parse_tag(d, "tag-f"), ("tags", "tag/tag-*")),
    "consumer": Decoder(lambda d: parse_consumer(d, "f"), b'{"nextSnapshot": 3}'),
    "statistics": Decoder(lambda d: parse_statistics(d, "f"), ("analyze", "statistics/stat-*")),
    "manifest list": Decoder(
        lambda d: decode_manifest_list(d, "f"), ("append_part_types", "manifest/manifest-list-*")
    ),
    "manifest": Decoder(
        lambda d: decode_entries([("f", d)]), ("append_part_types", "manifest/manifest-[!l]*")
    ),
    "manifest without compression": Decoder(
        lambda d: decode_entries([("f", d)]),
        encode_records(
            entries(entry("data-1", key_null_counts=[0, None]), entry("data-2", write_cols=["a"])),
            "null",
        ),
    ),
    "Avro without compression": Decoder(
        _read_records,
        write_avro(
            avro_schema(_RECORDS.schema),
            [column.combine_chunks() for column in _RECORDS.columns],
            "null",
        ),
    ),
    "manifest in ORC": Decoder(
        lambda d: decode_entries([("f", d)]), ("manifest_orc", "manifest/manifest-[!l]*")
    ),
    "manifest in Parquet": Decoder(
        lambda d: decode_entries([("f", d)]), ("manifest_parquet", "manifest/manifest-[!l]*")
    ),
    "index manifest": Decoder(
        lambda d: decode_index_entries(d, "f"), ("dv_pk", "manifest/index-manifest-*")
    ),
    "Avro": Decoder(_read_avro, ("append_part_types", "manifest/manifest-list-*")),
    "Avro schema": Decoder(
        parse_avro_schema,
        b'{"type":"record","name":"r","fields":[{"name":"a","type":["null",{"type":"map",'
        b'"values":{"type":"array","items":{"type":"fixed","size":4,"name":"x"}}}]}]}',
    ),
    "data type": Decoder(
        lambda d: parse_type(d.decode(errors="replace"), "f"),
        [b"MAP<STRING, DECIMAL(10, 2)> NOT NULL", b"TIMESTAMP(6) WITH LOCAL TIME ZONE"],
    ),
    "binary row": Decoder(
        lambda d: decode_rows(pa.array([d], pa.binary()), _ROW_TYPES, where="f"), _rows()
    ),
    "deletion vectors": Decoder(
        lambda d: decode_vectors(d, path="f"),
        encode_vectors([("a", BitMap([1, 5, 70_000])), ("b", BitMap(range(9)))], wide=False)[0],
    ),
    "deletion vectors of 64 bits": Decoder(
        lambda d: decode_vectors(d, path="f"),
        encode_vectors([("a", BitMap([1, 5, 70_000]))], wide=True)[0],
    ),
    "bitmap": Decoder(
        lambda d: decode_bitmap(d, "f"), encode_bitmap(BitMap([1, 2, 3, 9, 2**20, *range(99, 999)]))
    ),
    "hash index": Decoder(lambda d: decode_hashes(d, path="f"), bytes(range(16))),
    "index container": Decoder(
        lambda d: decode_container(d, path="f"),
        encode_container([("a", "bsi", b"1234"), ("b", "bitmap", None)]),
    ),
    "bloom filter": Decoder(_ask_index("bloom-filter", "STRING"), _index("bloom-filter", "STRING")),
    "bitmap index": Decoder(_ask_index("bitmap", "STRING"), _index("bitmap", "STRING")),
    "bit-sliced index": Decoder(_ask_index("bsi", "BIGINT"), _index("bsi", "BIGINT")),
    "range bitmap": Decoder(_ask_index("range-bitmap", "STRING"), _index("range-bitmap", "STRING")),
    "range bitmap of numbers": Decoder(
        _ask_index("range-bitmap", "BIGINT"), _index("range-bitmap", "BIGINT")
    ),
    "variant": Decoder(_read_variant, _VARIANT),
    "variant keys": Decoder(lambda d: json_text(_VARIANT, d), _KEYS),
    "Parquet": Decoder(_read_parquet, parquet_bytes(_NUMBERS, rows_per_group=20)),
    "Parquet pages": Decoder(
        _read_pages,
        [_pages(), _pages(coded=False), _pages(version="2.0")],
    ),
    "Parquet footer": Decoder(_read_footer, _footer(_pages())),
    "Thrift": Decoder(_read_struct, _footer(_pages())),
    "ORC tail": Decoder(lambda d: read_tail(pa.BufferReader(d), "f"), orc_bytes(_NUMBERS)),
    "ORC": Decoder(_read_orc, orc_bytes(_NUMBERS)),
    "CSV": Decoder(
        lambda d: list(csv_records(decompressed(d, "", path="f"), _CSV)), b'1,"a ""b""",c\n2,,\n'
    ),
    "CSV table": Decoder(
        _read_csv_table,
        b"1,1.50,2024-01-02 03:04:05.678,2024-01-02,true,1e3,YQ==\n,,,,,,\n"
        b'"-7","0",1969-12-31 23:59:59,1969-02-03,false,NaN,\n',
    ),
    "JSON lines": Decoder(
        lambda d: list(json_records(decompressed(d, "", path="f"), line_delimiter="\n", path="f")),
        b'{"a": 1, "b": ["x"]}\n',
    ),
    "JSON table": Decoder(
        _read_json_table,
        b'{"c0": 1, "c1": "1.5", "c2": "2024-01-02 03:04:05.678", "c3": "2024-01-02", "c4": true}\n'
        b'{"c5": 1e3, "c6": "YQ==", "a": [1, null, "2"], "m": {"k": "2024-01-02", "l": null}}\n',
    ),
    "bitmap of 64 bits": Decoder(
        _read_wide, [BitMap64([1, 2**33, 2**40]).serialize(), BitMap64(range(99)).serialize()]
    ),
    "bitmap by high halves": Decoder(
        lambda d: decode_wide(d, "f"),
        encode_wide(WideBitmap({bytes(6): BitMap([1, 9]), b"\0\0\1\0\0\2": BitMap(range(9))}, 2)),
    ),
    "deletion vector": Decoder(
        _read_vector,
        [
            encode_vectors([("a", BitMap([1, 5, 70_000]))], wide=wide)[0][5:-4]
            for wide in (False, True)
        ],
    ),
    **{
        f"btree of {text}": Decoder(ask_index_file(BTreeIndexFile, text), data)
        for text, data in zip(KEYED, _BTREE, strict=True)
    },
    **{
        f"global bitmap of {text}": Decoder(ask_index_file(BitmapIndexFile, text), data)
        for text, data in zip(KEYED, _BITMAP_INDEX, strict=True)
    },
    "global index metadata": Decoder(
        lambda d: decode_index_meta(d, _LONGS, path="f"),
        encode_index_meta(SortedIndexMeta(first=1, last=9, has_nulls=True), _LONGS),
    ),
    "global index sources": Decoder(
        lambda d: decode_sources(d, path="f"),
        encode_sources(IndexSources(level=1, files=(SourceFile("data-1", 5),))),
    ),
    "shredded variant": Decoder(
        _read_shredded,
        [
            _shredded(keys, value, encode_python(inner)[0])
            for value, keys in [encode_python({"c": "x", "d": [1, 2]}), encode_python({"z": None})]
            for inner in (5, "text", [1])
        ],
    ),
    "keys of shredded maps": Decoder(_read_map_keys, b'{"a": 0, "b": 1}'),
    "row file": Decoder(_read_row_file, _row_file()),
    "row block": Decoder(_read_row_block, _row_block()),
    "blob file": Decoder(_read_blobs("BLOB"), blob_file([b"abc", None, b""])),
    "array of blobs": Decoder(
        _read_entry({"type": "ARRAY", "element": "BLOB"}), encode_array([b"x", None, b"yz"])
    ),
    **{
        f"map of {text} to blobs": Decoder(
            _read_entry({"type": "MAP", "key": text, "value": "BLOB"}),
            encode_map([(key, b"x"), (key, None)], parse_type(text, "test")),
        )
        for text, key in (("STRING", "a"), ("DATE", date(2024, 1, 1)), ("DECIMAL(30, 3)", _DECIMAL))
    },
    "blob references": Decoder(
        lambda d: decode_references(b"PBLR" + d + zlib.crc32(d).to_bytes(4, "big"), "f"),
        encode_references(["a/b", "a/c"])[4:-4],
    ),
    "blob descriptor": Decoder(
        decode_descriptor,
        encode_descriptor(BlobDescriptor(uri="/a", offset=3, length=4)),
        (ValueError,),
    ),
    "blob view": Decoder(
        decode_view, encode_view(BlobView(table="d.t", field_id=1, row_id=2)), (ValueError,)
    ),
    "Iceberg metadata": Decoder(
        lambda d: parse_metadata(d, "f"), ("iceberg_compat", "metadata/v*.json")
    ),
    "Iceberg manifest list": Decoder(
        _read_iceberg_list, ("iceberg_compat", "metadata/snap-*.avro")
    ),
    "Iceberg manifest": Decoder(_read_iceberg_manifest, ("iceberg_compat", "metadata/*-m1.avro")),
}
