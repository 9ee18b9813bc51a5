"""The syntax of SQL statements, from the docstrings of the modules that parse them."""

import textwrap
from types import ModuleType

from generated.markdown import block
from paimon_explore.sql_statements import table_references
from paimon_explore.sql_statements.commands import (
    alter_table,
    copy_into,
    ddl_statements,
    dispatch,
    dml_statements,
    show_statements,
)

PARSERS = {
    "Tables in a query": (table_references,),
    "Rows": (dml_statements,),
    "Files": (copy_into,),
    "Tables and databases": (ddl_statements,),
    "Changes of a table": (alter_table,),
    "What is there": (show_statements,),
    "Views, plans, procedures": (dispatch,),
}
"""The modules whose grammars a part of the page shows, by its heading."""


def grammar(module: ModuleType) -> str:
    """Return the grammar of a parser: the indented part of its docstring."""
    lines = (module.__doc__ or "").splitlines()
    return textwrap.dedent("\n".join(line for line in lines if line.startswith("    ")))


def statements() -> str:
    """Return the grammars of all statements."""
    parts = []
    for heading, modules in PARSERS.items():
        parts += [f"## {heading}", *(block(grammar(module)) for module in modules)]
    return "\n\n".join(parts)
