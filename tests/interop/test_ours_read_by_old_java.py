"""Older Java releases read what this library wrote, as far as they know the feature."""

import pytest

from oracle import JavaPaimon, JavaPaimonError
from paimon_explore import Catalog, Table
from support.rows import difference
from support.written import KINDS, make

pytestmark = [pytest.mark.interop, pytest.mark.slow]

NOT_READ_BY_0_9 = {
    "append_partition_days": ("not found", "partition.legacy-name came later: it looks for day=…"),
    "pk_thin": ("Required column is missing", "thin mode came later: it wants key columns"),
    "types_parquet": ("ArrayIndexOutOfBounds", "a row in a row crashes it"),
    "types_pk_parquet": ("ArrayIndexOutOfBounds", "a row in a row crashes it"),
}


def differences(java: JavaPaimon, table: Table) -> list[str]:
    found = []
    for snapshot in table.snapshots:
        ours = table.at(snapshot=snapshot.id).to_arrow()
        found.append(difference(java.read(table.path, snapshot=snapshot.id), ours))
    return list(filter(None, found))


@pytest.mark.parametrize("name", KINDS)
def test_java_1_4_reads_every_kind(java_1_4: JavaPaimon, name: str, catalog: Catalog) -> None:
    assert differences(java_1_4, make(catalog, name, KINDS[name])) == []


@pytest.mark.parametrize("name", [name for name in KINDS if name not in NOT_READ_BY_0_9])
def test_java_0_9_reads_every_kind_that_it_knows(
    java_0_9: JavaPaimon, name: str, catalog: Catalog
) -> None:
    assert differences(java_0_9, make(catalog, name, KINDS[name])) == []


@pytest.mark.parametrize("name", NOT_READ_BY_0_9)
def test_java_0_9_refuses_what_came_later(
    java_0_9: JavaPaimon, name: str, catalog: Catalog
) -> None:
    message, _ = NOT_READ_BY_0_9[name]
    with pytest.raises(JavaPaimonError, match=message):
        java_0_9.read(make(catalog, name, KINDS[name]).path)
