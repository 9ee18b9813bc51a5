"""The question before a command removes or rewrites files."""

import sys

import click

from paimon_explore.command_line.command import CommandFunction
from paimon_explore.errors import InvalidInputError


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
