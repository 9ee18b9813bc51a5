"""Base class of writers whose files are deleted if the `with` block raises."""

from typing import Self


class AbortableWriter:
    """A writer that calls `abort` if its `with` block raises."""

    def abort(self) -> None:
        """Delete all files of this writer."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        """Return the writer."""
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Delete all files if the block raised."""
        if kind is not None:
            self.abort()
