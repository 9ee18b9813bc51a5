"""Buckets of rows in tables with a fixed number of buckets.

Spec: concepts/spec/datafile, bucket section.
"""

import numpy as np
import numpy.typing as npt
import pyarrow as pa

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
