"""The prompt for SQL, with history and completion of tables, columns and keywords."""

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory

from paimon_explore.command_line.sql.catalog_tables import CatalogTables
from paimon_explore.errors import PaimonError
from paimon_explore.sanitize import visible

HISTORY = ".paimon_explore_history"
"""Name of the history file in the home folder."""
_WORD = re.compile(r"[\w.$]*$")
_NAMES = re.compile(r"[\w$]+(?:\.[\w$]+)?")
_KEYWORDS = (
    *("SELECT", "FROM", "WHERE", "GROUP BY", "ORDER BY", "HAVING", "LIMIT", "JOIN", "LEFT JOIN"),
    *("ON", "USING", "AS", "AND", "OR", "NOT", "IN", "IS NULL", "BETWEEN", "LIKE", "DISTINCT"),
    *("COUNT", "SUM", "AVG", "MIN", "MAX", "CASE", "WHEN", "THEN", "ELSE", "END", "WITH"),
    *("UNION ALL", "DESCRIBE", "SHOW TABLES", "EXPLAIN", "CAST", "DATE", "TIMESTAMP", "DESC"),
    *("VERSION AS OF", "TIMESTAMP AS OF", "INSERT INTO", "UPDATE", "SET", "DELETE FROM", "VALUES"),
    *("MERGE INTO", "CREATE TABLE", "ALTER TABLE", "DROP TABLE", "TRUNCATE TABLE", "CALL sys."),
)
_MAX_SHOWN = 100


class SqlCompleter(Completer):
    """Completes names of tables, columns of the tables that the text names, and keywords.

    Args:
        tables: the tables; their names are listed once.
    """

    def __init__(self, tables: CatalogTables) -> None:
        self._tables = tables
        self._names: list[str] | None = None
        self._columns: dict[str, tuple[str, ...]] = {}

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterable[Completion]:
        """Yield the completions of the word before the cursor."""
        del complete_event
        word = _WORD.search(document.text_before_cursor)
        begun = "" if word is None else word.group()
        if not begun:
            return
        for name in self.candidates(document.text, begun):
            yield Completion(name, start_position=-len(begun), display=visible(name))

    def candidates(self, text: str, begun: str) -> list[str]:
        """Return what a word can become: a keyword if no name begins with it.

        Args:
            text: the whole text of the prompt.
            begun: the first characters of the word.
        """
        names = dict.fromkeys((*self._known_columns(text), *self._known_names()))
        start = begun.lower()
        found = [name for name in names if name.lower().startswith(start)]
        found = found or [word for word in _KEYWORDS if word.lower().startswith(start)]
        return found[:_MAX_SHOWN]

    def _known_names(self) -> list[str]:
        if self._names is None:
            try:
                self._names = self._tables.names()
            except PaimonError:  # the prompt works without completion
                self._names = []
        return self._names

    def _known_columns(self, text: str) -> Iterator[str]:
        mentioned = {name.lower() for name in _NAMES.findall(text)}
        for name in self._known_names():
            if name.lower() in mentioned:
                yield from self._columns_of(name)

    def _columns_of(self, name: str) -> tuple[str, ...]:
        if name not in self._columns:
            try:
                self._columns[name] = tuple(self._tables.open(name).schema.names)
            except PaimonError:  # as above
                self._columns[name] = ()
        return self._columns[name]


def statements_of_prompt(tables: CatalogTables) -> Iterator[str]:
    """Read statements from the terminal until Ctrl+D or `.quit`.

    A statement ends with `;`, and may have several lines.
    """
    history = Path.home() / HISTORY
    history.touch(mode=0o600)
    session: PromptSession[str] = PromptSession(
        history=FileHistory(str(history)),
        completer=SqlCompleter(tables),
        complete_while_typing=False,
        enable_history_search=True,
    )
    yield from complete_statements(session.prompt)


def complete_statements(ask: Callable[[str], str]) -> Iterator[str]:
    """Join lines to statements.

    Args:
        ask: reads a line after a prompt; raises `EOFError` at the end, and `KeyboardInterrupt` to
            discard the statement.
    """
    waiting = ""
    while True:
        try:
            line = ask("   ...> " if waiting else "paimon> ")
        except KeyboardInterrupt:
            waiting = ""
            continue
        except EOFError:
            return
        word = line.strip().rstrip(";").lower()
        if not waiting and word in {".quit", ".exit", "quit", "exit"}:
            return
        if not waiting and word.startswith("."):
            yield word
            continue
        waiting = f"{waiting}\n{line}".strip()
        if waiting.endswith(";"):
            yield waiting
            waiting = ""
