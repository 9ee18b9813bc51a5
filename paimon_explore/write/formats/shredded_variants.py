"""Parquet files with shredded VARIANT columns.

Spec: option `variant.shreddingSchema`. Seen in: golden java200/variant_given.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.data_types.definitions import DataField, DataType, RowType, with_nullable
from paimon_explore.encoding.variant.shredding_writer import shred, shredded_type
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
        self._types = tuple(types.get(field.name) for field in fields)
        physical = [
            field if kind is None else replace(field, type=_physical_type(field, kind))
            for field, kind in zip(fields, self._types, strict=True)
        ]
        self._writer = open_file(physical)

    def write(self, columns: Sequence[Column]) -> None:
        """Write rows as one row group: one array per field, in `to_arrow` of its type."""
        self._writer.write(
            [
                column if kind is None else shred(column, kind)
                for column, kind in zip(columns, self._types, strict=True)
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


def _physical_type(field: DataField, kind: DataType) -> RowType:
    found = with_nullable(shredded_type(kind), nullable=field.type.nullable)
    assert isinstance(found, RowType)  # noqa: S101 - only nullability changed
    return found
