"""The files open in the byte inspector, and the answers to requests of its front end."""

from dataclasses import field

import numpy as np

from paimon_explore.data_types.arrow_buffers import Numbers
from paimon_explore.errors import InvalidInputError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.byte_inspector.byte_layout import MAX_HEX_BYTES, ByteLayout

_KEPT_FILES = 4


@dataclass(slots=True)
class ByteSession:
    """The latest files that a front end has opened.

    Attributes:
        files: the layouts by the number that the front end uses.
    """

    files: dict[int, ByteLayout] = field(default_factory=dict)
    _next: int = 1

    def put(self, found: ByteLayout) -> dict[str, object]:
        """Open a file; returns the answer to the front end."""
        handle = self._next
        self._next += 1
        self.files = dict([*self.files.items(), (handle, found)][-_KEPT_FILES:])
        return {**found.figures(), "handle": handle, "code": found.code.python}

    def fields(self, handle: int, path: str, first: int) -> dict[str, object]:
        """A page of the children of a field.

        Raises:
            InvalidInputError: the file is no longer open, or the field does not exist.
        """
        page, total = self._file(handle).children(path, first)
        return {"fields": [place.state() for place in page], "total": total}

    def at(self, handle: int, within: str, offset: int) -> dict[str, object]:
        """The fields that contain a byte, from the root to the leaf.

        Raises:
            InvalidInputError: the file, space or byte does not exist.
        """
        return self._file(handle).at(offset, within).figures()

    def data(self, handle: int, within: str, offset: int, length: int) -> Numbers:
        """A range of bytes.

        Raises:
            InvalidInputError: the file or space does not exist, or the range is too long.
        """
        if length > MAX_HEX_BYTES:
            raise InvalidInputError(f"At most {MAX_HEX_BYTES:,} bytes can be requested at once.")
        return np.frombuffer(self._file(handle).read(offset, length, within), np.uint8)

    def _file(self, handle: int) -> ByteLayout:
        found = self.files.get(handle)
        if found is None:
            raise InvalidInputError("The file is no longer open.", hint="Select the file again.")
        return found
