"""Protection against path traversal: names must not escape their folder.

File names of manifests and data files come from metadata, which may be malicious; names of tags,
branches and consumers come from callers. Names from metadata are checked when they are decoded and
again when they are joined with a folder.
"""

from typing import Any

import numpy as np
import pyarrow as pa

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.arrow_buffers import Column, as_python, valid_mask, var_values
from paimon_explore.errors import CorruptFileError, InvalidInputError

FILE_NAME_RULE = "must be a valid file name (not empty, '.' or '..', and without '/', '\\' or NUL)"

_SEPARATORS = "/\\\0"
_SEPARATOR_BYTES = tuple(character.encode() for character in _SEPARATORS)
_MAX_DOTS = 2
_FORBIDDEN = frozenset("/\\:")


def escapes_folder(name: str) -> bool:
    """Return whether a name is not a valid file name or escapes the folder it is joined with.

    >>> escapes_folder("manifest-1"), escapes_folder("../manifest-1"), escapes_folder("..")
    (False, True, True)
    """
    return name in {"", ".", ".."} or "/" in name or "\\" in name or "\0" in name


def is_name_part(text: str) -> bool:
    """Return whether a text may be part of the names of new files, such as `data-file.prefix`.

    A colon is not allowed because Java parses the text before it as a URI scheme; a leading dot is
    not allowed because the file would be hidden.

    >>> is_name_part("data-"), is_name_part(""), is_name_part("a/b"), is_name_part("..")
    (True, True, False, False)
    """
    return text.isprintable() and not text.startswith(".") and _FORBIDDEN.isdisjoint(text)


def check_names(names: "Column | pa.ChunkedArray[Any]", path: str, where: str) -> None:
    """Check that file names do not escape their folder.

    The bytes of all names are searched at once, which is fast for valid names.

    Args:
        names: n names, or n lists of names; null is allowed.
        path: the file that contains the names.
        where: the field.

    Raises:
        CorruptFileError: a name escapes its folder.
    """
    for chunk in names.chunks if isinstance(names, pa.ChunkedArray) else [names]:
        texts = pc.list_flatten(chunk) if isinstance(chunk, pa.ListArray) else chunk
        if _suspicious(texts):
            for name in as_python(texts):
                if name is not None and escapes_folder(str(name)):
                    raise CorruptFileError(path, where, f"{FILE_NAME_RULE}, not {str(name)[:80]!r}")


def checked_name(kind: str, name: object) -> str:
    """Return a caller's name of an object that is stored in a file or folder of that name.

    Raises:
        InvalidInputError: the name escapes its folder.

    >>> checked_name("tag", "v1")
    'v1'
    """
    if not isinstance(name, str) or escapes_folder(name):
        hint = "Use a str that is not empty, '.' or '..' and contains no '/', '\\' or NUL."
        text = repr(name[:80] if isinstance(name, str) else name)
        raise InvalidInputError(f"{text} cannot be the name of a {kind}.", hint=hint)
    return name


def _suspicious(texts: Column) -> bool:
    """Return whether any name may be invalid: it is short, or the bytes contain a separator."""
    if len(texts) == texts.null_count:
        return False
    offsets, data = var_values(
        texts
    )  # numpy, because Arrow functions with Python numbers import pandas
    short = np.diff(offsets) <= _MAX_DOTS
    if short.any() and (short & valid_mask(texts)).any():
        return True
    content = data.tobytes()
    return any(found in content for found in _SEPARATOR_BYTES)
