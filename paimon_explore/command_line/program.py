"""The program: runs a command line with click."""

import os
import sys
import warnings
from collections.abc import Sequence

import click
from click.shell_completion import shell_complete

from paimon_explore.command_line import (
    import_command,
    list_commands,
    maintenance_commands,
    read_commands,
    reference_commands,
    sql_command,
    tail_command,
)
from paimon_explore.command_line.command import add_plain_commands, main_group
from paimon_explore.command_line.command_names import INTERRUPTED, OK, USAGE
from paimon_explore.command_line.list_commands import COMPLETE_VARIABLE
from paimon_explore.command_line.plain_commands import PROGRAM
from paimon_explore.sanitize import sanitized

MODULES = (
    list_commands,
    read_commands,
    sql_command,
    tail_command,
    maintenance_commands,
    reference_commands,
    import_command,
)
"""The modules whose import defines the commands."""

add_plain_commands()


def run(arguments: Sequence[str]) -> int:
    """Run one command.

    Args:
        arguments: the command line without the program name.

    Returns:
        The exit code.

    Raises:
        PaimonError: the command failed.
    """
    instruction = os.environ.get(COMPLETE_VARIABLE)
    if instruction:
        return shell_complete(main_group, {}, PROGRAM, COMPLETE_VARIABLE, instruction)
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        return _run(arguments)


def _run(arguments: Sequence[str]) -> int:
    try:
        with main_group.make_context(PROGRAM, list(arguments)) as context:
            code = main_group.invoke(context)
    except click.exceptions.Exit as stopped:
        return stopped.exit_code
    except click.UsageError as error:
        error.show()
        return USAGE
    except click.Abort:
        return INTERRUPTED
    return code if isinstance(code, int) else OK


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: object = None,
    line: str | None = None,
) -> None:
    """Print a warning without the place in the code that raised it."""
    del category, filename, lineno, file, line
    sys.stderr.write(f"{PROGRAM}: warning: {sanitized(str(message))}\n")
