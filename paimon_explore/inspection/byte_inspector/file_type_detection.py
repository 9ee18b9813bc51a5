"""Detects the layout of a file by its first and last bytes and its name."""

import re
from collections.abc import Callable
from functools import partial

import pyarrow as pa

from paimon_explore.encoding.avro.container import is_avro
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.byte_inspector.avro_parts import NO_MEANING, avro_parts
from paimon_explore.inspection.byte_inspector.columnar_parts import (
    ORC,
    PARQUET,
    orc_parts,
    parquet_parts,
)
from paimon_explore.inspection.byte_inspector.file_index_parts import (
    file_index_parts,
    is_file_index,
)
from paimon_explore.inspection.byte_inspector.index_parts import (
    hashes_parts,
    is_vectors,
    vectors_parts,
)
from paimon_explore.inspection.byte_inspector.json_member_docs import RULES
from paimon_explore.inspection.byte_inspector.json_parts import json_parts
from paimon_explore.inspection.byte_inspector.manifest_field_docs import SchemaOf, manifest_meaning
from paimon_explore.inspection.byte_inspector.spans import Spans
from paimon_explore.inspection.byte_inspector.text_parts import (
    blob_parts,
    hint_parts,
    is_blob_file,
    is_row_file,
    row_file_parts,
    text_parts,
)

Build = Callable[[Spans], None]

_METADATA = re.compile(r"(manifest|index-manifest)")
_HINTS = ("LATEST", "EARLIEST")
_UNDIVIDED = {"lance": "Lance", "vortex": "Vortex", "mosaic": "Mosaic"}
"""Formats by extension whose parts are known to a native library only."""
_TEXTS = (".csv", ".txt", ".text", ".json", ".hint", "_SUCCESS")


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The layout of a kind of file.

    Attributes:
        kind: kind of file.
        build: builds the spans of the file.
        rules: the specification of the format.
    """

    kind: str
    build: Build
    rules: str = ""


def layout_of(name: str, data: bytes, size: int, schema_of: SchemaOf) -> Layout:
    """Detect the layout of a file.

    Args:
        name: the file name.
        data: the bytes of the file, or its last bytes.
        size: size of the file in bytes.
        schema_of: gives the schemas of its table.
    """
    if is_avro(data):
        return _avro(name, schema_of)
    if data[:1] in (b"{", b"["):
        return _json(name)
    if name in _HINTS:
        return Layout(kind="hint", build=hint_parts, rules="concepts/spec/snapshot")
    return _index(name, data, schema_of) or _data(name, data, size)


def _avro(name: str, schema_of: SchemaOf) -> Layout:
    meaning = manifest_meaning(schema_of) if _METADATA.match(name) else NO_MEANING
    kinds = {
        "manifest-list": "manifest list",
        "manifest": "manifest",
        "index-manifest": "index manifest",
    }
    kind = next((says for prefix, says in kinds.items() if name.startswith(prefix)), "Avro file")
    rules = "concepts/spec/manifest" if meaning is not NO_MEANING else "concepts/spec/fileformat"
    return Layout(kind=kind, build=lambda spans: avro_parts(spans, meaning), rules=rules)


def _json(name: str) -> Layout:
    prefix = next((known for known in RULES if name.startswith(known)), "")
    kind = prefix.rstrip("-") or "JSON file"
    return Layout(
        kind=kind,
        build=partial(json_parts, rules=RULES.get(prefix, {})),
        rules="concepts/spec/overview",
    )


def _index(name: str, data: bytes, schema_of: SchemaOf) -> Layout | None:
    if is_file_index(data):

        def build(spans: Spans) -> None:
            schema = schema_of(None)
            types = {} if schema is None else {field.name: field.type for field in schema.fields}
            file_index_parts(spans, types)

        return Layout(kind="file index", build=build, rules="concepts/spec/fileindex")
    if name.startswith("index-") and is_vectors(data):
        return Layout(
            kind="deletion vectors", build=vectors_parts, rules="concepts/spec/tableindex"
        )
    if name.startswith("index-") and not len(data) % 4:
        return Layout(kind="hash index", build=hashes_parts, rules="concepts/spec/tableindex")
    return None


def _data(name: str, data: bytes, size: int) -> Layout:
    if data[-4:] == PARQUET:
        return Layout(kind="Parquet file", build=parquet_parts, rules="parquet-format")
    if data[-4:-1] == ORC:

        def build(spans: Spans) -> None:
            window = bytes(size - len(data)) + data if size < _WINDOW else data
            orc_parts(spans, pa.BufferReader(window))

        return Layout(kind="ORC file", build=build, rules="ORC specification v1")
    if is_row_file(data):
        return Layout(kind="row file", build=row_file_parts, rules="concepts/spec/fileformat")
    if is_blob_file(data):
        return Layout(kind="blob file", build=blob_parts, rules="concepts/spec/fileformat")
    if name.endswith(_TEXTS):
        return Layout(kind="text file", build=text_parts)
    kind = _UNDIVIDED.get(name.rpartition(".")[2], "unknown")
    return Layout(kind=f"{kind} file", build=_unknown)


_WINDOW = 1 << 27


def _unknown(spans: Spans) -> None:
    spans.rest("bytes", "Unknown file layout.")
