"""Tables with tied records: of one key with equal sequence numbers, as Java 0.7 left them."""

import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import pyarrow as pa
import pytest

from paimon_explore import Catalog
from paimon_explore.merge.merge_spec import SEQUENCE_NUMBER
from paimon_explore.table.table import Table
from paimon_explore.write.primary_key_writer import MergeBuffer

COLUMNS = {"k": pa.int64(), "n": pa.int64(), "v": pa.string(), "w": pa.int64()}
"""Key, the sequence number that is stored, a name of the record, and a number."""
SUMS = {
    "merge-engine": "aggregation",
    "fields.n.aggregate-function": "max",
    "fields.v.aggregate-function": "listagg",
    "fields.w.aggregate-function": "last_non_null_value",
}
ENGINES: Mapping[str, Mapping[str, str]] = {
    "deduplicate": {},
    "sums": SUMS,
    "partial": {"merge-engine": "partial-update"},
    "lookup": {"changelog-producer": "lookup"},
    "lookup_sums": {"changelog-producer": "lookup", **SUMS},
    "full": {"changelog-producer": "full-compaction"},
}


@contextmanager
def stored_numbers() -> Iterator[None]:
    """Writes store the column `n` as sequence number, as Java 0.7 stores a sequence field."""

    def add(self: MergeBuffer, rows: pa.RecordBatch) -> None:
        field = pa.field(SEQUENCE_NUMBER, pa.int64(), nullable=False)
        self._rows.append(rows.append_column(field, rows.column("n")))
        self.buffered_rows += rows.num_rows

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MergeBuffer, "add", add)
        yield


def write_tied(table: Table, chance: random.Random, files: int, *, deletes: bool) -> None:
    """Commits files of level 0 whose records are tied with each other and with older ones."""
    for number in range(files):
        low, span = chance.choice([0, 0, 10, 30]), chance.choice([4, 20, 40])
        keys = sorted(chance.sample(range(low, low + span), chance.randint(1, span)))
        rows = [
            {
                "k": key,
                "n": chance.choice([1, 1, 1, 2, 3]),
                "v": f"{number}.{key}.{chance.randint(0, 999)}",
                "w": chance.choice([None, chance.randint(0, 99)]),
            }
            for key in keys
        ]
        kinds = ["-D" if deletes and chance.random() < 0.1 else "+I" for _ in rows]
        batch = pa.Table.from_pylist(rows, ARROW).append_column("_ROW_KIND", pa.array(kinds))
        with stored_numbers():
            table.upsert(batch)


ARROW = pa.schema([pa.field(name, kind, nullable=name != "k") for name, kind in COLUMNS.items()])


def tied_table(catalog: Catalog, engine: str) -> Table:
    """The table `db.t` with files of level 0 over compacted ones, and ties between all of them."""
    options = {"bucket": "1", "write-only": "true", "num-sorted-run.stop-trigger": "50"}
    table = catalog.create_table(
        "db.t", ARROW, primary_key=["k"], options={**options, **ENGINES[engine]}
    )
    chance = random.Random(engine)  # noqa: S311 - test data
    for full in (True, False, None):
        write_tied(table, chance, 6, deletes=engine in ("deduplicate", "lookup"))
        if full is not None:
            table.compact(full=full)
    return table
