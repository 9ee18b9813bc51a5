"""Full-text index files, by the optional package `paimon-ftindex`: one file per range of rows.

Seen in: files of pypaimon 2.1 and pypaimon-rust 0.4.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from io import BytesIO

from paimon_ftindex import FullTextIndexReader, FullTextIndexWriter
from pyroaring import BitMap64

from paimon_explore.encoding.global_index.search_scores import Hit
from paimon_explore.encoding.native_libraries import PositionalSource, native_decoding
from paimon_explore.errors import InvalidInputError


class _Reader(FullTextIndexReader):  # type: ignore[misc]  # has no types
    _ptr = None  # the library reads it even if a file could not be opened


class _Writer(FullTextIndexWriter):  # type: ignore[misc]  # has no types
    _ptr = None  # likewise, for options that are refused


class _Input:
    """The source with the name of the method that the library calls."""

    def __init__(self, source: PositionalSource) -> None:
        self.pread = source.read_at


def encode_full_text(
    texts: Iterable[str | None], rows: Sequence[int], options: Mapping[str, str]
) -> bytes:
    """Return the index file of some rows.

    Args:
        texts: of the rows; nulls are not in the index.
        rows: in the file's range, ascending.
        options: of the table, whose prefix `full-text.` is removed.

    Raises:
        InvalidInputError: an option is unknown to the library.
    """
    try:
        writer = _Writer(dict(options))
    except RuntimeError as error:
        raise InvalidInputError(f"The full-text index cannot be built: {error}.") from error
    with writer:
        for row, text in zip(rows, texts, strict=True):
            if text is not None:
                writer.add_document(row, text)
        output = BytesIO()
        writer.write(output)
    return output.getvalue()


def search_full_text(
    source: PositionalSource, path: str, query: str, limit: int, allowed: BitMap64 | None
) -> list[Hit]:
    """Return the best rows of an index file, the best first.

    Args:
        source: the file.
        path: of the file, for errors.
        query: the query of the library, as JSON.
        limit: maximum number of rows, at least 1.
        allowed: the only rows to return; None for all.

    Raises:
        CorruptFileError: the file cannot be opened.
        InvalidInputError: the query cannot be evaluated.
    """
    with native_decoding(path, "full-text index", source):
        reader = _Reader(_Input(source))
    with reader:
        try:
            kept = None if allowed is None else allowed.serialize()
            rows, scores = reader.search(query, limit=limit, filter_bytes=kept)
        except RuntimeError as error:
            if source.error is not None:
                raise source.error from None
            hint = 'Pass a text, or a query such as {"match": {"query": "some words"}}.'
            raise InvalidInputError(
                f"The full-text query {query} cannot be evaluated: {error}.", hint=hint
            ) from error
    return list(zip(rows, scores, strict=True))


def query_text(query: str | Mapping[str, object]) -> str:
    """Return a query as JSON: a text is matched word by word.

    >>> query_text("some words")
    '{"match": {"query": "some words"}}'
    """
    return json.dumps({"match": {"query": query}} if isinstance(query, str) else query)
