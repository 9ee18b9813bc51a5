"""Paths of the VARIANT columns that other implementations wrote are read without the rest."""

from pathlib import Path as File

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paimon_explore import open_table
from paimon_explore.data_types.definitions import AtomicType, TypeRoot
from paimon_explore.data_types.traversal import is_root
from paimon_explore.encoding.data_file_reader import StoredColumn
from paimon_explore.encoding.parquet.leaf_columns import LeafColumns
from paimon_explore.encoding.parquet.reader import open_parquet
from paimon_explore.encoding.variant.arrow_values import trees_of
from paimon_explore.encoding.variant.paths import tree_at
from paimon_explore.encoding.variant.tree import Tree
from support.golden import WRITERS, GoldenTables
from support.variant_paths import paths_in

SHREDDED = {"java200": 2, "java142": 2, "java21": 1}
"""How many tables of shredded variants a writer has."""


def variants(file: File, column: StoredColumn) -> list[Tree | None]:
    """Return the variants of a file."""
    with pa.OSFile(str(file), "rb") as source:
        opened = open_parquet(source, str(file))
        batches = opened.batches([column], range(len(opened.spans)), 1000)
        return [tree for batch in batches for tree in trees_of(batch.columns[0])]


def leaves(file: File, column: StoredColumn) -> int:
    """Return how many leaf columns of a file are read."""
    opened = pq.ParquetFile(file)
    groups = range(opened.metadata.num_row_groups)
    return len(LeafColumns(opened.metadata, opened.schema_arrow).leaves([column], groups))


@pytest.mark.parametrize("writer", WRITERS)
def test_paths_have_the_values_that_they_have_in_the_whole(
    golden: GoldenTables, writer: str
) -> None:
    narrow: set[str] = set()
    for name in golden.names(writer):
        if "variant" not in name:
            continue
        folder = golden.table(writer, name).folder
        fields = open_table(folder).schema.fields
        columns = [field.name for field in fields if is_root(field.type, TypeRoot.VARIANT)]
        for file in folder.rglob("data-*.parquet"):
            for whole in (StoredColumn(name=one, type=VARIANT) for one in columns):
                found = variants(file, whole)
                for path in {path for tree in found for path in paths_in(tree)}:
                    part = StoredColumn(name=whole.name, type=VARIANT, paths=(path,))
                    expected = [None if tree is None else tree_at(tree, path) for tree in found]
                    read = [
                        None if tree is None else tree_at(tree, path)
                        for tree in variants(file, part)
                    ]
                    assert read == expected, (file, path)
                    narrow |= {name} if leaves(file, part) < leaves(file, whole) else set()

    assert len(narrow) >= SHREDDED.get(writer, 0), narrow


VARIANT = AtomicType(root=TypeRoot.VARIANT)
