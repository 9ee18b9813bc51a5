"""Rules of the options of primary-key indexes; `RULES` is also put to Java."""

import pytest

from paimon_explore.data_types.definitions import RowType
from paimon_explore.errors import InvalidInputError
from paimon_explore.metadata.schema.schema_validation import new_schema
from support.index_rules import FIELDS, KEYS, RULES, IndexRule, schema_fields


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_tables_with_indexes_are_as_java_allows(rule: IndexRule) -> None:
    columns = RowType(fields=schema_fields(FIELDS))
    if rule.problem is None:
        new_schema(columns, primary_key=KEYS, options=rule.options)
        return
    with pytest.raises(InvalidInputError, match=rule.problem):
        new_schema(columns, primary_key=KEYS, options=rule.options)


def test_tables_without_a_key_have_no_such_index() -> None:
    columns = RowType(fields=schema_fields(FIELDS))
    with pytest.raises(InvalidInputError, match=r"'pk-btree.index.columns' needs a primary key"):
        new_schema(columns, options={"pk-btree.index.columns": "n"})
