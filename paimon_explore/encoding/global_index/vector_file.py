"""Vector index files, by the optional package `paimon-vindex`: one file per range of rows.

Seen in: files of pypaimon 2.1 and pypaimon-rust 0.4.
"""

from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from paimon_vindex import SearchParams, VectorIndexReader, VectorIndexTrainer, VectorIndexWriter
from pyroaring import BitMap64

from paimon_explore.encoding.global_index.search_scores import SCORES, Hit
from paimon_explore.encoding.native_libraries import PositionalSource, native_decoding
from paimon_explore.errors import CorruptFileError, InvalidInputError, choices

Vectors: TypeAlias = npt.NDArray[np.float32]

_WITH_VECTOR_COUNT = "ivf_"
_SEARCH_WIDTHS = {"ivf.nprobe": SearchParams.ivf, "diskann.l_search": SearchParams.diskann}
"""Options of a search, whose prefix is that of the index types that have them."""


class _Input:
    """The source with the name of the method that the library calls."""

    def __init__(self, source: PositionalSource) -> None:
        self._source = source

    def pread_many(self, ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        return [self._source.read_at(offset, length) for offset, length in ranges]


def encode_vectors(vectors: Vectors, rows: Sequence[int], options: Mapping[str, str]) -> bytes:
    """Return the index file of some rows.

    Args:
        vectors: n by d finite numbers, n at least 1.
        rows: n rows in the file's range, ascending.
        options: of the library, with the type of index, dimension and metric.

    Raises:
        InvalidInputError: the library refuses the options.
    """
    known = dict(options)
    if known["index.type"].startswith(_WITH_VECTOR_COUNT) and "nlist" not in known:
        known.setdefault("expected-vector-count", str(len(vectors)))
    try:
        with VectorIndexTrainer.create(known) as trainer:
            trainer.add_training_vectors(vectors)
            training = trainer.finish_training()
        with training, VectorIndexWriter(training) as writer:
            writer.add_vectors(np.asarray(rows, np.int64), vectors)
            output = BytesIO()
            writer.write(output)
    except (RuntimeError, ValueError) as error:
        raise InvalidInputError(f"The vector index cannot be built: {error}.") from error
    return output.getvalue()


def search_vectors(
    source: PositionalSource,
    path: str,
    vectors: Vectors,
    limit: int,
    allowed: BitMap64 | None,
    options: Mapping[str, object],
) -> tuple[str, list[list[Hit]]]:
    """Return the metric of an index file, and the nearest rows of each query.

    Args:
        source: the file.
        path: of the file, for errors.
        vectors: n queries of d numbers.
        limit: maximum number of rows for each.
        allowed: the only rows to return, at least one; None for all.
        options: `ivf.nprobe` or `diskann.l_search`; none for a width that the library chooses.

    Raises:
        CorruptFileError: the file is damaged.
        InvalidInputError: the vectors have another number of dimensions, or the type of the index
            has no such option.
    """
    with native_decoding(path, "vector index", source), VectorIndexReader(_Input(source)) as reader:
        known = reader.metadata()
        if vectors.shape[1] != known.dimension:
            raise InvalidInputError(
                f"The vector has {vectors.shape[1]} dimensions; those of the index have "
                f"{known.dimension}."
            )
        score = SCORES.get(known.metric)
        if score is None:
            raise CorruptFileError(path, "metric", f"must be one of {', '.join(SCORES)}")
        most = min(limit, known.total_vectors, *([] if allowed is None else [len(allowed)]))
        if not most:
            return known.metric, [[] for _ in vectors]
        kept = None if allowed is None else allowed.serialize()
        params = _search_params(most, options, known.index_type)
        if len(vectors) == 1:  # the batch search may visit other parts of the index
            found = reader.search(vectors[0], params, filter_bytes=kept)
        else:
            found = reader.search_batch(vectors, params, filter_bytes=kept)
    rows, distances = (np.asarray(part).reshape(len(vectors), -1).tolist() for part in found)
    return known.metric, [
        [(row, score(one)) for row, one in zip(*pair, strict=True) if row >= 0]
        for pair in zip(rows, distances, strict=True)
    ]


def _search_params(most: int, options: Mapping[str, object], index_type: str) -> SearchParams:
    valid = [name for name in _SEARCH_WIDTHS if index_type.startswith(name.partition(".")[0])]
    for name, width in options.items():
        if name not in valid or len(options) > 1:
            raise InvalidInputError(
                f"The option {name!r} is not valid for a search in an index of type {index_type}.",
                hint=f"Pass one option at most: {choices(valid)}.",
            )
        if not str(width).isdecimal() or not int(str(width)):
            raise InvalidInputError(
                f"The option {name!r} must be a positive integer, not {width!r}."
            )
        return _SEARCH_WIDTHS[name](most, int(str(width)))
    return SearchParams.automatic(most)
