import pytest

from paimon_explore.metadata.schema import encode_schema, parse_schema
from paimon_explore.metadata.schema_rules import violations
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
