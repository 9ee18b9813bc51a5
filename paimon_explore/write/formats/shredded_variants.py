"""Parquet files with shredded VARIANT columns.

Spec: options `variant.shreddingSchema` and `variant.inferShreddingSchema`. Seen in: golden
java200/variant_given, java200/variant_inferred.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.data_types.definitions import DataField, DataType
from paimon_explore.encoding.variant.shredding_inference import InferenceLimits, inferred_types
from paimon_explore.encoding.variant.shredding_writer import physical_type, shred_column
from paimon_explore.write.formats.parquet_format import ParquetWriter
from paimon_explore.write.formats.shredded_parquet import ShreddedParquetWriter


class ShreddedVariantWriter:
    """Writes one Parquet file with shredded variants.

    Args:
        fields: the columns with their ids.
        types: the types by which columns are shredded.
        open_file: opens the file of columns.
    """

    def __init__(
        self,
        fields: Sequence[DataField],
        types: Mapping[str, DataType],
        open_file: Callable[[Sequence[DataField]], ParquetWriter | ShreddedParquetWriter],
    ) -> None:
        self._fields = [(field.type, types.get(field.name)) for field in fields]
        physical = [
            field if kind is None else replace(field, type=physical_type(field.type, kind))
            for field, (_, kind) in zip(fields, self._fields, strict=True)
        ]
        self._writer = open_file(physical)

    def write(self, columns: Sequence[Column]) -> None:
        """Write rows as one row group: one array per field, in `to_arrow` of its type."""
        self._writer.write(
            [
                column if kind is None else shred_column(column, logical, kind)
                for column, (logical, kind) in zip(columns, self._fields, strict=True)
            ]
        )

    def position(self) -> int:
        """Return the number of bytes written."""
        return self._writer.position()

    def close(self) -> None:
        """Write the footer."""
        self._writer.close()

    def abort(self) -> None:
        """Discard the writer and its pending bytes."""
        self._writer.abort()


class InferredVariantWriter:
    """Writes one Parquet file, whose first rows decide how variants are shredded.

    Args:
        fields: the columns with their ids.
        limits: limits of the inferred types.
        sample_rows: how many rows are kept until the file is opened.
        open_file: opens the file of columns.
    """

    def __init__(
        self,
        fields: Sequence[DataField],
        limits: InferenceLimits,
        sample_rows: int,
        open_file: Callable[[Sequence[DataField]], ParquetWriter | ShreddedParquetWriter],
    ) -> None:
        self._fields = fields
        self._limits = limits
        self._missing = sample_rows
        self._open_file = open_file
        self._sample: list[list[Column]] = [[] for _ in fields]
        self._waiting: list[Sequence[Column]] = []
        self._writer: ShreddedVariantWriter | None = None

    def write(self, columns: Sequence[Column]) -> None:
        """Write rows: one array per field, in `to_arrow` of its type."""
        if self._writer is not None:
            self._writer.write(columns)
            return
        self._waiting.append(columns)
        for parts, column in zip(self._sample, columns, strict=True):
            parts.append(column.slice(0, max(self._missing, 0)))
        self._missing -= len(columns[0])
        if self._missing <= 0:
            self._opened()

    def _opened(self) -> ShreddedVariantWriter:
        if self._writer is None:
            sample: list[Column] = [pa.concat_arrays(parts) for parts in self._sample if parts]
            fields = self._fields if sample else ()
            types = inferred_types(sample, fields, self._limits)
            self._writer = ShreddedVariantWriter(self._fields, types, self._open_file)
            for columns in self._waiting:
                self._writer.write(columns)
            self._sample, self._waiting = [], []
        return self._writer

    def position(self) -> int:
        """Return the number of bytes written."""
        return 0 if self._writer is None else self._writer.position()

    def close(self) -> None:
        """Write the footer."""
        self._opened().close()

    def abort(self) -> None:
        """Discard the writer and its pending bytes."""
        if self._writer is not None:
            self._writer.abort()
