"""Any writes and compactions in any order against a dictionary of rows."""

from collections.abc import Mapping
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paimon_explore.metadata.snapshot import CommitKind
from support.compacting import applied, changelog, levels, numbered, numbered_table, values
from support.depth import DEEP

LOOKUP = {"changelog-producer": "lookup"}
FULL = {"changelog-producer": "full-compaction"}
VECTORS = {"deletion-vectors.enabled": "true"}
TABLES: Mapping[str, Mapping[str, str]] = {
    "plain": {},
    "few levels": {"num-levels": "3", "num-sorted-run.compaction-trigger": "2"},
    "lookup": LOOKUP,
    "full": FULL,
    "vectors": VECTORS,
    "vectors and lookup": {**VECTORS, **LOOKUP},
    "wide vectors": {**VECTORS, "deletion-vectors.bitmap64": "true"},
    "small files": {**LOOKUP, "target-file-size": "2 kb"},
}

WRITE = st.dictionaries(st.integers(0, 30), st.none() | st.integers(0, 3), min_size=1, max_size=20)
"""Key to value, None deletes the row."""
STEPS = st.lists(WRITE | st.booleans(), min_size=2, max_size=10)
"""Writes, and compactions: full ones or not."""


@pytest.mark.parametrize("name", TABLES)
@settings(max_examples=120 if DEEP else 5)
@given(steps=STEPS)
def test_rows_and_changelogs_are_those_of_the_writes(
    name: str, steps: list[dict[int, int | None] | bool]
) -> None:
    options = TABLES[name]
    with TemporaryDirectory() as folder:
        table = numbered_table(folder, options)
        written: dict[object, object] = {}
        visible: dict[object, object] = {}
        told: dict[object, object] = {}
        for step in [*steps, True]:
            if isinstance(step, bool):
                made = table.compact(full=step)
                if made is None:
                    continue
                assert made.commit_kind is CommitKind.COMPACT
                visible = dict(written)
                if "changelog-producer" in options:
                    applied(told, changelog(table, made.id))
                if step:
                    assert len({level for level, _ in levels(table)} - {0}) <= 1
            else:
                gone = [k for k, v in step.items() if v is None]
                kept = [(k, v) for k, v in step.items() if v is not None]
                table.upsert([*numbered(*kept), *numbered(*((k, None) for k in gone), kind="-D")])
                written.update(kept)
                written = {k: v for k, v in written.items() if k not in gone}
            hidden = "deletion-vectors.enabled" in options
            assert values(table) == (visible if hidden else written)
        if "changelog-producer" in options:
            assert told == written
