"""Engines that choose one record of a key: deduplicate and first-row."""

import pytest

from paimon_explore.errors import FormatError, InvalidInputError
from support.merging import merged, merged_commits, schema_of

COLUMNS = {"k": "INT NOT NULL", "v": "STRING"}
FIRST_ROW = {"merge-engine": "first-row"}


@pytest.mark.parametrize("key_order", [True, False])
def test_first_row_refuses_retracts_of_keys_with_several_records(*, key_order: bool) -> None:
    with pytest.raises(FormatError, match="first-row"):
        merged(COLUMNS, FIRST_ROW, [("+I", 1, "a"), ("-D", 1, "a")], key_order=key_order)


def test_what_a_writer_may_not_merge_is_bad_input_of_the_caller() -> None:
    with pytest.raises(InvalidInputError, match="first-row"):
        merged_commits(schema_of(COLUMNS, FIRST_ROW), [[("+I", 1, "a"), ("-D", 1, "a")]])
