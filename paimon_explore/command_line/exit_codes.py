"""The exit codes of the program."""

OK = 0
FAILURE = 1
"""The command failed; the reason is on stderr."""
USAGE = 2
"""Unknown commands, options or arguments."""
FINDINGS = 3
"""`fsck` or `health` found problems."""
INTERRUPTED = 130
"""The user pressed Ctrl+C."""

HELP = """\
Exit codes: 0 success, 1 failure (the reason is on stderr), 2 wrong usage, 3 fsck or health found
problems, 130 interrupted."""
