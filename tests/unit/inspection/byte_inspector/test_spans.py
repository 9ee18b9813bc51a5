import pytest

from paimon_explore.errors import InvalidInputError
from paimon_explore.inspection.byte_inspector.primitive_encodings import FORMS, is_faithful
from paimon_explore.inspection.byte_inspector.spans import (
    STRANGE,
    Span,
    Spans,
    gaps,
    leaves,
    space_of,
)


def names(spans: list[Span]) -> list[str]:
    return [span.name for span in spans]


def two_numbers(spans: Spans) -> None:
    spans.number("first", "int32 BE")
    spans.number("second", "int16 LE")


def test_values_follow_each_other_and_give_back_their_bytes() -> None:
    data = bytes.fromhex("00000007 0100")
    space = space_of("file", data, two_numbers)
    found = list(space.root.children())
    assert [(s.name, s.offset, s.length, space.value(s)) for s in found] == [
        ("first", 0, 4, 7),
        ("second", 4, 2, 1),
    ]
    assert b"".join(space.encode(space.root)) == data


def test_bytes_that_a_layout_leaves_over_are_a_field_that_says_so() -> None:
    space = space_of("file", bytes(9), two_numbers)
    last = list(leaves(space))[-1][1]
    assert (last.name, last.offset, last.length) == (STRANGE, 6, 3)
    assert list(gaps(space)) == []


def test_a_file_that_ends_early_keeps_what_was_read() -> None:
    space = space_of("file", bytes(5), two_numbers)
    found = space.root.children()
    assert names(list(found)) == ["first", STRANGE]
    assert "2 bytes are expected at byte 4, but the number of remaining bytes is 1" in found[1].rule
    assert b"".join(space.encode(space.root)) == bytes(5)


def test_a_group_that_breaks_off_keeps_its_first_fields() -> None:
    def build(spans: Spans) -> None:
        with spans.group("outer"):
            spans.number("one", "uint8")
            spans.number("eight", "int64 BE")

    space = space_of("file", bytes(3), build)
    outer, rest = space.root.children()
    assert names(list(outer.children())) == ["one"]
    assert (rest.name, rest.length) == (STRANGE, 2)


def test_a_number_with_needless_bytes_is_kept_as_bytes() -> None:
    data = bytes([0x82, 0x00])  # 1, spelled with two bytes

    def build(spans: Spans) -> None:
        spans.leaf("n", "zigzag")

    space = space_of("file", data, build)
    (leaf,) = space.root.children()
    assert leaf.form == "bytes"
    assert "non-canonical encoding of 1" in leaf.rule
    assert b"".join(space.encode(space.root)) == data


def test_the_path_to_a_byte_leads_from_the_whole_to_the_field() -> None:
    space = space_of("file", bytes(6), two_numbers)
    assert [(i, s.name) for i, s in space.path_to(5)] == [(0, "file"), (1, "second")]
    with pytest.raises(InvalidInputError, match="Offset 6 is out of range: there are 6 bytes"):
        space.path_to(6)


def test_long_rows_are_grouped_and_still_cover_every_byte() -> None:
    count = 100_000
    data = bytes(4 * count)
    space = space_of("file", data, lambda spans: spans.row("numbers", "int32 LE", count))
    (row,) = space.root.children()
    assert [s.name for s in row.children()] == ["[0…65535]", "[65536…99999]"]
    path = [s.name for _, s in space.path_to(4 * 70_000)]
    assert path == ["file", "numbers", "[65536…99999]", "[69888…70143]", "[70000]"]
    assert sum(s.length for _, s in leaves(space)) == len(data)
    assert list(gaps(space)) == []


def test_gaps_are_found() -> None:
    bad = Span(
        name="root",
        offset=0,
        length=4,
        grow=lambda: (Span(name="a", offset=1, length=3, form="bytes"),),
    )
    space = space_of("file", bytes(4), two_numbers)
    assert list(gaps(space, bad)) == ["file: a starts at 1, not 0"]


@pytest.mark.parametrize(
    ("form", "data"),
    [
        ("uint8", b"\xff"),
        ("int32 BE", b"\xff\xff\xff\xfe"),
        ("uint64 LE", b"\xff" * 8),
        ("float64 LE", bytes(7) + b"\x40"),
        ("zigzag", b"\x81\x01"),
        ("varint", b"\x81\x01"),
        ("UTF-8", b"\xff\xc3\xa4"),
        ("JSON", b'"\\u00e4"'),
    ],
)
def test_every_form_gives_back_its_bytes(form: str, data: bytes) -> None:
    assert is_faithful(form, data)
    assert FORMS[form].encode(FORMS[form].decode(data)) == data
