"""Commands with examples in their help, and the group of all commands.

The question before a command removes or rewrites files.
"""

import sys
from collections.abc import Callable, Sequence
from inspect import getdoc
from typing import Any, Protocol

import click
from click.shell_completion import CompletionItem

from paimon_explore.command_line.command_names import EXIT_CODES_HELP, PLAIN_COMMANDS, SECTIONS
from paimon_explore.command_line.plain_commands import PROGRAM, run_plain
from paimon_explore.errors import InvalidInputError

CommandFunction = Callable[..., int | None]
"""What a command runs: it returns the exit code, None for success."""
_SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


class ExampleCommand(click.Command):
    """A command with examples below its help.

    Attributes:
        examples: command lines.
    """

    def __init__(self, *args: Any, examples: Sequence[str] = (), **kwargs: Any) -> None:  # noqa: ANN401 - click's arguments
        super().__init__(*args, **kwargs)
        self.examples = tuple(examples)
        self.params.sort(key=_rank)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples."""
        del ctx
        write_examples(formatter, self.examples)


_SHARED = (
    *("snapshot", "tag", "at", "branch", "warehouse", "catalog", "options"),
    *("is_dry_run", "is_confirmed", "as_json", "as_csv", "width"),
)
"""Options of several commands, in the order of the help, after those of the command itself."""


def _rank(parameter: click.Parameter) -> int:
    """The position of an option in the help."""
    is_shared = isinstance(parameter, click.Option) and parameter.name in _SHARED
    return _SHARED.index(str(parameter.name)) + 1 if is_shared else 0


class PlainCommand(click.Command):
    """A command of `plain_commands`: it is listed here, and parses its arguments itself."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep the arguments as they are."""
        ctx.args = list(args)
        return ctx.args

    def invoke(self, ctx: click.Context) -> int:
        """Run the command."""
        return run_plain([self.name or "", *ctx.args])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete nothing: the shell completes paths."""
        del ctx
        return [CompletionItem(incomplete, type="file")]


class CommandGroup(click.Group):
    """A group of commands; the commands of the program are listed by section."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands."""
        if ctx.parent is not None or self.name != PROGRAM:
            return list(self.commands)
        return [name for names in SECTIONS.values() for name in names]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands by section."""
        if self.name != PROGRAM:
            super().format_commands(ctx, formatter)
            return
        longest = max(len(name) for name in self.commands)
        for section, commands in SECTIONS.items():
            with formatter.section(section):
                formatter.write_dl([(name.ljust(longest), text) for name, text in commands.items()])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the exit codes."""
        del ctx
        if self.name == PROGRAM:
            formatter.write_paragraph()
            formatter.write_text(EXIT_CODES_HELP)


def write_examples(formatter: click.HelpFormatter, examples: Sequence[str]) -> None:
    """Write examples, one line each."""
    if not examples:
        return
    formatter.write_paragraph()
    formatter.write("Examples:\n")
    for example in examples:
        formatter.write(f"  {PROGRAM} {example}\n")


class Register(Protocol):
    """A decorator that makes a function a command."""

    def __call__(self, function: CommandFunction, /) -> click.Command:
        """Return the command."""


def command(group: click.Group, name: str, *, no_args_is_help: bool = False) -> Register:
    """Make a function a command of a group.

    Its docstring is the help; the section `Examples:` has command lines without the name of the
    program.

    Args:
        group: the group.
        name: the name of the command.
        no_args_is_help: print the help if no argument is given.
    """

    def register(function: CommandFunction, /) -> click.Command:
        text, _, examples = (getdoc(function) or "").partition("\n\nExamples:\n")
        made: Register = group.command(
            name,
            cls=ExampleCommand,
            help=text,
            examples=[line.strip() for line in examples.splitlines()],
            context_settings=_SETTINGS,
            no_args_is_help=no_args_is_help,
        )
        return made(function)

    return register


@click.group(cls=CommandGroup, name=PROGRAM, context_settings=_SETTINGS)
def main_group() -> None:
    """Read, check, query and maintain Apache Paimon tables.

    TABLE is the path of a table, or database.table with --warehouse or --catalog.
    """


def add_plain_commands() -> None:
    """Add `show` and `lab` to the group, for its help and completion."""
    for name, text in PLAIN_COMMANDS.items():
        help_text = f"{text[:1].upper()}{text[1:]}."
        main_group.add_command(PlainCommand(name, help=help_text, add_help_option=False))


def confirm_options(function: CommandFunction) -> CommandFunction:
    """Add `--yes` and `--dry-run`; pass `is_confirmed` and `is_dry_run`."""
    yes = click.option("-y", "--yes", "is_confirmed", is_flag=True, help="Do not ask.")
    dry = click.option(
        "--dry-run", "is_dry_run", is_flag=True, help="Only print what would be done."
    )
    return yes(dry(function))


def confirmed(question: str, *, is_confirmed: bool) -> None:
    """Ask for a confirmation; both the question and the answer use the terminal.

    Args:
        question: what is about to be done; sanitized.
        is_confirmed: whether `--yes` was given.

    Raises:
        InvalidInputError: there is no terminal to ask on, and `--yes` was not given.
        click.exceptions.Exit: the answer is no.
    """
    if is_confirmed:
        return
    if not is_interactive():
        raise InvalidInputError(
            "The command needs a confirmation, but there is no terminal to ask on.",
            hint="Add --yes to run it, or --dry-run to see what it would do.",
        )
    if not click.confirm(question, default=False, err=True):
        sys.stderr.write("Nothing was changed.\n")
        raise click.exceptions.Exit(1)


def is_interactive() -> bool:
    """Whether a question can be asked and answered."""
    return sys.stdin.isatty() and sys.stderr.isatty()
