"""The scalar functions of the database `sys` of a catalog, which engines call with Arrow columns.

| function | value |
| --- | --- |
| `bucket(n, key, …)`, `mod_bucket`, `hive_bucket` | the bucket of a bucket key, of n buckets |

Spec: spark/sql-functions.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow import from_arrow
from paimon_explore.data_types.arrow_buffers import Column, fixed_values
from paimon_explore.encoding.bucket_function import BucketFunction, bucket_of
from paimon_explore.errors import InvalidInputError
from paimon_explore.write.input.arrow_cast import plain_form


def _bucket(function: BucketFunction, columns: Sequence[Column]) -> Column:
    if len(columns) < 2:  # noqa: PLR2004 - a number and a column
        raise InvalidInputError(
            "sys.bucket requires a number of buckets and at least one column.",
            hint="Write sys.bucket(10, id).",
        )
    numbers = fixed_values(columns[0].cast(pa.int32()), "i4")
    keys = [plain_form(column) for column in columns[1:]]
    types = [from_arrow(key.type) for key in keys]
    found = np.zeros(len(numbers), np.int32)
    for number in np.unique(numbers).tolist():
        found = np.where(numbers == number, bucket_of(keys, types, number, function), found)
    return pa.array(found)


BUCKET_FUNCTIONS: Mapping[str, Callable[[Sequence[Column]], Column]] = {
    "bucket": partial(_bucket, "default"),
    "mod_bucket": partial(_bucket, "mod"),
    "hive_bucket": partial(_bucket, "hive"),
}
"""Functions with any number of arguments that return INT."""
SYS_FUNCTIONS = (
    *("blob_view", *BUCKET_FUNCTIONS, "descriptor_to_string", "max_pt", "path_to_descriptor"),
)
"""The names of all functions of `sys`; `catalog_functions` replaces calls of the others."""
