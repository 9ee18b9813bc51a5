"""Files that unpack without end are refused by name, before the memory is asked for.

Every codec in every container that packs: some kilobytes that would become some hundred megabytes.
A process whose address space is limited reads them all; a limit of a few megabytes does the same in
this one.
"""

import bz2
import gzip
import lzma
import os
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import MappingProxyType

import cramjam
import numpy as np
import pyarrow as pa
import pyarrow.orc as po
import pyarrow.parquet as pq
import pytest
import zstandard

from paimon_explore import limits
from paimon_explore.data_types.json_parser import parse_type
from paimon_explore.encoding.avro.container import write_header, write_long
from paimon_explore.encoding.avro.reader import read_avro
from paimon_explore.encoding.csv_json import decompressed
from paimon_explore.encoding.data_file_reader import StoredColumn, decoding
from paimon_explore.encoding.orc.reader import open_orc
from paimon_explore.encoding.orc.timestamp_fixes import LocalZoned
from paimon_explore.encoding.parquet.reader import open_parquet
from paimon_explore.errors import InvalidInputError, ResourceLimitError
from paimon_explore.inspection.byte_inspector import spans
from paimon_explore.inspection.byte_inspector.spans import Spans, space_of
from paimon_explore.metadata.manifest.manifest_codec import decode_entries
from paimon_explore.widgets.jupyter_server_handlers import SharedAnswers
from support.decoding import decode_manifest_list
from support.depth import some
from support.small_tables import new_catalog

LIMIT = 8 << 20
BOMB_BYTES = 100 << 20
"""What the files of the limited process unpack to, or would."""
SCHEMA = b'{"type":"record","name":"r","fields":[{"name":"a","type":"boolean"}]}'
SYNC = bytes(16)


def deflated(data: bytes) -> bytes:
    packer = zlib.compressobj(6, zlib.DEFLATED, -zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


AVRO_CODECS: Mapping[str, Callable[[bytes], bytes]] = MappingProxyType(
    {
        "deflate": deflated,
        "zstandard": lambda data: zstandard.ZstdCompressor(level=1).compress(data),
        "snappy": lambda data: (
            bytes(cramjam.snappy.compress_raw(data)) + zlib.crc32(data).to_bytes(4, "big")
        ),
        "bzip2": bz2.compress,
        "xz": lzma.compress,
        "null": bytes,
    }
)
TEXT_CODECS: Mapping[str, Callable[[bytes], bytes]] = MappingProxyType(
    {
        "gz": gzip.compress,
        "bz2": bz2.compress,
        "deflate": zlib.compress,
        "zst": lambda data: zstandard.ZstdCompressor(level=1).compress(data),
        "snappy": lambda data: _hadoop(data, bytes(cramjam.snappy.compress_raw(data))),
        "lz4": lambda data: _hadoop(
            data, bytes(cramjam.lz4.compress_block(data, store_size=False))
        ),
        "": bytes,
    }
)


def _hadoop(data: bytes, packed: bytes) -> bytes:
    return len(data).to_bytes(4) + len(packed).to_bytes(4) + packed


def avro_file(codec: str, size: int) -> bytes:
    """A container of one block: so many records of a byte each."""
    packed = AVRO_CODECS[codec](bytes(size))
    header = write_header(SCHEMA, codec, SYNC)
    return b"".join([header, write_long(size), write_long(len(packed)), packed, SYNC])


@pytest.fixture
def few_bytes() -> Iterator[None]:
    """A process that may use little memory."""
    limits.set_memory_limit(LIMIT)
    yield
    limits.set_memory_limit(None)


def refused(error: ResourceLimitError, path: str) -> None:
    assert error.path == path
    assert f"{LIMIT:,} bytes" in str(error)
    assert limits.VARIABLE in error.hint
    assert "set_memory_limit" in error.hint


@pytest.mark.usefixtures("few_bytes")
@pytest.mark.parametrize("codec", AVRO_CODECS)
@pytest.mark.parametrize("kind", ["data", "manifest", "manifest list"])
def test_an_avro_block_that_unpacks_beyond_the_limit_is_refused(codec: str, kind: str) -> None:
    data = avro_file(codec, 70 << 20 if codec == "null" else 2 * LIMIT)
    read: Callable[[], object] = {
        "data": lambda: list(read_avro(data, None, "f")),
        "manifest": lambda: decode_entries([("f", data)]),
        "manifest list": lambda: decode_manifest_list(data, "f"),
    }[kind]
    with pytest.raises(ResourceLimitError) as raised:
        read()
    refused(raised.value, "f")


@pytest.mark.usefixtures("few_bytes")
@pytest.mark.parametrize("codec", TEXT_CODECS)
def test_a_text_that_unpacks_beyond_the_limit_is_refused(codec: str) -> None:
    data = TEXT_CODECS[codec](b"a" * (2 * LIMIT))
    with pytest.raises(ResourceLimitError) as raised:
        decompressed(data, codec, path="f")
    refused(raised.value, "f")
    assert decompressed(TEXT_CODECS[codec](b"ab,c\n"), codec, path="f") == "ab,c\n"


def parquet_bomb(length: int, rows: int, compression: str) -> bytes:
    """One long value in a dictionary, and many rows that are copies of it."""
    sink = pa.BufferOutputStream()
    value = pa.array(["x" * length])
    column = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), value)
    pq.write_table(
        pa.table({"s": column}), sink, compression=compression,  # type: ignore[arg-type]  # a codec
        dictionary_pagesize_limit=1 << 30,
        store_schema=False, write_statistics=False,
    )  # fmt: skip
    return sink.getvalue().to_pybytes()


@pytest.mark.parametrize("compression", ["zstd", "gzip", "snappy", "lz4", "brotli", "none"])
def test_a_parquet_dictionary_of_one_long_value_is_not_copied_for_every_row(
    compression: str,
) -> None:
    data = parquet_bomb(1 << 20, 5000, compression)
    limits.set_memory_limit("1 GB")
    try:
        with pytest.raises(ResourceLimitError) as raised:
            read_parquet(data)
    finally:
        limits.set_memory_limit(None)
    assert raised.value.size is not None
    assert raised.value.size > 4 << 30
    assert raised.value.where == "column 's'"
    assert raised.value.limit == 1 << 30


def read_parquet(data: bytes) -> list[object]:
    file = open_parquet(pa.BufferReader(data), "f")
    wanted = [StoredColumn(name="s", type=parse_type("STRING", "s"))]
    return list(file.batches(wanted, range(len(file.spans)), 1 << 16))


def test_a_parquet_dictionary_within_the_limit_is_read() -> None:
    (batch,) = read_parquet(parquet_bomb(1000, 5000, "zstd"))
    assert getattr(batch, "rows", 0) == 5000


@pytest.mark.parametrize("compression", some(["zstd", "zlib", "snappy", "lz4"], 4))
def test_an_orc_stripe_of_more_values_than_fit_is_refused(compression: str) -> None:
    sink = pa.BufferOutputStream()
    rows = 70 << 20
    zeros = pa.array(np.zeros(rows, np.int8))
    po.write_table(
        pa.table({"i": zeros}),
        sink,
        compression=compression,  # type: ignore[arg-type]  # one of its codecs
        stripe_size=1 << 30,
        batch_size=1 << 20,
    )
    file = open_orc(pa.BufferReader(sink.getvalue()), "f", LocalZoned())
    wanted = [StoredColumn(name="i", type=parse_type("TINYINT", "i"))]
    limits.set_memory_limit(LIMIT)
    try:
        with pytest.raises(ResourceLimitError) as raised:
            list(file.batches(wanted, range(len(file.spans)), 1 << 20))
    finally:
        limits.set_memory_limit(None)
    refused(raised.value, "f")


def test_memory_that_cannot_be_had_is_an_error_that_names_the_file() -> None:
    for wrap in (decoding("f", "Parquet file"), limits.within_memory("f", "block 1")):
        with pytest.raises(ResourceLimitError) as raised, wrap:
            raise MemoryError
        assert raised.value.path == "f"
        assert isinstance(raised.value, MemoryError)


@pytest.mark.parametrize(
    ("text", "size"), [("8 GB", 8 << 30), ("512mb", 512 << 20), ("2097152", 2 << 20)]
)
def test_the_limit_is_set_by_bytes_or_a_text(text: str, size: int) -> None:
    limits.set_memory_limit(text)
    assert limits.memory_limit() == size
    limits.set_memory_limit(None)
    assert limits.memory_limit() >= 256 << 20


@pytest.mark.parametrize("text", ["", "much", "-1", "10", "1 XB"])
def test_what_is_no_limit_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError):
        limits.set_memory_limit(text)
    limits.set_memory_limit(None)


_READER = """
import resource, sys
import paimon_explore as pe
from paimon_explore import limits
from paimon_explore.errors import PaimonError
table = pe.open_table(sys.argv[1])
limits.set_memory_limit("64 MB")
used = 900 << 20
resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 30), used + (1 << 30)))
for ask in (lambda: table.to_arrow(), lambda: table.inspect.files(), lambda: repr(table.files())):
    try:
        ask()
    except PaimonError as error:
        print(type(error).__name__)
    except MemoryError:
        print("bare MemoryError")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits the address space")
@pytest.mark.parametrize("codec", some(["zstandard", "deflate"], 2))
def test_a_table_with_a_bomb_as_manifest_ends_in_a_named_error(codec: str, tmp_path: Path) -> None:
    table = new_catalog(tmp_path).create_table("db.t", {"a": "INT"})
    table.append([{"a": 1}])
    for path in (Path(table.path) / "manifest").glob("manifest-*"):
        if "manifest-list" not in path.name:
            path.write_bytes(avro_file(codec, BOMB_BYTES))
            assert path.stat().st_size < 300_000
    done = subprocess.run(  # noqa: S603 - our own Python
        [sys.executable, "-c", _READER, table.path],
        capture_output=True, text=True, check=False, timeout=120,
        env={**os.environ, "ARROW_DEFAULT_MEMORY_POOL": "system"},
    )  # fmt: skip
    assert done.stdout.split() == ["ResourceLimitError"] * 3, done.stdout + done.stderr


def _bytes_one_by_one(made: Spans) -> None:
    while made.left:
        made.leaf("byte", "bytes", 1)


@pytest.mark.parametrize(("name", "most"), [("MAX_SPANS", 1000), ("MAX_SECONDS", 0)])
def test_the_byte_viewer_makes_no_more_parts_than_can_be_looked_at(
    name: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spans, name, most)
    space = space_of("f", bytes(5000), _bytes_one_by_one)
    parts = space.root.children()
    assert len(parts) <= 1001
    assert parts[-1].name == spans.UNOPENED
    assert sum(part.length for part in parts) == 5000


def test_equal_requests_of_the_byte_viewer_are_answered_once() -> None:
    answers = SharedAnswers(at_once=2)
    asked, ready = [], threading.Event()

    def make() -> dict[str, object]:
        asked.append(1)
        ready.wait(30)
        return {"ok": True}

    with ThreadPoolExecutor(8) as pool:
        found = [pool.submit(answers.get, "key", make) for _ in range(8)]
        while answers.waiting < 7:
            time.sleep(0.01)
        ready.set()
        assert [one.result() for one in found] == [{"ok": True}] * 8
    assert asked == [1]
    assert answers.get("key", lambda: {"ok": False}) == {"ok": False}
