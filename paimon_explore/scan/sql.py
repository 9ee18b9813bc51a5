"""Predicates from SQL text."""

from paimon_explore.scan.builder import Term
from paimon_explore.scan.expression import Expression


def parse_where(text: str) -> Expression:
    """The condition of a WHERE clause, without the word WHERE.

    Raises:
        InvalidInputError: the text is no condition, or uses what a scan cannot evaluate; the
            message names the part, its position and what may be written.
    """
    ...


def predicate(where: str | Term | Expression) -> Expression:
    """The tree of SQL text, of a term, or of a tree itself.

    Raises:
        InvalidInputError: see `parse_where`.
    """
    ...
