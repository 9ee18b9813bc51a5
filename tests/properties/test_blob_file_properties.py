"""Blob files: what is written is read, and damage is always noticed."""

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from paimon_explore.data_types.arrow_buffers import as_python
from paimon_explore.data_types.json_parser import parse_type
from paimon_explore.encoding.blob.blob_file import BlobDataFile
from paimon_explore.encoding.data_file_reader import StoredColumn
from paimon_explore.errors import FormatError
from support.damage import damaged
from support.decoders import blob_file

COLUMN = StoredColumn(name="b", type=parse_type("BLOB", "a test"))
VALUES = st.lists(st.none() | st.binary(max_size=40), max_size=8)


def read(data: bytes) -> list[object]:
    file = BlobDataFile(pa.BufferReader(data), "a file", COLUMN)
    batches = file.batches([COLUMN], [0], 3)
    return [value for batch in batches for value in as_python(batch.columns[0])]


@given(values=VALUES)
def test_a_blob_file_comes_back_as_it_was(values: list[bytes | None]) -> None:
    assert read(blob_file(values)) == values


@given(values=VALUES, data=st.data())
def test_a_damaged_blob_file_is_refused_or_lacks_no_byte_of_a_value(
    values: list[bytes | None], data: st.DataObject
) -> None:
    broken = data.draw(damaged(blob_file(values)))

    try:
        found = read(broken)
    except FormatError:
        return
    assert {value for value in found if value} <= {value for value in values if value}
