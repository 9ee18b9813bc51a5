"""A few records, which are read one by one, are those that the vectorized decoder reads."""

import pytest

from paimon_explore.encoding.avro import reader
from paimon_explore.encoding.avro.container import read_header
from paimon_explore.errors import PaimonError
from paimon_explore.metadata.manifest.manifest_codec import decode_entries, encode_records
from support.entries import entries, entry, int_row

ROWS = {
    "usual": [entry("a"), entry("b", kind=1)],
    "numbers": [entry("a", partition=int_row(7), row_count=2**62, file_size=0, level=-1)],
    "texts": [entry("dätä"), entry("x" * 300, external_path="s3://b/ä")],
    "lists": [
        entry("a", value_null_counts=[1, None, 2**40], extra_files=["i", "j"]),
        entry("b", value_null_counts=[], value_stats_cols=["k", ""], first_row_id=5),
    ],
}


def _read(data: bytes) -> object:
    try:
        return decode_entries([("m", data)])[0].table.to_pylist()
    except PaimonError as error:
        return type(error), str(error)


@pytest.mark.parametrize("name", ROWS)
def test_few_records_are_those_of_the_vectorized_decoder(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = encode_records(entries(*ROWS[name]), "null")
    first = read_header(data).size
    damaged = [
        data[:at] + bytes([data[at] ^ 0x15]) + data[at + 1 :] for at in range(first, len(data))
    ]
    files = [data, data[:-1], *damaged]
    found = [_read(file) for file in files]
    assert isinstance(found[0], list)
    monkeypatch.setattr(reader, "FEW_RECORDS", 0)
    assert found == [_read(file) for file in files]
