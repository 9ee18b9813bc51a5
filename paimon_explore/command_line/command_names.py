"""The commands by section, with the short descriptions of the help, and the exit codes."""

PLAIN_COMMANDS = {
    "show": "print a table, or the tables of a warehouse",
    "lab": "open JupyterLab on the tutorial with a demo warehouse",
}
"""The commands that need no packages of the extra `cli`."""

SECTIONS = {
    "Metadata": {
        "ls": "list databases and tables",
        "show": PLAIN_COMMANDS["show"],
        "schema": "columns, options, or the history of the schema",
        "snapshots": "list snapshots",
        "files": "list data files",
        "partitions": "list partitions",
    },
    "Rows": {
        "head": "print the first rows",
        "sql": "run SQL, or open a prompt",
        "tail": "follow changes as they are committed",
        "history": "versions of a primary key in each snapshot",
        "diff": "compare two snapshots",
        "explain": "why a read opens or skips each file",
    },
    "Checks": {
        "fsck": "check that all files are complete and consistent",
        "health": "check for small files, unmerged runs, old snapshots and so on",
    },
    "Changes": {
        "import": "import CSV, JSON or Parquet files",
        "compact": "rewrite files into fewer and larger ones",
        "expire": "remove old snapshots",
        "orphans": "remove files that nothing refers to",
        "tag": "list, create, rename and delete tags",
        "branch": "list, create, rename, delete and fast-forward branches",
    },
    "Program": {
        "demo": "create a warehouse of sample tables",
        "lab": PLAIN_COMMANDS["lab"],
        "completion": "print the script for completion in a shell",
        "version": "print versions",
    },
}
"""Section -> command -> description."""

OK = 0
FAILURE = 1
"""The command failed; the reason is on stderr."""
USAGE = 2
"""Unknown commands, options or arguments."""
FINDINGS = 3
"""`fsck` or `health` found problems."""
INTERRUPTED = 130
"""The user pressed Ctrl+C."""

EXIT_CODES_HELP = """\
Exit codes: 0 success, 1 failure (the reason is on stderr), 2 wrong usage, 3 fsck or health found
problems, 130 interrupted."""
