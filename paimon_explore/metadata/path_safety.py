"""Names that become paths: none may lead out of its folder.

Names of manifests, data files and the like come out of metadata, which may be hostile; names of
tags, branches and consumers come from callers. Both are checked here, the former where they are
decoded and once more where they are joined with a folder.
"""

from typing import Any

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import Column, as_python, valid_mask, var_values
from paimon_explore.errors import CorruptFileError, InvalidInputError

RULE = "a file name has no separator and no NUL in it, and is not '', '.' or '..'"

_OUTWARD = "/\\\0"
_OUTWARD_BYTES = tuple(character.encode() for character in _OUTWARD)
_LONGEST_DOTS = 2
_APART = frozenset("/\\:")


def leads_out(name: str) -> bool:
    """Whether a name is none, or leads out of the folder it is joined with.

    >>> leads_out("manifest-1"), leads_out("../manifest-1"), leads_out("..")
    (False, True, True)
    """
    return name in {"", ".", ".."} or "/" in name or "\\" in name or "\0" in name


def is_name_part(text: str) -> bool:
    """Whether a text may be part of the names of new files, such as `data-file.prefix`.

    A colon is left out because Java takes what precedes it for the scheme of a path, and a leading
    dot because it would make the file a hidden one.

    >>> is_name_part("data-"), is_name_part(""), is_name_part("a/b"), is_name_part("..")
    (True, True, False, False)
    """
    return text.isprintable() and not text.startswith(".") and _APART.isdisjoint(text)


def check_names(names: "Column | pa.ChunkedArray[Any]", path: str, where: str) -> None:
    """Refuse file names that lead out of their folder.

    The bytes of all names are searched at once, so that good names cost next to nothing.

    Args:
        names: n names, or n lists of names; null is let pass.
        path: the file that has them.
        where: the field.

    Raises:
        CorruptFileError: a name leads out.
    """
    for chunk in names.chunks if isinstance(names, pa.ChunkedArray) else [names]:
        texts = chunk.flatten() if isinstance(chunk, pa.ListArray) else chunk
        if _suspicious(texts):
            for name in as_python(texts):
                if name is not None and leads_out(str(name)):
                    raise CorruptFileError(path, where, f"{RULE}: {str(name)[:80]!r}")


def checked_name(kind: str, name: object) -> str:
    """A name that a caller gave for something that lies in a file or folder of that name.

    Raises:
        InvalidInputError: it leads out of its folder.

    >>> checked_name("tag", "v1")
    'v1'
    """
    if not isinstance(name, str) or leads_out(name):
        hint = "A name must be a string that is not empty and contains no '/', '\\' or NUL."
        raise InvalidInputError(f"{shortened(name)} cannot be the name of a {kind}.", hint=hint)
    return name


def shortened(value: object) -> str:
    """A value in a message, as text of limited length."""
    return repr(value[:80] if isinstance(value, str) else value)


def _suspicious(texts: Column) -> bool:
    """Whether any name may lead out: a short one, or a separator somewhere in the bytes."""
    if len(texts) == texts.null_count:
        return False
    offsets, data = var_values(texts)  # by numpy: a Python number in Arrow's functions loads pandas
    short = np.diff(offsets) <= _LONGEST_DOTS
    if short.any() and (short & valid_mask(texts)).any():
        return True
    content = data.tobytes()
    return any(found in content for found in _OUTWARD_BYTES)
