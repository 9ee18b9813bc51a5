"""Rows that index files find, and scores of vectors: of distances and of stored vectors."""

from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np

from paimon_explore.data_types.arrow_buffers import Floats

Hit: TypeAlias = tuple[int, float]
"""Row in an index file, and score; higher is better."""

SCORES: Mapping[str, Callable[[float], float]] = {
    "l2": lambda distance: 1.0 / (1.0 + distance),
    "cosine": lambda distance: 1.0 - distance,
    "inner_product": lambda distance: -distance,
}
"""Metric -> score of a distance in an index, as in pypaimon 2.1."""


def exact_scores(query: Floats, vectors: Floats, metric: str) -> Floats:
    """Return the scores of stored vectors, the same as those of their distances.

    Args:
        query: d numbers.
        vectors: n by d numbers; one that is not finite may have no score, NaN.
        metric: one of `SCORES`.

    >>> exact_scores(np.array([1.0, 0.0]), np.array([[0.0, 1.0], [3.0, 4.0]]), "cosine").tolist()
    [0.0, 0.6]
    """
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        if metric == "l2":
            distances: Floats = np.square(vectors - query).sum(axis=1)
            return 1.0 / (1.0 + distances)
        products: Floats = (vectors * query).sum(axis=1)
        if metric == "inner_product":
            return products
        lengths = np.sqrt(np.square(vectors).sum(axis=1)) * np.sqrt(np.square(query).sum())
        return np.where(lengths == 0, 0.0, products / lengths)
