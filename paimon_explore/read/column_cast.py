"""Casts of stored columns to the types of the reading schema.

Spec: concepts/schema evolution. The casts themselves are in `data_types.casts.cast_column`.
"""

from datetime import tzinfo

from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.data_types.casts.cast_column import cast_column
from paimon_explore.data_types.casts.cast_errors import UncastableError
from paimon_explore.data_types.definitions import DataType
from paimon_explore.errors import CorruptFileError


def cast_array(
    array: Column,
    source: DataType,
    target: DataType,
    *,
    zone: tzinfo | None = None,
    path: str = "",
    where: str = "value",
) -> Column:
    """Casts a column of a data file to the type of a later schema, with Java's results.

    Integers wrap, floats saturate, decimals that do not fit become null, texts are truncated and
    padded; fields of rows are matched by id.

    Args:
        array: n values of exactly `to_arrow(source)`.
        source: the type in the file's schema.
        target: the type in the reading schema.
        zone: for casts between TIMESTAMP_LTZ and wall clock times; None for the process's zone.
        path: the data file, for errors.
        where: the column, for errors.

    Returns:
        n values of exactly `to_arrow(target)`.

    Raises:
        CorruptFileError: a value cannot be cast, or the type was changed to an incompatible one.

    >>> import pyarrow as pa
    >>> from paimon_explore.data_types.type_parser import parse_type_text
    >>> cast_array(pa.array([300]), parse_type_text("BIGINT"), parse_type_text("TINYINT"))[0]
    <pyarrow.Int8Scalar: 44>
    """
    try:
        return cast_column(array, source, target, zone)
    except UncastableError as error:
        raise CorruptFileError(path, where, error.reason) from error
