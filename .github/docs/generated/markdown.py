"""Tables and code blocks in Markdown."""

from collections.abc import Iterable, Sequence


def grid(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table.

    Args:
        head: titles of the columns.
        rows: the cells; `|` is escaped.
    """
    lines = [_line(head), _line(["---"] * len(head)), *map(_line, rows)]
    return "\n".join([*lines, ""])


def _line(cells: Sequence[object]) -> str:
    texts = (str(cell).replace("|", "\\|").replace("\n", " ") for cell in cells)
    return f"| {' | '.join(texts)} |"


def code(text: object) -> str:
    """Return text as code."""
    return f"`{text}`"


def block(text: str, language: str = "text") -> str:
    """Return a block of code."""
    return f"```{language}\n{text.rstrip()}\n```\n"
