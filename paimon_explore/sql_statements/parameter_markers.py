"""Parameter markers: `?`, or `:name`, and their values as constants of SQL.

An engine gets the values of the markers of a query, except for those in what a query says of its
tables, whose views replace it. Those, and the markers of other statements, become constants.
"""

from collections.abc import Callable, Mapping, Sequence

from paimon_explore.sql_statements.engine import Args
from paimon_explore.sql_statements.parameter_values import check_used, value_of
from paimon_explore.sql_statements.table_references import references_of, spliced
from paimon_explore.sql_statements.tokenizer import Kind, Token, tokens_of

_ENDS = frozenset({":", ")", "]"})
"""Signs after which a colon leads into a VARIANT, or casts."""


def with_constants(source: str, args: Args) -> str:
    """Replace all markers of a statement by constants.

    Raises:
        InvalidInputError: as for `value_of` and `check_used`, or SQL has no constant for a value.
    """
    if not args:
        return source
    markers = _markers(source, args)
    text = _spliced(source, markers, value_of(args, len(markers)))
    check_used(args, [key for *_, key in markers])
    return text


def bound(source: str, args: Args) -> tuple[str, Args]:
    """Replace the markers of table references by constants.

    Returns:
        The text, and the values of the markers that are left.

    Raises:
        InvalidInputError: as for `value_of`, or SQL has no constant for a value.
    """
    if not args:
        return source, args
    markers = _markers(source, args)
    ranges = [(one.start, one.end) for one in references_of(source)]
    inside = [one for one in markers if any(start <= one[0] < end for start, end in ranges)]
    if not inside:
        return source, args
    value = value_of(args, len(markers))
    text = _spliced(source, inside, value)
    left = [one[-1] for one in markers if one not in inside]
    if not isinstance(args, Mapping):
        return text, [value(key) for key in left]
    used = {key for *_, key in inside}.difference(left)
    return text, {key: one for key, one in args.items() if key not in used}


_Marker = tuple[int, int, str]
"""Start, end and key: the name, or `_` and the number."""


def named_markers(source: str) -> list[_Marker]:
    """The markers `:name` of a statement; not the colons of structs, VARIANT paths and casts."""
    tokens = tokens_of(source)
    return [
        (colon.start, name.end, name.text)
        for before, colon, name in zip(tokens, tokens[1:], tokens[2:], strict=False)
        if colon.sign == ":"
        and name.kind is Kind.WORD
        and name.start == colon.end
        and before.sign not in _ENDS
        and (before.sign or before.end < colon.start)
    ]


def _markers(source: str, args: Args) -> list[_Marker]:
    if isinstance(args, Mapping):
        return named_markers(source)
    signs: list[Token] = [one for one in tokens_of(source) if one.sign == "?"]
    return [(one.start, one.end, f"_{at}") for at, one in enumerate(signs)]


def _spliced(source: str, markers: Sequence[_Marker], value: Callable[[str], object]) -> str:
    from paimon_explore.sql_statements.duckdb.constants import constant_text  # noqa: PLC0415 - not without values

    return spliced(source, [(start, end, constant_text(value(key))) for start, end, key in markers])
