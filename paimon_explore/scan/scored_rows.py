"""Rows with scores, the best first: results of searches, and how several of them are combined.

Rows with the same score are in the order of their numbers.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum

import numpy as np

from paimon_explore.data_types.arrow_buffers import Floats, Ints
from paimon_explore.frozen_dataclass import dataclass

_RANK_OFFSET = 60.0
"""Added to ranks in reciprocal rank fusion, so that the first ranks do not decide alone."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScoredRows:
    """Rows with their scores, the best first.

    Attributes:
        row_ids: n different row ids.
        scores: n scores; higher is better.
    """

    row_ids: Ints
    scores: Floats

    @classmethod
    def best(cls, row_ids: Iterable[int], scores: Iterable[float], limit: int) -> "ScoredRows":
        """The best of some rows; of a row that occurs twice the better score counts."""
        ids, values = np.asarray(row_ids, np.int64), np.asarray(scores, np.float64)
        order = np.lexsort((ids, -values))
        _, first = np.unique(ids[order], return_index=True)
        order = order[np.sort(first)][:limit]
        return cls(row_ids=ids[order], scores=values[order])

    @classmethod
    def merged(cls, parts: Sequence["ScoredRows"], limit: int) -> "ScoredRows":
        """The best rows of several results of the same query."""
        ids = np.concatenate([np.zeros(0, np.int64), *(part.row_ids for part in parts)])
        scores = np.concatenate([np.zeros(0, np.float64), *(part.scores for part in parts)])
        return cls.best(ids, scores, limit)


class Ranker(StrEnum):
    """How results of different queries are combined, as in pypaimon 2.1 and Java.

    Each rank counts from 1 and each contribution has the weight of its query.
    """

    RRF = "rrf"
    """Reciprocal rank fusion: 1 / (60 + rank)."""
    MRR = "mrr"
    """Reciprocal rank: 1 / rank."""
    WEIGHTED_SCORE = "weighted_score"
    """The score between 0 for the last and 1 for the first row of a result."""


def fused(
    results: Sequence[ScoredRows], weights: Sequence[float], ranker: Ranker, limit: int
) -> ScoredRows:
    """Combine the results of different queries.

    Args:
        results: of each query.
        weights: of each query, above 0.
        ranker: how they are combined.
        limit: maximum number of rows.

    >>> words = ScoredRows.best([7, 8], [3.0, 1.0], 10)
    >>> vectors = ScoredRows.best([8, 9], [0.9, 0.5], 10)
    >>> fused([words, vectors], [1.0, 1.0], Ranker.RRF, 2).row_ids.tolist()
    [8, 7]
    """
    total: dict[int, float] = {}
    for result, weight in zip(results, weights, strict=True):
        shares = _contributions(result.scores, weight, ranker).tolist()
        for row, share in zip(result.row_ids.tolist(), shares, strict=True):
            total[row] = total.get(row, 0.0) + share
    return ScoredRows.best(list(total), list(total.values()), limit)


def _contributions(scores: Floats, weight: float, ranker: Ranker) -> Floats:
    if ranker is Ranker.WEIGHTED_SCORE:
        spread = float(scores[0] - scores[-1]) if len(scores) else 0.0
        return weight * ((scores - scores[-1]) / spread if spread else np.ones(len(scores)))
    ranks = np.arange(1, len(scores) + 1, dtype=np.float64)
    found: Floats = weight / (ranks if ranker is Ranker.MRR else _RANK_OFFSET + ranks)
    return found
