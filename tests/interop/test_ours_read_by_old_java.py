"""Older Java releases read what this library wrote, as far as they know the feature."""

from collections.abc import Callable

import pytest

from java_rows import differences
from oracle import JavaPaimon, JavaPaimonError
from paimon_explore import Table
from support.written import KINDS

pytestmark = [pytest.mark.interop, pytest.mark.slow]

NOT_READ_BY_0_9 = {
    "append_partition_days": ("not found", "partition.legacy-name came later: it looks for day=…"),
    "pk_thin": ("Required column is missing", "thin mode came later: it wants key columns"),
    "types_parquet": ("ArrayIndexOutOfBounds", "a row in a row crashes it"),
    "types_pk_parquet": ("ArrayIndexOutOfBounds", "a row in a row crashes it"),
}


@pytest.mark.parametrize("name", KINDS)
def test_java_1_4_reads_every_kind_and_java_0_9_what_it_knows(
    java_1_4: JavaPaimon, java_0_9: JavaPaimon, name: str, written: Callable[[str], Table]
) -> None:
    table = written(name)
    assert differences(java_1_4, table) == []
    if name not in NOT_READ_BY_0_9:
        assert differences(java_0_9, table) == []
        return
    message, _ = NOT_READ_BY_0_9[name]
    with pytest.raises(JavaPaimonError, match=message):
        java_0_9.read(table.path)
