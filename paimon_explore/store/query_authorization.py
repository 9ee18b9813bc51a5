"""Rules of a catalog about who may read which rows and values of a table.

A table with the option `query-auth.enabled` is read only after its catalog was asked. Its answer
names conditions that rows must fulfil, and columns whose values are replaced (masked).

Spec: concepts/rest/rest-api, `authTableQuery`; option `query-auth.enabled`.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import field

from paimon_explore.errors import UnsupportedFeatureError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.options.table_options import QUERY_AUTH_ENABLED
from paimon_explore.store.table_store import TableStore

_ENABLED = QUERY_AUTH_ENABLED.key


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryRules:
    """The rules of one query, as JSON texts in the form of Java's `Predicate` and `Transform`.

    Attributes:
        filters: conditions that each row must fulfil.
        masks: the value of a column instead of the stored one, by its name.
    """

    filters: tuple[str, ...] = ()
    masks: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Whether all rows and values may be read."""
        return not self.filters and not self.masks


class QueryAuthorization(ABC):
    """A catalog that decides who may read what of a table."""

    __slots__ = ()

    @abstractmethod
    def authorize_query(self, branch: str, columns: Sequence[str]) -> QueryRules:
        """Return the rules for reading columns.

        Raises:
            AccessDeniedError: the columns may not be read.
        """


def query_authorization(
    environment: object, *options: Mapping[str, str]
) -> QueryAuthorization | None:
    """Return the catalog to ask before a table is read; None if all of it may be read.

    Args:
        environment: the table's connection to its catalog, if any.
        options: the stored options and those of the read: a read cannot disable the rules.
    """
    if environment is None or not isinstance(environment, QueryAuthorization):
        return None
    enabled = any(texts.get(_ENABLED, "").strip().lower() == "true" for texts in options)
    return environment if enabled else None


def check_unrestricted(
    store: TableStore, columns: Sequence[str], *options: Mapping[str, str]
) -> None:
    """Check that the catalog of a table allows to read columns of all rows as they are stored.

    Raises:
        AccessDeniedError: the columns may not be read.
        UnsupportedFeatureError: the catalog restricts which rows or values may be read.
    """
    catalog = query_authorization(store.environment, *options)
    if catalog is not None and not catalog.authorize_query(store.paths.branch, columns).is_empty:
        raise UnsupportedFeatureError(
            "this way of reading a table whose rows or values are restricted by the catalog",
            store.paths.root,
            hint="Read the table with scan() or to_arrow(), which apply the rules.",
        )
