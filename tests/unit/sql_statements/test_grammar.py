"""The grammars in the docstrings of the parsers, which the documentation shows, are complete."""

import ast
import inspect
import re
from types import ModuleType

import pytest

from paimon_explore.sql_statements import table_references
from paimon_explore.sql_statements.commands import (
    alter_table,
    copy_into,
    ddl_statements,
    dispatch,
    dml_statements,
    show_statements,
)

READS = {"takes", "takes_one", "expect", "expect_one"}
ELSEWHERE = {
    alter_table: {"BRANCH", "CHANGE", "COMMENT", "DAYS", "HOURS", "MINUTES", "SECONDS"},
    copy_into: {"COPY", "CSV", "JSON", "PARQUET", "TYPE"},
    ddl_statements: {"CREATE", "DROP", "REPLACE", "DATABASE", "SCHEMA", "NAMESPACE", "OR"},
    dml_statements: {"INSERT", "UPDATE", "DELETE", "WITH", "MERGE", "SET", "VALUES", "AS"},
    show_statements: {"SHOW", "DESC", "DESCRIBE", "USE", "ANALYZE"},
    dispatch: {"CALL", "DYNAMIC", "LOCATION", "STATIC"},
    table_references: {"WITH", "AT"},
}
"""Words of the grammar of each parser that another module reads."""
WORD = re.compile(r"\b[A-Z][A-Z_]+\b")
SAID_OTHERWISE = {"INSERT", "SELECT", "FROM", "VALUES", "TABLE", "UPDATE", "DELETE", "MERGE"} | {
    "TABLESAMPLE",
    "REPEATABLE",
}
"""Words by which a parser recognizes queries."""


def grammar(module: ModuleType) -> str:
    lines = (module.__doc__ or "").splitlines()
    return "\n".join(line for line in lines if line.startswith("    "))


def strings(node: ast.AST) -> set[str]:
    found = [n.value for n in ast.walk(node) if isinstance(n, ast.Constant)]
    return {word for text in found if isinstance(text, str) for word in WORD.findall(text)}


def read_words(module: ModuleType) -> set[str]:
    """The words that a parser asks for."""
    calls = [n for n in ast.walk(ast.parse(inspect.getsource(module))) if isinstance(n, ast.Call)]
    return {
        word
        for call in calls
        if isinstance(call.func, ast.Attribute) and call.func.attr in READS
        for argument in call.args
        for word in strings(argument)
    }


@pytest.mark.parametrize("module", [*ELSEWHERE], ids=lambda m: m.__name__.rpartition(".")[2])
def test_a_grammar_has_every_word_that_its_parser_reads(module: ModuleType) -> None:
    words = read_words(module)
    assert words
    known = {word for parser in ELSEWHERE for word in WORD.findall(grammar(parser))}
    assert words - known - SAID_OTHERWISE == set()


@pytest.mark.parametrize("module", [*ELSEWHERE], ids=lambda m: m.__name__.rpartition(".")[2])
def test_a_parser_reads_every_word_of_its_grammar(module: ModuleType) -> None:
    tree = ast.parse(inspect.getsource(module))
    tree.body = tree.body[1:]  # without the docstring
    words = set(WORD.findall(grammar(module)))
    assert words
    assert words - strings(tree) - ELSEWHERE[module] == set()


def test_every_statement_has_a_grammar() -> None:
    begins = {word for parser in ELSEWHERE for word in WORD.findall(grammar(parser))}
    assert set(dispatch.COMMANDS) <= begins
