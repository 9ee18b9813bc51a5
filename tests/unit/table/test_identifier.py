import pytest

from paimon_explore.errors import InvalidInputError
from paimon_explore.metastore.identifier import Identifier, parse_identifier


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("db.t", Identifier(database="db", table="t")),
        ("db.a.b", Identifier(database="db", table="a.b")),
        ("db.t$FILES", Identifier(database="db", table="t", system_table="files")),
        ("db.t$branch_b", Identifier(database="db", table="t", branch="b")),
        (
            "db.t$branch_b$snapshots",
            Identifier(database="db", table="t", branch="b", system_table="snapshots"),
        ),
    ],
)
def test_a_name_is_split_into_its_parts(text: str, expected: Identifier) -> None:
    assert parse_identifier(text) == expected


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("t", "contains no database"),
        (".t", "is not a valid name"),
        ("db.", "is not a valid name"),
        ("db...", "is not a valid name"),
        ("db.a/b", "is not a valid name"),
        ("db.t$", "is not a valid name"),
        ("db.t$branch_", "is not a valid name"),
        ("db.t$files$snapshots", "too many"),
    ],
)
def test_an_unusable_name_is_refused_with_the_reason(text: str, says: str) -> None:
    with pytest.raises(InvalidInputError, match=says):
        parse_identifier(text)
