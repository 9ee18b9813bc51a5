"""Messages of errors are sentences."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "paimon_explore"
SENTENCES = {
    *("InvalidInputError", "SpanLimitError", "FormatError", "SnapshotExpiredError"),
    *("CommitError", "CommitConflictError", "CommitOutcomeUnknownError", "StaleRecordsError"),
}
ARGUMENT = re.compile(r"[a-z_]+ must ")
"""A sentence about an argument begins with its name."""


def text_of(node: ast.expr) -> str | None:
    """The text of a literal, with {} for what is filled in; None for anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        parts = [part.value if isinstance(part, ast.Constant) else "{}" for part in node.values]
        return "".join(map(str, parts))
    return None


def messages() -> Iterator[tuple[str, str]]:
    """Where an error is made, and its message."""
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            text = text_of(node.args[0]) if node.args and node.func.id in SENTENCES else None
            if text is not None:
                yield f"{path.relative_to(PACKAGE)}:{node.lineno}", text


def is_sentence(text: str) -> bool:
    """Whether the text ends as a sentence, and does not begin in the middle of one."""
    is_fragment = re.match("[a-z]+ [a-z]", text) and not ARGUMENT.match(text)
    return text.endswith((".", "?", "{}")) and not is_fragment


def test_what_is_no_sentence_is_found() -> None:
    assert is_sentence("Column {} is missing.")
    assert is_sentence("limit must be at least 1, not {}.")
    assert not is_sentence("Column {} is missing")
    assert not is_sentence("a column is missing.")


def test_messages_are_sentences() -> None:
    found = list(messages())
    assert len(found) > 300
    assert [f"{place} {text}" for place, text in found if not is_sentence(text)] == []
