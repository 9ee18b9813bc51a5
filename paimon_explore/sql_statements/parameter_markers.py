"""Parameter markers in what a query says of its tables, whose views replace them.

An engine gets the values of all other markers. Those in arguments of table functions and in points
in time are evaluated before, so that the text gets their values as constants.
"""

from collections.abc import Mapping
from itertools import pairwise

from paimon_explore.errors import InvalidInputError
from paimon_explore.sql_statements.engine import Args
from paimon_explore.sql_statements.table_references import references_of, spliced
from paimon_explore.sql_statements.tokenizer import Kind, Token, tokens_of


def bound(source: str, args: Args) -> tuple[str, Args]:
    """Replace the markers of table references by constants.

    Returns:
        The text, and the values of the markers that are left.

    Raises:
        InvalidInputError: SQL has no constant for a value, or the number of values is wrong.
    """
    if not args:
        return source, args
    markers = _markers(source, args)
    ranges = [(one.start, one.end) for one in references_of(source)]
    inside = [one for one in markers if any(start <= one[0] < end for start, end in ranges)]
    if not inside:
        return source, args
    if not isinstance(args, Mapping) and len(markers) != len(args):
        raise InvalidInputError(
            f"The statement has {len(markers)} parameters, but {len(args)} values are given."
        )
    from paimon_explore.sql_statements.duckdb.dialect import constant  # noqa: PLC0415 - not without markers

    def value(key: str | int) -> object:
        return args[key]  # type: ignore[index]  # the key is that of a marker

    texts = [(start, end, constant(value(key)).sql(dialect="spark")) for start, end, key in inside]
    left = [key for *place, key in markers if (*place, key) not in inside]
    if not isinstance(args, Mapping):
        return spliced(source, texts), [value(key) for key in left]
    used = {key for *_, key in inside}.difference(left)
    return spliced(source, texts), {key: one for key, one in args.items() if key not in used}


def _markers(source: str, args: Args) -> list[tuple[int, int, str | int]]:
    """Start, end and key of each marker: its name, or its number."""
    tokens = tokens_of(source)
    if isinstance(args, Mapping):
        return [
            (one.start, other.end, other.text)
            for one, other in pairwise(tokens)
            if one.sign == ":" and other.kind is Kind.WORD and other.text in args
        ]
    signs: list[Token] = [one for one in tokens if one.sign == "?"]
    return [(one.start, one.end, at) for at, one in enumerate(signs)]
