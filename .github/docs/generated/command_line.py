"""The commands of the program, from click."""

from collections.abc import Iterator

import click

from generated.markdown import block
from paimon_explore.command_line.program import main_group

_PROGRAM = "paimon-explore"
_WIDTH = 100


def commands() -> str:
    """Return the help of every command, with its subcommands."""
    return "\n".join(_sections(main_group, _PROGRAM, 2))


def _sections(command: click.Command, name: str, depth: int) -> Iterator[str]:
    context = click.Context(
        command, info_name=name, max_content_width=_WIDTH, terminal_width=_WIDTH
    )
    yield f"{'#' * depth} {name}\n"
    yield block(command.get_help(context))
    if isinstance(command, click.Group):
        for sub in command.list_commands(context):
            found = command.get_command(context, sub)
            if found is not None and not found.hidden:
                yield from _sections(found, f"{name} {sub}", 3)
