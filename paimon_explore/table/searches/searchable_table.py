"""The methods of a table that search full-text and vector indexes."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pyarrow as pa

from paimon_explore.arguments import integer, string
from paimon_explore.errors import InvalidInputError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.table import lazy_types as types
from paimon_explore.table.table_read import ReadableTable


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SearchableTable(ReadableTable):
    """A table with searches in its global indexes."""

    def full_text_search(
        self,
        column: str,
        query: str | Mapping[str, object],
        limit: int = 10,
        *,
        columns: Iterable[str] | None = None,
        where: "types.Where | None" = None,
    ) -> pa.Table:
        """Find the rows whose text matches best, by a full-text index.

        Rows that were written after the index was built are not found until it is built again.
        Needs the extra `full-text`.

        Args:
            column: the indexed column.
            query: words, or a query of the library such as `{"match": {"query": "some words"}}`.
            limit: maximum number of rows.
            columns: the columns of the result; None for all.
            where: a filter, as for `scan`; it is applied before rows are ranked.

        Returns:
            The rows, the best first, with the column `_SCORE`: higher is better.

        Raises:
            NotFoundError: the column has no full-text index.
            InvalidInputError: unknown columns, or a query that cannot be evaluated.
            UnsupportedFeatureError: the extra is not installed, the catalog restricts rows or
                columns, or updates leave the index outdated.
            CorruptFileError: an index file is damaged.

        >>> import paimon_explore as pe
        >>> try:
        ...     pe.demo().table("demo.orders").full_text_search("city", "Oslo")
        ... except pe.errors.NotFoundError as error:
        ...     print(error.kind, error.name)
        index city
        """
        from paimon_explore.scan.search_indexes import IndexQuery
        from paimon_explore.table.searches.index_search import searched_rows

        asked = IndexQuery(
            column=string("column", column),
            limit=integer("limit", limit, minimum=1),
            words=query if isinstance(query, Mapping) else string("query", query),
        )
        return searched_rows(self._target(), asked, columns, where)

    def vector_search(
        self,
        column: str,
        vector: Sequence[float],
        limit: int = 10,
        *,
        columns: Iterable[str] | None = None,
        where: "types.Where | None" = None,
    ) -> pa.Table:
        """Find the rows with the nearest vectors, by a vector index.

        The search is approximate, as the type of the index determines. Rows that were written after
        the index was built are not found until it is built again. Needs the extra `vindex`.

        Args:
            column: the indexed column.
            vector: as many numbers as the vectors of the column have.
            limit: maximum number of rows.
            columns: the columns of the result; None for all.
            where: a filter, as for `scan`; it is applied before rows are ranked.

        Returns:
            The rows, the nearest first, with the column `_SCORE`: 1 / (1 + distance) for the metric
            `l2`, the cosine for `cosine`, the product for `inner_product`.

        Raises:
            NotFoundError: the column has no vector index.
            InvalidInputError: unknown columns, or a vector with another number of dimensions.
            UnsupportedFeatureError: as for `full_text_search`.
            CorruptFileError: an index file is damaged.

        >>> import paimon_explore as pe
        >>> try:
        ...     pe.demo().table("demo.orders").vector_search("amount", [0.5, 1.5])
        ... except pe.errors.NotFoundError as error:
        ...     print(error.kind, error.name)
        index amount
        """
        from paimon_explore.scan.search_indexes import IndexQuery
        from paimon_explore.table.searches.index_search import searched_rows

        try:
            numbers = np.asarray(vector, np.float32)
        except (TypeError, ValueError) as error:
            raise InvalidInputError(f"The vector must be numbers: {error}.") from error
        if numbers.ndim != 1 or not np.isfinite(numbers).all():
            raise InvalidInputError("The vector must be a list of finite numbers.")
        asked = IndexQuery(
            column=string("column", column),
            limit=integer("limit", limit, minimum=1),
            vector=numbers,
        )
        return searched_rows(self._target(), asked, columns, where)
