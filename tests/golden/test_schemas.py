import pytest

from paimon_explore.metadata.schema.schema_validation import violations
from paimon_explore.metadata.schema.table_schema import encode_schema, parse_schema
from support.golden import WRITERS, GoldenTables


@pytest.mark.slow
@pytest.mark.parametrize("writer", WRITERS)
def test_schemas_of_other_writers_survive_a_round_trip(golden: GoldenTables, writer: str) -> None:
    files = sorted(golden.warehouse(writer).glob("**/schema/schema-*"))
    assert len(files) > 50
    for file in files:
        data = file.read_bytes()
        schema = parse_schema(data, str(file))
        assert violations(schema) == ()
        assert parse_schema(encode_schema(schema), str(file)) == schema
        if writer.startswith("java"):
            assert encode_schema(schema) == data
