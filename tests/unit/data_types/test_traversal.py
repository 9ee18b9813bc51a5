import pytest

from paimon_explore.data_types.definitions import TypeRoot
from paimon_explore.data_types.formatter import type_text
from paimon_explore.data_types.traversal import children, is_blob_file_type, is_root, parts
from paimon_explore.data_types.type_parser import parse_type_text


def test_parts_are_listed_outer_before_inner_and_keys_before_values() -> None:
    data_type = parse_type_text("ROW<a MAP<INT, ARRAY<DATE>>, b MULTISET<STRING>>")
    assert [type_text(part) for part in parts(data_type)][1:] == [
        "MAP<INT, ARRAY<DATE>>",
        "INT",
        "ARRAY<DATE>",
        "DATE",
        "MULTISET<STRING>",
        "STRING",
    ]
    assert children(parse_type_text("VECTOR<INT, 2>")) == (parse_type_text("INT"),)


def test_kinds_are_compared_whatever_the_length() -> None:
    assert is_root(parse_type_text("CHAR(5)"), TypeRoot.CHAR, TypeRoot.VARCHAR)
    assert not is_root(parse_type_text("ARRAY<CHAR(5)>"), TypeRoot.CHAR)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("BLOB", True),
        ("ARRAY<BLOB>", True),
        ("MAP<INT, BLOB>", True),
        ("ARRAY<ARRAY<BLOB>>", False),
        ("ROW<a BLOB>", False),
        ("BYTES", False),
    ],
)
def test_some_types_are_stored_in_blob_files(text: str, expected: bool) -> None:  # noqa: FBT001
    assert is_blob_file_type(parse_type_text(text)) is expected
