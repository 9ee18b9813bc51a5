"""Paths of VARIANT columns that are read without the rest give what the whole values have."""

import datetime as dt
import json
from decimal import Decimal
from tempfile import mkdtemp

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import paimon_explore as pe
from paimon_explore.encoding.variant.paths import VariantPath, path_text
from support.depth import DEEP
from support.shredded_variants import SHREDDING
from support.variant_paths import trees_at_paths

KEYS = st.sampled_from(["a", "s", "r", "l", "d", "t", "o", "x", "b.c", "value", "é"])
"""Those of `SHREDDING`, and others."""
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | st.text(max_size=70)
    | st.binary(max_size=3)
    | st.decimals(-1000, 1000, places=2)
    | st.sampled_from([Decimal("1e30"), dt.date(2024, 2, 29)])
    | st.datetimes()
    | st.datetimes(timezones=st.just(dt.UTC), min_value=dt.datetime(1900, 1, 1))  # noqa: DTZ001 - as required
)
DOCUMENTS = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=8,
)
PATHS = st.lists(KEYS | st.integers(0, 3), min_size=1, max_size=3).map(tuple)
STORED = {
    "plain": {},
    "inferred": {"variant.inferShreddingSchema": "true"},
    "given": {"variant.shreddingSchema": json.dumps(SHREDDING)},
    "merged": {
        "variant.shreddingSchema": json.dumps(SHREDDING),
        "primary-key": "id",
        "bucket": "1",
    },
}


def new_table(stored: str) -> pe.Table:
    catalog = pe.Catalog(mkdtemp())
    catalog.create_database("d")
    options = {key: value for key, value in STORED[stored].items() if key != "primary-key"}
    keys = ["id"] if "primary-key" in STORED[stored] else []
    return catalog.create_table(
        "d.t", {"id": "INT", "v": "VARIANT"}, options=options, primary_key=keys
    )


@settings(
    max_examples=400 if DEEP else 12,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    documents=st.lists(DOCUMENTS | st.dictionaries(KEYS, DOCUMENTS), min_size=1, max_size=6),
    paths=st.lists(PATHS, min_size=1, max_size=3),
)
@pytest.mark.parametrize("stored", STORED)
def test_paths_have_the_values_that_they_have_in_the_whole(
    stored: str, documents: list[object], paths: list[VariantPath]
) -> None:
    table = new_table(stored)
    rows = [{"id": i, "v": pe.Variant.of(value)} for i, value in enumerate(documents)]
    table.append([*rows, {"id": -1, "v": None}])
    if table.schema.primary_keys:
        table.upsert(rows[::2])
    whole = trees_at_paths(table, "v", paths, whole=True)

    assert trees_at_paths(table, "v", paths, whole=False) == whole
    for at, path in enumerate(paths):
        text = path_text(path).replace("'", "''")
        condition = f"variant_get(v, '{text}') IS NOT NULL"
        expected = sum(row is not None and row[at] is not None for row in whole)
        assert table.count(where=condition) == expected
