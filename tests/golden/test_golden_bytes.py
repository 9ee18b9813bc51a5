"""The byte inspector on files of other writers: every byte in one field, and made again from them.

By default one table per writer and kind of file; with PAIMON_EXPLORE_DEEP set, every file of every
table (some six minutes).
"""

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from paimon_explore.inspection.byte_inspector.byte_layout import ByteLayout
from paimon_explore.inspection.byte_inspector.file_lookup import file_bytes
from paimon_explore.inspection.byte_inspector.spans import Space, leaves
from support.figures import Figures
from support.golden import WRITERS, GoldenTables

SAMPLES = {
    "java21": ("blob_key", "btree_index", "multivalue_index", "geometry_append", "blob_maps"),
    "java200": ("dv_bitmap64", "fi_more", "fi_bloom_external", "pk_dynamic", "append_row_format"),
    "java142": ("all_types_pk_orc", "blob"),
    "java09": ("fi_bitmap", "append_avro"),
    "pypaimon21": ("pk_all_key_types", "append_avro"),
    "rust04": ("pk_orc",),
}
DEEP = bool(os.environ.get("PAIMON_EXPLORE_DEEP"))


def files_of(golden: GoldenTables, writer: str) -> Iterator[Path]:
    known = golden.names(writer)
    wanted = known if DEEP else [name for name in SAMPLES[writer] if name in known] or known[:1]
    for name in wanted:
        yield from (p for p in golden.table(writer, name).folder.rglob("*") if p.is_file())


def spaces(found: ByteLayout) -> Iterator[Space]:
    """The file, and what its packed parts unpack to."""
    yield found.space
    for _, span in leaves(found.space):
        if span.inside is not None:
            yield span.inside()


@pytest.mark.parametrize("writer", WRITERS)
def test_every_byte_lies_in_one_field_and_is_made_again(
    golden: GoldenTables, writer: str, figures: Figures
) -> None:
    kinds: Counter[str] = Counter()
    for path in files_of(golden, writer):
        found = file_bytes(path)
        kinds[found.layout] += 1
        figures.add("files taken apart byte by byte", 1)
        figures.add("bytes that lie in one field each", path.stat().st_size)
        assert found.problems() == [], path
        assert found.encoded() == path.read_bytes(), path
        for space in spaces(found):
            held = sum(span.length for own, span in leaves(space) if own.name == space.name)
            assert held == space.reader.size, (path, space.name)
            made = b"".join(space.encode(space.root))
            assert made == space.reader.read(0, space.reader.size), (path, space.name)
    assert {"snapshot", "schema", "manifest list", "manifest"} <= set(kinds)


def test_index_files_and_their_kinds_are_known(golden: GoldenTables) -> None:
    kinds = {file_bytes(path).layout for path in files_of(golden, "java200")}
    assert kinds >= {"deletion vectors", "hash index", "file index", "index manifest", "row file"}
