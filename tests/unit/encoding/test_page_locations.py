"""Where pages lie: offset indexes as writers put them down and otherwise, and page headers."""

import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paimon_explore.encoding.data_file_reader import PagesError
from paimon_explore.encoding.parquet.pages import (
    ChunkPlace,
    PageList,
    indexed_pages,
    page_header,
    walked_pages,
)

PLACE = ChunkPlace(start=4, size=60, rows=50)
TWO_PAGES = bytes.fromhex(
    "19 2c"  # field 1, list of two structs
    "16 10 15 28 16 00 00"  # offset 8, 20 bytes, row 0
    "16 38 15 18 16 3c 00"  # offset 28, 12 bytes, row 30
    "00"
)


def shown(pages: PageList) -> list[list[int]]:
    return [pages.offsets.tolist(), pages.sizes.tolist(), pages.firsts.tolist()]


def test_an_offset_index_tells_places_sizes_and_rows_of_pages() -> None:
    found = indexed_pages(TWO_PAGES, PLACE)
    assert shown(found) == [[8, 28], [20, 12], [0, 30, 50]]
    assert found.dictionary == (4, 4)


def test_an_offset_index_may_number_its_fields_the_long_way() -> None:
    long_way = bytes.fromhex("19 2c 16 10 05 04 28 16 00 00 16 38 15 18 16 3c 00 00")
    assert shown(indexed_pages(long_way, PLACE)) == [[8, 28], [20, 12], [0, 30, 50]]


@pytest.mark.parametrize(
    "index",
    [
        b"",
        TWO_PAGES[:-6],  # ends early
        bytes.fromhex("19 0c 00"),  # no page
        bytes.fromhex("19 1c 16 10 15 28 16 02 00 00"),  # begins at row 1
        bytes.fromhex("19 1c 16 02 15 28 16 00 00 00"),  # begins before the chunk
        bytes.fromhex("19 1c 16 10 15 ff 01 16 00 00 00"),  # ends behind the chunk
        bytes.fromhex("19 1c 16 10 15 00 16 00 00 00"),  # takes no bytes
        bytes.fromhex("19 2c 16 10 15 28 16 00 00 16 38 15 18 16 00 00 00"),  # two of row 0
        bytes.fromhex("19 2c 16 10 15 28 16 00 00 16 30 15 18 16 3c 00 00"),  # overlap
        bytes.fromhex("19 2c 16 10 15 28 16 00 00 16 38 15 18 16 64 00 00"),  # row 50 of 50
        bytes.fromhex("19 1c 16 10 15 28 00 00"),  # no row told
        bytes.fromhex("19 fc ff ff ff ff ff ff ff ff ff 01"),  # as many as there are numbers
    ],
)
def test_an_offset_index_that_does_not_add_up_is_not_used(index: bytes) -> None:
    with pytest.raises(PagesError):
        indexed_pages(index, PLACE)


def test_headers_lead_from_page_to_page_as_the_index_does() -> None:
    texts = pa.array([f"{n:04d}" * 100 for n in range(500)])
    out = io.BytesIO()
    pq.write_table(
        pa.table([texts], names=["s"]),
        out,
        data_page_size=1,
        write_batch_size=70,
        use_dictionary=False,
        write_page_index=True,
    )
    data = out.getvalue()
    chunk = pq.ParquetFile(io.BytesIO(data)).metadata.row_group(0).column(0)
    place = ChunkPlace(start=chunk.data_page_offset, size=chunk.total_compressed_size, rows=500)
    walked = walked_pages(lambda at, size: data[at : at + size], place, 500)
    assert walked.firsts.tolist() == [0, 70, 140, 210, 280, 350, 420, 490, 500]
    assert int(walked.offsets[0]) == place.start
    assert int(walked.offsets[-1] + walked.sizes[-1]) == place.start + place.size
    some = walked_pages(lambda at, size: data[at : at + size], place, 100)
    assert some.firsts.tolist() == [0, 70, 140]


def test_what_is_no_page_header_is_refused() -> None:
    for broken in (b"", b"\x00", bytes.fromhex("15 02 15 10 15 10 00"), b"\xff" * 40):
        with pytest.raises(PagesError):
            page_header(broken)


def test_pages_behind_the_end_of_their_chunk_are_refused() -> None:
    header = bytes.fromhex("15 00 15 c8 01 15 c8 01 2c 15 0a 15 00 15 06 15 06 00 00")
    place = ChunkPlace(start=0, size=50, rows=5)
    with pytest.raises(PagesError, match="extends beyond its column chunk"):
        walked_pages(lambda at, size: (header + bytes(100))[at : at + size], place, 5)
    assert page_header(header).rows == np.int64(5)
