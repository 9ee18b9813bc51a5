"""One file of a table goes wrong: it is read as something else, or refused with a named error.

By default every other table, the others the next day. A deep run counts its mutations:
`HYPOTHESIS_PROFILE=deep pytest -s -k hostile tests/properties`.
"""

import random
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import pytest
from hypothesis import settings

from support.depth import some
from support.golden import GoldenTables
from support.hostile import age, look_at_everything, spoil

TABLES = [
    ("java200", "append_part_types"),
    ("java200", "pk_dynamic"),
    ("java200", "dv_pk"),
    ("java200", "fi_bitmap"),
    ("java200", "fi_bloom_external"),
    ("java200", "tags"),
    ("java200", "branches"),
    ("java200", "changelog_decoupled"),
    ("java200", "row_tracking"),
    ("java200", "variant"),
    ("java200", "blob"),
    ("java200", "append_row_format"),
    ("java200", "append_csv"),
    ("java200", "manifest_orc"),
    ("java200", "manifest_parquet"),
    ("java200", "analyze"),
    ("pypaimon21", "tags_branches"),
    ("rust04", "pk_avro"),
]
_MUTATIONS_PER_EXAMPLE = 10
_LONGEST_SECONDS = 20
"""Far above the second that a look takes, for machines that do other work as well."""


@pytest.mark.parametrize(("writer", "name"), some(TABLES, 2))
def test_a_damaged_table_is_read_or_refused_with_a_named_error(
    writer: str, name: str, golden: GoldenTables, tmp_path: Path
) -> None:
    folder = tmp_path / name
    shutil.copytree(golden.table(writer, name).folder, folder)
    age(folder)
    count = max(settings().max_examples // _MUTATIONS_PER_EXAMPLE, 1)
    refused = 0
    for number in range(count):
        damage = spoil(folder, random.Random(f"{writer}/{name}/{number}"))  # noqa: S311 - no secret
        with _told(f"mutation {number}: {damage.what}"):
            refused += bool(look_at_everything(folder))
        damage.undo()
    print(f"{writer}/{name}: {count} mutations, {refused} refused")  # noqa: T201 - the record of a deep run
    assert refused


@contextmanager
def _told(what: str) -> Iterator[None]:
    """Name the mutation in any error, and end it if it takes too long."""

    def too_long(_signal: int, _frame: FrameType | None) -> None:
        raise TimeoutError(f"more than {_LONGEST_SECONDS} seconds")

    before = signal.signal(signal.SIGALRM, too_long)
    signal.alarm(_LONGEST_SECONDS)
    try:
        yield
    except Exception as error:
        error.add_note(what)
        raise
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
