"""Every decoder gives values or a `FormatError` for any bytes.

A deep run counts its mutations: `HYPOTHESIS_PROFILE=deep pytest -s -k hostile tests/properties`.
"""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import settings
from pyroaring import BitMap

from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.data_types.json_parser import parse_type
from paimon_explore.encoding.avro.reader import read_avro
from paimon_explore.encoding.avro.schema import parse_avro_schema
from paimon_explore.encoding.avro.writer import avro_schema, write_avro
from paimon_explore.encoding.binary_row.decoder import decode_rows
from paimon_explore.encoding.binary_row.row_encoder import encode_rows
from paimon_explore.encoding.csv_json import (
    CsvLayout,
    csv_records,
    decompressed,
    json_records,
)
from paimon_explore.encoding.deletion_vector import encode_vectors
from paimon_explore.encoding.file_index.container import decode_container, encode_container
from paimon_explore.encoding.file_index.index_condition import Condition, Relation
from paimon_explore.encoding.file_index.index_types import IndexBuilder, IndexSettings, decode_index
from paimon_explore.encoding.hash_index import decode_hashes
from paimon_explore.encoding.orc.file_tail import read_tail
from paimon_explore.encoding.parquet.reader import open_parquet
from paimon_explore.encoding.roaring_bitmap import decode_bitmap, encode_bitmap
from paimon_explore.encoding.variant.json_text import json_text
from paimon_explore.errors import FormatError, UnsupportedFeatureError
from paimon_explore.metadata.consumer import parse_consumer
from paimon_explore.metadata.manifest.manifest_codec import (
    decode_entries,
    decode_index_entries,
    encode_records,
)
from paimon_explore.metadata.schema.table_schema import parse_schema
from paimon_explore.metadata.snapshot import parse_snapshot
from paimon_explore.metadata.statistics_file import parse_statistics
from paimon_explore.metadata.tag import parse_tag
from support.arrow import column_of
from support.decoding import decode_manifest_list, decode_vectors, with_arity
from support.files import orc_bytes, parquet_bytes, stored
from support.golden import GoldenTables
from support.hostile import spoilt
from support.manifest_rows import entries, entry
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


def _read_parquet(data: bytes) -> None:
    wanted = [stored("i", "BIGINT"), stored("s", "STRING")]
    file = open_parquet(pa.BufferReader(data), "f")
    wanted = [column for column in wanted if column.name in file.names]
    for batch in file.batches(wanted, range(len(file.spans)), 100):
        for column in batch.columns:
            column.validate(full=True)


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


@dataclass(frozen=True)
class Decoder:
    """What reads some bytes, and where good bytes are: made here, or a file of a golden table."""

    read: Callable[[bytes], object]
    sample: bytes | tuple[str, str]


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
    "ORC tail": Decoder(lambda d: read_tail(pa.BufferReader(d), "f"), orc_bytes(_NUMBERS)),
    "CSV": Decoder(
        lambda d: list(csv_records(decompressed(d, "", path="f"), _CSV)), b'1,"a ""b""",c\n2,,\n'
    ),
    "JSON lines": Decoder(
        lambda d: list(json_records(decompressed(d, "", path="f"), line_delimiter="\n", path="f")),
        b'{"a": 1, "b": ["x"]}\n',
    ),
}


@pytest.mark.parametrize("name", DECODERS)
def test_damaged_bytes_are_values_or_a_format_error(name: str, golden: GoldenTables) -> None:
    decoder = DECODERS[name]
    original = _bytes_of(decoder.sample, golden)
    decoder.read(original)
    refused = 0
    count = settings().max_examples
    for number in range(count):
        chance = random.Random(f"{name}/{number}")  # noqa: S311 - no secret
        what, data = spoilt(original, chance)
        try:
            decoder.read(data)
        except (FormatError, UnsupportedFeatureError):
            refused += 1
        except Exception as error:
            error.add_note(f"mutation {number}: {what}")
            raise
    print(f"{name}: {count} mutations, {refused} refused")  # noqa: T201 - the record of a deep run


def _bytes_of(sample: bytes | tuple[str, str], golden: GoldenTables) -> bytes:
    if isinstance(sample, bytes):
        return sample
    table, pattern = sample
    folder: Path = golden.table("java200", table).folder
    return max(folder.glob(pattern), key=lambda path: (path.stat().st_size, path.name)).read_bytes()
