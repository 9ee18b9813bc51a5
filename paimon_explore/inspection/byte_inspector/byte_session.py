"""The byte inspector without a screen: files that are looked at, and the answers to a front end."""

from dataclasses import field

import numpy as np

from paimon_explore.data_types.arrow_buffers import Numbers
from paimon_explore.errors import InvalidInputError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.byte_inspector.byte_layout import MOST_HEX_BYTES, ByteMap

_KEPT_FILES = 4


@dataclass(slots=True)
class ByteDesk:
    """The files that a front end has open, the newest few of them.

    Attributes:
        files: by the number under which the front end knows them.
    """

    files: dict[int, ByteMap] = field(default_factory=dict)
    _next: int = 1

    def put(self, found: ByteMap) -> dict[str, object]:
        """Lay down a file; what the front end gets of it."""
        handle = self._next
        self._next += 1
        self.files = dict([*self.files.items(), (handle, found)][-_KEPT_FILES:])
        return {**found.figures(), "handle": handle, "code": found.code.python}

    def fields(self, handle: int, path: str, first: int) -> dict[str, object]:
        """A page of the fields below one.

        Raises:
            InvalidInputError: the file is not open any more, or has no such field.
        """
        page, total = self._file(handle).children(path, first)
        return {"fields": [place.state() for place in page], "total": total}

    def at(self, handle: int, within: str, offset: int) -> dict[str, object]:
        """The fields that hold a byte, from the whole down to the leaf.

        Raises:
            InvalidInputError: there is no such file, space or byte.
        """
        return self._file(handle).at(offset, within).figures()

    def data(self, handle: int, within: str, offset: int, length: int) -> Numbers:
        """Some bytes.

        Raises:
            InvalidInputError: there is no such file or space, or it is too much at once.
        """
        if length > MOST_HEX_BYTES:
            raise InvalidInputError(f"At most {MOST_HEX_BYTES:,} bytes can be requested at once.")
        return np.frombuffer(self._file(handle).read(offset, length, within), np.uint8)

    def _file(self, handle: int) -> ByteMap:
        found = self.files.get(handle)
        if found is None:
            raise InvalidInputError("The file is no longer open.", hint="Choose it again.")
        return found
