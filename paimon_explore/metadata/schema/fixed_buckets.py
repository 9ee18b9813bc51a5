"""Buckets of rows in tables with a fixed number of buckets.

Spec: concepts/spec/datafile, bucket section.
"""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimon_explore.data_types.definitions import AtomicType, DataType, TypeRoot, with_nullable
from paimon_explore.encoding.bucket_function import bucket_of
from paimon_explore.errors import InvalidInputError
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.schema.table_schema import TableSchema


def fixed_buckets(
    batch: pa.RecordBatch, schema: TableSchema, options: TableOptions
) -> npt.NDArray[np.int32]:
    """Return the bucket of each row by the table's bucket key and number of buckets.

    Raises:
        InvalidInputError: the table has no bucket key.
    """
    keys = schema.project(schema.bucket_keys)
    if not len(keys):
        raise InvalidInputError(
            "A table with fixed buckets and without primary key requires the option 'bucket-key'."
        )
    return bucket_of(
        [batch.column(column.name) for column in keys],
        [column.type for column in keys],
        options.value(opt.BUCKET),
        options.value(opt.BUCKET_FUNCTION).value,
    )


def has_rows_of_old_keys(schema: TableSchema, schemas: Iterable[TableSchema]) -> bool:
    """Return whether rows may be in other buckets than those of their bucket keys.

    The bucket key of an append table may change its type. Equal values of two types may have
    different hashes, but rows stay in their bucket, also in files that a compaction writes with the
    new type.

    Args:
        schema: the reading schema.
        schemas: all schemas of the table up to this one.
    """
    keys = {column.id: column.type for column in schema.project(schema.bucket_keys)}
    return any(
        column.id in keys and not _keeps_hash(column.type, keys[column.id])
        for other in schemas
        for column in other.fields
    )


def _keeps_hash(before: DataType, after: DataType) -> bool:
    """Whether a change of type keeps the bytes of all values: longer texts and bytes."""
    one, other = (with_nullable(kind, nullable=True) for kind in (before, after))
    if one == other or not isinstance(one, AtomicType) or not isinstance(other, AtomicType):
        return one == other
    is_same = one.root is other.root and one.root in {TypeRoot.VARCHAR, TypeRoot.VARBINARY}
    return is_same and (one.length or 0) <= (other.length or 0)
