"""What a kind of catalog does not have: lists are empty, and everything else is refused by name."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from paimon_explore.errors import NotFoundError, UnsupportedFeatureError
from paimon_explore.metastore.identifier import Identifier

if TYPE_CHECKING:
    from paimon_explore.metastore.view_values import (
        FunctionChange,
        FunctionInfo,
        PartitionInfo,
        ViewChange,
        ViewInfo,
    )


class Unsupported:
    """A catalog without views, functions and partitions; subclasses override what they have."""

    __slots__ = ()

    @property
    def kind(self) -> str:
        """The value of the option `metastore`, which messages name."""
        raise NotImplementedError

    def _refusal(self, what: str) -> UnsupportedFeatureError:
        return UnsupportedFeatureError(f"{what} in a catalog with metastore={self.kind!r}")

    def views(self, database: str, pattern: str | None = None) -> Iterator[str]:
        """Yield nothing."""
        del database, pattern
        yield from ()

    def view(self, wanted: Identifier) -> "ViewInfo":
        """Raise NotFoundError."""
        raise NotFoundError("view", wanted.table, wanted.database)

    def create_view(self, wanted: Identifier, view: "ViewInfo") -> bool:
        """Refuse."""
        del wanted, view
        raise self._refusal("creating a view")

    def alter_view(self, wanted: Identifier, changes: "Sequence[ViewChange]") -> None:
        """Raise NotFoundError."""
        del changes
        raise NotFoundError("view", wanted.table, wanted.database)

    def rename_view(self, source: Identifier, target: Identifier) -> None:
        """Raise NotFoundError."""
        del target
        raise NotFoundError("view", source.table, source.database)

    def drop_view(self, wanted: Identifier) -> bool:
        """Return False."""
        del wanted
        return False

    def functions(self, database: str, pattern: str | None = None) -> Iterator[str]:
        """Yield nothing."""
        del database, pattern
        yield from ()

    def function(self, wanted: Identifier) -> "FunctionInfo":
        """Raise NotFoundError."""
        raise NotFoundError("function", wanted.table, wanted.database)

    def create_function(self, wanted: Identifier, function: "FunctionInfo") -> bool:
        """Refuse."""
        del wanted, function
        raise self._refusal("creating a function")

    def alter_function(self, wanted: Identifier, changes: "Sequence[FunctionChange]") -> None:
        """Raise NotFoundError."""
        del changes
        raise NotFoundError("function", wanted.table, wanted.database)

    def drop_function(self, wanted: Identifier) -> bool:
        """Return False."""
        del wanted
        return False

    def partitions(
        self, wanted: Identifier, pattern: str | None = None
    ) -> "Iterator[PartitionInfo] | None":
        """Return None: the partitions of a table are those of its files."""
        del wanted, pattern
        return None

    def drop_partitions(self, wanted: Identifier, partitions: Sequence[Mapping[str, str]]) -> None:
        """Do nothing: partitions exist as long as they have rows."""

    def mark_partitions_done(
        self, wanted: Identifier, partitions: Sequence[Mapping[str, str]]
    ) -> None:
        """Refuse."""
        del wanted, partitions
        raise self._refusal("marking partitions as done")
