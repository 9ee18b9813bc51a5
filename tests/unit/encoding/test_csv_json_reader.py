"""CSV and JSON records."""

import bz2
import gzip
import zlib
from collections.abc import Callable

import cramjam
import pyarrow as pa
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from paimon_explore.data_types.arrow_buffers import as_python
from paimon_explore.encoding.csv_json import (
    CsvLayout,
    csv_columns,
    csv_records,
    csv_text,
    decompressed,
    json_records,
)
from paimon_explore.errors import CorruptFileError

PLAIN = CsvLayout()


def written(rows: list[list[str]]) -> str:
    """Rows as our writer puts them: a field with a mark in it is quoted, quotes escaped."""

    def field(value: str) -> str:
        if not set(value) & {",", "\n", "\r", "\ufeff", '"'}:
            return value
        return '"' + value.replace('"', '\\"') + '"'

    return "".join(",".join(map(field, row)) + "\n" for row in rows)


def test_fields_are_cut_at_delimiters_and_empty_ones_are_null() -> None:
    assert csv_records("1,a,\n2,,b\n", PLAIN) == [["1", "a", None], ["2", None, "b"]]


def test_a_missing_last_line_end_is_fine() -> None:
    assert csv_records("1,a\n2,b", PLAIN) == [["1", "a"], ["2", "b"]]
    assert csv_records("", PLAIN) == []


@pytest.mark.parametrize("text", ["1,a\n2,\n", '1,"a"\n2,\n'])
@pytest.mark.parametrize("delimiter", ["\n", "\r\n"])
def test_line_breaks_of_windows_and_the_byte_order_mark_are_no_values(
    text: str, delimiter: str
) -> None:
    text, layout = "\ufeff" + text.replace("\n", "\r\n"), CsvLayout(line_delimiter=delimiter)
    columns = csv_columns(text, ["x", "y"], layout)

    assert csv_records(text, layout) == [["1", "a"], ["2", None]]
    assert columns == {} if '"' in text else as_python(columns["y"]) == ["a", None]


def test_values_with_line_breaks_of_windows_are_kept() -> None:
    values = ["\ufeffa\r", "b\r\n", "c\rd", "\n"]

    assert csv_records(csv_text([pa.array(values)], PLAIN), PLAIN) == [[value] for value in values]


def test_quoted_fields_may_hold_every_mark() -> None:
    text = '1,"a,b"\n2,"a\nb"\n3,"say \\"hi\\""\n4,back\\slash\n'
    assert csv_records(text, PLAIN) == [
        ["1", "a,b"],
        ["2", "a\nb"],
        ["3", 'say "hi"'],
        ["4", "back\\slash"],
    ]


def test_the_marks_may_be_others() -> None:
    layout = CsvLayout(
        field_delimiter=";",
        line_delimiter="\r\n",
        quote="'",
        null_literal="\\N",
        has_header=True,
    )
    text = "i;s\r\n1;'a;b'\r\n2;\\N\r\n3;\r\n"
    assert csv_records(text, layout) == [["1", "a;b"], ["2", None], ["3", ""]]


# a backslash before a quote or at the end of a quoted field is ambiguous in the format itself
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\\"), min_size=1)


@given(st.lists(st.lists(TEXT, min_size=2, max_size=2)))
def test_what_the_writer_wrote_is_read_back(rows: list[list[str]]) -> None:
    assert csv_records(written(rows), PLAIN) == rows


@given(
    st.text(st.sampled_from('a1,;\n \r\0"\\\ufeff\u00e9')),
    st.sampled_from([";", ","]),
    st.sampled_from(["", "a", "\\N"]),
    st.sampled_from([0, 1]),
)
def test_columns_hold_the_fields_of_the_records(
    text: str, delimiter: str, null: str, headers: int
) -> None:
    layout = CsvLayout(field_delimiter=delimiter, null_literal=null, has_header=bool(headers))
    columns = csv_columns(text, ["x", "y"], layout)
    if columns:
        rows = zip(as_python(columns["x"]), as_python(columns["y"]), strict=True)
        assert [*map(list, rows)] == csv_records(text, layout)


def test_columns_are_found_where_no_field_is_quoted() -> None:
    columns = csv_columns("1,a\\\n2,", ["x", "y"], PLAIN)
    assert {name: as_python(values) for name, values in columns.items()} == {
        "x": ["1", "2"],
        "y": ["a\\", None],
    }


def test_json_records_may_have_a_byte_order_mark_and_line_breaks_of_windows() -> None:
    text = '\ufeff{"a": "x"}\r\n{"a": "y"}\r\n'
    for delimiter in ("\n", "\r\n"):
        found = json_records(text, line_delimiter=delimiter, path="f")
        assert list(found) == [{"a": "x"}, {"a": "y"}]


def test_json_records_keep_numbers_as_their_texts() -> None:
    text = '{"a": 1.50, "b": [1, null]}\n\n{"a": "x"}\n'
    assert list(json_records(text, line_delimiter="\n", path="f")) == [
        {"a": "1.50", "b": ["1", None]},
        {"a": "x"},
    ]


@pytest.mark.parametrize("line", ["{", "[1]", "1", "[" * 100_000])
def test_a_line_that_is_no_object_is_named(line: str) -> None:
    with pytest.raises(CorruptFileError, match=r"f\b.* line 2"):
        list(json_records("{}\n" + line, line_delimiter="\n", path="f"))


def hadoop(chunk: bytes, size: int) -> bytes:
    return size.to_bytes(4) + len(chunk).to_bytes(4) + chunk


PACK: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "deflate": zlib.compress,
    "zst": zstandard.ZstdCompressor().compress,
    "snappy": lambda data: hadoop(bytes(cramjam.snappy.compress_raw(data)), len(data)),
    "lz4": lambda data: hadoop(
        bytes(cramjam.lz4.compress_block(data, store_size=False)), len(data)
    ),
}


@pytest.mark.parametrize("compression", PACK)
def test_every_compression_is_undone(compression: str) -> None:
    pack = PACK[compression]

    assert decompressed(pack(b"hello"), compression, path="f") == "hello"
    assert decompressed(pack(b"hel") + pack(b"lo"), compression, path="f") == "hello"
    assert decompressed(b"", compression, path="f") == ""


@pytest.mark.parametrize("compression", PACK)
def test_a_truncated_file_is_corrupt(compression: str) -> None:
    data = PACK[compression](b"".join(b"%d,a\n" % row for row in range(20_000)))

    for size in (10, len(data) // 2, len(data) - 1):
        with pytest.raises(CorruptFileError, match="cannot be decoded"):
            decompressed(data[:size], compression, path="f")


@pytest.mark.parametrize("compression", ["", "gz", "bz2", "deflate", "zst", "snappy", "lz4"])
def test_broken_bytes_are_corrupt(compression: str) -> None:
    with pytest.raises(CorruptFileError, match=r" in f\b"):
        decompressed(b"\xff\xfe\xfd\xfc\x01\x02", compression, path="f")


def test_half_a_character_in_json_is_corrupt() -> None:
    with pytest.raises(CorruptFileError, match="surrogates"):
        list(json_records('{"a": "\\ud800"}', line_delimiter="\n", path="f"))


def test_a_snappy_chunk_must_fit_its_block() -> None:
    huge = b"\xff\xff\xff\xff\x0f\0"
    with pytest.raises(CorruptFileError, match="larger than its block"):
        decompressed(b"\0\0\0\x05\0\0\0\x06" + huge, "snappy", path="f")
