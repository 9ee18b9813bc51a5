"""Dictionary-encoded columns are decoded to their values."""

import pyarrow as pa
import pytest

from paimon_explore.data_types.arrow_buffers import Column, as_python
from paimon_explore.encoding.data_file_reader import decode_dictionary

VALUES: dict[str, Column] = {
    "values of one length": pa.array(["ab", "cd", "éx"[:1], "ef"]),
    "values of several lengths": pa.array(["a", "", "long value", "é"]),
    "empty values": pa.array(["", "", ""]),
    "a null among the values": pa.array(["ab", None, "cd"]),
    "sliced values": pa.array(["zz", "ab", "cd", "ef", "yy"]).slice(1, 3),
    "no values": pa.array([], pa.string()),
    "numbers": pa.array([3, 1, 2]),
    "bytes of one length": pa.array([b"\x00\x01", b"\xff\xfe"]),
}
INDICES: dict[str, list[int | None]] = {
    "all": [0, 1, 1, 0],
    "none": [],
    "with nulls": [0, None, 1, None],
    "nulls only": [None, None],
}


@pytest.mark.parametrize("values", VALUES)
@pytest.mark.parametrize("indices", INDICES)
def test_each_row_has_the_value_of_its_index(values: str, indices: str) -> None:
    known = as_python(VALUES[values])
    places = [i if known else None for i in INDICES[indices]]
    column = pa.DictionaryArray.from_arrays(pa.array(places, pa.int32()), VALUES[values])
    found = decode_dictionary(column)
    found.validate(full=True)
    assert found.type == VALUES[values].type
    wanted = [None if i is None else known[i] for i in places]
    assert as_python(found) == wanted
    part = decode_dictionary(column.slice(1))
    part.validate(full=True)
    assert as_python(part) == wanted[1:]
