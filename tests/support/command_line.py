"""Runs the program in this process, and collects what it prints."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click
import pytest

from paimon_explore.__main__ import main
from paimon_explore.command_line import program
from paimon_explore.command_line.command import ExampleCommand, main_group
from paimon_explore.sanitize import visible

assert program.MODULES, "their import defines the commands"


@dataclass(frozen=True)
class Ran:
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        """The lines of the standard output."""
        return self.out.splitlines()


class Program:
    """Runs commands."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: str | Path) -> Ran:
        """Run a command line without the name of the program."""
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as stopped:  # argparse
            code = int(str(stopped.code))
        told = self._capsys.readouterr()
        return Ran(code, told.out, told.err)


def all_commands(
    group: click.Group = main_group, prefix: str = ""
) -> Iterator[tuple[str, click.Command]]:
    """Every command with its full name, also those of subgroups."""
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from all_commands(command, f"{prefix}{name} ")
        else:
            yield f"{prefix}{name}", command


def examples() -> list[str]:
    """The examples of all commands."""
    return [
        example
        for _, command in all_commands()
        if isinstance(command, ExampleCommand)
        for example in command.examples
    ]


def obeyed(text: str) -> list[str]:
    """The characters that a terminal would obey or hide, other than line ends."""
    return [char for char in text if visible(char) != char and char != "\n"]


def copied(folder: Path, target: Path) -> Path:
    """A copy of a warehouse."""
    shutil.copytree(folder, target)
    return target
