"""The compression codec of a data file, as its format names it."""

from collections.abc import Mapping
from typing import TypeVar

from paimon_explore.errors import InvalidInputError, choices

T = TypeVar("T")


def chosen_codec(codecs: Mapping[str, T], compression: str, file_format: str) -> T:
    """Return a format's codec for the value of `file.compression`.

    Args:
        codecs: the codecs of the format by the names in the option.
        compression: the value of the option.
        file_format: the name of the format, for the error.

    Raises:
        InvalidInputError: files of the format do not support the compression.
    """
    codec = codecs.get(compression.lower())
    if codec is None:
        raise InvalidInputError(
            f"{compression!r} is not a compression codec for {file_format} files.",
            hint=f"Set file.compression to one of {choices(codecs)}.",
        )
    return codec
