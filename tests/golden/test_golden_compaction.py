"""Every table of every writer keeps its rows when it is compacted, or is refused by name.

Most writers wrote the same kinds of tables: each has another part of them by default.
"""

import shutil
from pathlib import Path

import pytest

from paimon_explore import Table, open_table
from paimon_explore.errors import UnsupportedFeatureError
from support.golden import WRITERS, GoldenTables
from support.rows import difference

HIDDEN = frozenset(
    {
        *("dv_pk_l0", "me_first_row", "pk_postpone", "postpone_compacted"),
        *("postponed_by_rows", "postponed_default"),
    }
)
"""Tables with rows that become visible only by a compaction."""
EXPIRED = frozenset({"record_expire"})
"""Tables with rows that a compaction drops, for they are too old."""


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::paimon_explore.errors.IcebergMetadataWarning")
@pytest.mark.parametrize("writer", WRITERS)
def test_a_compacted_table_has_the_rows_it_had(
    writer: str, golden: GoldenTables, tmp_path: Path
) -> None:
    wrong = []
    compacted = 0
    for name in golden.some_names(writer, 4 if writer.startswith("java") else 2):
        source = golden.table(writer, name).folder
        if name in HIDDEN | EXPIRED or not source.is_dir():
            continue
        folder = tmp_path / name
        shutil.copytree(source, folder)
        table = open_table(folder)
        before = table.to_arrow()
        made = _compacted(table)
        compacted += made
        if made:
            found = difference(before, open_table(folder).to_arrow())
            wrong += [f"{name}: {found}"] if found else []
        shutil.rmtree(folder)
    assert wrong == []
    assert compacted


def _compacted(table: Table) -> bool:
    """Whether a compaction changed the table; one that is refused leaves it as it was."""
    latest = table._store.snapshots.latest_id()
    try:
        return table.compact() is not None
    except UnsupportedFeatureError:
        assert table._store.snapshots.latest_id() == latest
        return False
