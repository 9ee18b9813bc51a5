"""NULL without a type is stored in columns of every type."""

from collections.abc import Mapping
from types import MappingProxyType

import pytest

from paimon_explore import Catalog

_EVOLVING = MappingProxyType({"row-tracking.enabled": "true", "data-evolution.enabled": "true"})
_TYPES: Mapping[str, Mapping[str, str]] = {
    "BYTES": {},
    "BLOB": _EVOLVING,
    "DATE": {},
    "ARRAY<BYTES>": {},
    "MAP<STRING, INT>": {},
    "ROW<a INT>": {},
    "VARIANT": {},
}


@pytest.mark.parametrize("data_type", _TYPES)
def test_null_is_inserted_and_merged_into_columns_of_every_type(data_type: str) -> None:
    catalog = Catalog(f"memory://nulls of {data_type}/wh")
    catalog.create_database("db", if_not_exists=True)
    columns = {"k": "INT", "v": data_type}
    table = catalog.create_table("db.t", columns, options=dict(_TYPES[data_type]))
    catalog.sql("INSERT INTO db.t VALUES (1, NULL)")
    catalog.sql("INSERT INTO db.t (k, v) SELECT 2, NULL")
    catalog.sql(
        "MERGE INTO db.t USING (SELECT 3 AS k, NULL AS v) s ON t.k = s.k WHEN NOT MATCHED THEN "
        "INSERT *"
    )
    rows = table.scan().to_arrow().sort_by("k").to_pylist()
    assert rows == [{"k": k, "v": None} for k in (1, 2, 3)]
