import pytest

from paimon_explore.data_types.casts.cast_errors import UncastableError
from paimon_explore.data_types.default_values import default_column
from paimon_explore.data_types.type_parser import parse_type_text


@pytest.mark.parametrize(
    ("text", "data_type", "value"),
    [
        ("5", "INT", "5"),
        ("'5'", "INT", "5"),
        ("'it''s'", "STRING", "it''s"),
        ("'", "STRING", "'"),
        ("2024-01-01", "DATE", "2024-01-01"),
        ("true", "BOOLEAN", "True"),
    ],
)
def test_default_values_are_read_like_casts_from_text(
    text: str, data_type: str, value: str
) -> None:
    found = default_column(text, parse_type_text(data_type))
    assert [str(scalar.as_py()) for scalar in found] == [value]


def test_texts_that_are_no_value_are_refused() -> None:
    with pytest.raises(UncastableError, match="'x' cannot be read as INT"):
        default_column("x", parse_type_text("INT"))
