"""Record-level expiry: a compaction drops rows of primary-key tables that have expired.

A row expires when its time column plus `record-level.expire-time` has passed. It is dropped when
its file is rewritten; reads see it until then. Rows with a null time do not expire.

Spec: primary-key-table, record-level expire. Seen in: golden java200/record_expire.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow import timestamp_unit
from paimon_explore.data_types.arrow_buffers import Bools, Column, Ints, fixed_values, valid_mask
from paimon_explore.data_types.definitions import AtomicType, DataField, TypeRoot
from paimon_explore.encoding.binary_row.decoder import decode_rows
from paimon_explore.errors import InvalidInputError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.merge.numpy_columns import mask_array
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.table_options import SECOND_MS, TableOptions
from paimon_explore.metadata.schema.table_schema import TableSchema

_PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
_MIN_MILLIS = 1_000_000_000_000
"""BIGINT times from this value are milliseconds, smaller ones seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordExpiry:
    """The expiry rule of a table's records.

    Attributes:
        schema: schema of the table.
        column: the time column.
        oldest: rows with an earlier time have expired; in seconds since the epoch.
    """

    schema: TableSchema
    column: DataField
    oldest: int

    def live_rows(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Drop expired rows."""
        found = self._expired(batch.column(self.column.name))
        return batch.filter(mask_array(~found)) if found.any() else batch

    def files(self, entries: ManifestEntries) -> list[int]:
        """Return the positions of files whose statistics show expired rows."""
        read = ["value_min", "value_stats_cols", "schema_id"]
        rows = entries.table.select(read).to_pylist()
        return [i for i, row in enumerate(rows) if self._has_expired(row)]

    def _has_expired(self, row: dict[str, object]) -> bool:
        if row["schema_id"] != self.schema.id:
            return False
        named, minimum = row["value_stats_cols"], row["value_min"]
        names = self.schema.row_type.names if named is None else named
        if not isinstance(names, Sequence) or not isinstance(minimum, bytes):
            return False
        if self.column.name not in names:
            return False
        types = [column.type for column in self.schema.project(list(map(str, names)))]
        minima = decode_rows(pa.array([minimum], pa.binary()), types, where="_MIN_VALUES")
        return bool(self._expired(minima[list(names).index(self.column.name)]).any())

    def _expired(self, times: Column) -> Bools:
        expired: Bools = (self._seconds(times) < self.oldest) & valid_mask(times)
        return expired

    def _seconds(self, times: Column) -> Ints:
        data_type = self.column.type
        assert isinstance(data_type, AtomicType)  # noqa: S101 - checked when made
        if data_type.root is TypeRoot.INT:
            return fixed_values(times, np.int32).astype(np.int64)
        values = fixed_values(times, np.int64).astype(np.int64)
        if data_type.root is TypeRoot.BIGINT:
            return np.where(values >= _MIN_MILLIS, values // SECOND_MS, values)
        return values // _PER_SECOND[timestamp_unit(data_type.precision)]


def record_expiry(schema: TableSchema, options: TableOptions, now: int) -> RecordExpiry | None:
    """Return the record expiry configured by the options; None if records do not expire.

    Args:
        schema: schema of the table.
        options: effective options.
        now: epoch milliseconds.

    Raises:
        InvalidInputError: the time column is not configured or does not exist.
    """
    age = options.value(opt.RECORD_LEVEL_EXPIRE_TIME)
    if age is None or not schema.primary_keys:
        return None
    name = options.value(opt.RECORD_LEVEL_TIME_FIELD)
    column = None if name is None else schema.field(name)
    if column is None:
        key = opt.RECORD_LEVEL_TIME_FIELD.key
        raise InvalidInputError(
            f"Option {opt.RECORD_LEVEL_EXPIRE_TIME.key!r} requires a time column.",
            hint=f"Set the option {key!r} to a column of the table.",
        )
    oldest = now // SECOND_MS - age // SECOND_MS
    return RecordExpiry(schema=schema, column=column, oldest=oldest)
