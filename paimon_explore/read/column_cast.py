"""Stored columns in the type that the schema of the read gives them.

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
    """A column of a data file in the type of a later schema, with Java's results.

    Integers wrap, floats saturate, decimals that do not fit become null, texts are cut and padded;
    rows are matched by field id.

    Args:
        array: n values of exactly `to_arrow(source)`.
        source: the type in the schema of the file.
        target: the type in the schema of the read.
        zone: the zone where TIMESTAMP_LTZ meets wall clocks; None for that of this process.
        path: the data file, for errors.
        where: the column, for errors.

    Returns:
        n values of exactly `to_arrow(target)`.

    Raises:
        CorruptFileError: a value, or every value, cannot be cast: the schema was changed to a type
            that the stored values do not have.

    >>> import pyarrow as pa
    >>> from paimon_explore.data_types.type_parser import parse_type_text
    >>> cast_array(pa.array([300]), parse_type_text("BIGINT"), parse_type_text("TINYINT"))[0]
    <pyarrow.Int8Scalar: 44>
    """
    try:
        return cast_column(array, source, target, zone)
    except UncastableError as error:
        raise CorruptFileError(path, where, error.reason) from error
