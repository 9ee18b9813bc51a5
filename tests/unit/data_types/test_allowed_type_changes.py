import pytest

from paimon_explore.data_types.casts.allowed_type_changes import (
    is_castable,
    is_executable,
    is_explicit,
    is_implicit,
)
from paimon_explore.data_types.type_parser import parse_type_text

ATOMIC = (
    *("BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL(10, 2)"),
    *("CHAR(3)", "VARCHAR(3)", "STRING", "BINARY(3)", "BYTES", "DATE", "TIME(3)"),
    *("TIMESTAMP(3)", "TIMESTAMP_LTZ(3)"),
)


def named(rule: str, target: str) -> set[str]:
    """The atomic types that a rule lets change to a target."""
    rules = {"implicit": is_implicit, "explicit": is_explicit, "castable": is_castable}
    wanted = parse_type_text(target)
    return {text for text in ATOMIC if rules[rule](parse_type_text(text), wanted)} - {target}


NUMBERS = {"TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL(10, 2)"}
TEXTS = {"CHAR(3)", "VARCHAR(3)", "STRING"}
TIMES = {"TIMESTAMP(3)", "TIMESTAMP_LTZ(3)"}


@pytest.mark.parametrize(
    ("target", "sources"),
    [
        ("BOOLEAN", set()),
        ("TINYINT", set()),
        ("SMALLINT", {"TINYINT"}),
        ("INT", {"TINYINT", "SMALLINT"}),
        ("BIGINT", {"TINYINT", "SMALLINT", "INT"}),
        ("FLOAT", {"TINYINT", "SMALLINT", "INT", "BIGINT", "DECIMAL(10, 2)"}),
        ("DOUBLE", NUMBERS - {"DOUBLE"}),
        ("DECIMAL(10, 2)", NUMBERS - {"DECIMAL(10, 2)"}),
        ("CHAR(3)", set()),
        ("STRING", TEXTS - {"STRING"}),
        ("BINARY(3)", set()),
        ("BYTES", {"BINARY(3)"}),
        ("DATE", {"TIMESTAMP(3)"}),
        ("TIME(3)", {"TIMESTAMP(3)"}),
        ("TIMESTAMP(3)", {"TIMESTAMP_LTZ(3)"}),
        ("TIMESTAMP_LTZ(3)", {"TIMESTAMP(3)"}),
    ],
)
def test_implicit_changes(target: str, sources: set[str]) -> None:
    assert named("implicit", target) == sources


@pytest.mark.parametrize(
    ("target", "sources"),
    [
        ("BOOLEAN", TEXTS | {"TINYINT", "SMALLINT", "INT", "BIGINT"}),
        ("TINYINT", NUMBERS | TEXTS | {"BOOLEAN"}),
        ("INT", NUMBERS | TEXTS | TIMES | {"BOOLEAN"}),
        ("BIGINT", NUMBERS | TEXTS | TIMES | {"BOOLEAN"}),
        ("DOUBLE", NUMBERS | TEXTS | {"BOOLEAN"}),
        ("DECIMAL(10, 2)", NUMBERS | TEXTS | {"BOOLEAN"}),
        ("CHAR(3)", NUMBERS | TEXTS | {"BOOLEAN", "BINARY(3)", "BYTES"}),
        ("STRING", set(ATOMIC)),
        ("BINARY(3)", TEXTS | {"BYTES"}),
        ("BYTES", TEXTS | {"BINARY(3)"}),
        ("DATE", TEXTS | TIMES),
        ("TIME(3)", TEXTS | TIMES),
        ("TIMESTAMP(3)", TEXTS | TIMES | {"DATE", "TIME(3)", "INT", "BIGINT"}),
        ("TIMESTAMP_LTZ(3)", TEXTS | TIMES | {"DATE", "TIME(3)", "INT", "BIGINT"}),
    ],
)
def test_changes_with_a_conversion(target: str, sources: set[str]) -> None:
    assert named("castable", target) == sources - {target}


@pytest.mark.parametrize(
    ("source", "target"),
    [("DOUBLE", "TIMESTAMP(3)"), ("TIMESTAMP(3)", "DOUBLE"), ("DATE", "CHAR(10)")],
)
def test_some_changes_are_allowed_but_have_no_conversion(source: str, target: str) -> None:
    assert is_explicit(parse_type_text(source), parse_type_text(target))
    assert not is_castable(parse_type_text(source), parse_type_text(target))


def test_not_null_never_comes_by_itself() -> None:
    assert not is_implicit(parse_type_text("INT"), parse_type_text("BIGINT NOT NULL"))
    assert is_explicit(parse_type_text("INT"), parse_type_text("BIGINT NOT NULL"))
    assert is_implicit(parse_type_text("INT NOT NULL"), parse_type_text("BIGINT"))


def test_other_lengths_and_precisions_are_implicit() -> None:
    assert is_implicit(parse_type_text("CHAR(5)"), parse_type_text("CHAR(2)"))
    assert is_implicit(parse_type_text("TIMESTAMP(9)"), parse_type_text("TIMESTAMP(0)"))


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ("ARRAY<INT>", "ARRAY<STRING>", True),
        ("ARRAY<INT>", "ARRAY<DATE>", False),
        ("MAP<INT, INT>", "MAP<INT, STRING>", True),
        ("MAP<INT, INT>", "MAP<BIGINT, INT>", False),
        ("ROW<a INT>", "ROW<b STRING, c DATE>", True),
        ("ROW<a INT>", "ROW<a DATE>", False),
        ("MULTISET<INT>", "MULTISET<BIGINT>", False),
        ("VECTOR<INT, 2>", "VECTOR<INT, 3>", False),
        ("VECTOR<INT, 2>", "STRING", False),
        ("ARRAY<VARIANT>", "STRING", False),
        ("ROW<a INT, b MAP<INT, DATE>>", "STRING", True),
        ("GEOMETRY", "GEOMETRY('1')", False),
        ("GEOMETRY", "STRING", False),
        ("VARIANT", "VARIANT NOT NULL", True),
    ],
)
def test_nested_types_are_converted_part_by_part(
    source: str,
    target: str,
    expected: bool,  # noqa: FBT001 - a column of the table
) -> None:
    assert is_executable(parse_type_text(source), parse_type_text(target)) is expected
