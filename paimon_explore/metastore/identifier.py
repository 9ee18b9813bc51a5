r"""Table identifiers: `database.table[$branch_<branch>][$<system table>]`, and patterns of names.

Spec: concepts/system-tables; identifiers are split at the first dot. In a pattern `%` stands for
any characters, as in SQL's LIKE; `\` escapes it.
"""

import re

from paimon_explore.arguments import string
from paimon_explore.errors import InvalidInputError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.table_paths import MAIN_BRANCH

_BRANCH = "branch_"
_PART = re.compile(r"\\.|%|.", re.DOTALL)
_FORBIDDEN = ("/", "\\", "\0")


@dataclass(frozen=True, slots=True, kw_only=True)
class Identifier:
    """The parsed name of a table, a branch of it, or a system table of it.

    Attributes:
        database: the database.
        table: the name, without branch and system table.
        branch: the branch; `main` by default.
        system_table: the system table in lower case, if any.
    """

    database: str
    table: str
    branch: str = MAIN_BRANCH
    system_table: str | None = None

    @property
    def full_name(self) -> str:
        """`database.table`."""
        return f"{self.database}.{self.table}"


def parse_identifier(text: object) -> Identifier:
    """Parse the name of a table.

    Raises:
        InvalidInputError: no database, an empty or invalid part, or too many `$`.

    >>> parse_identifier("db.t$branch_b1$files")
    Identifier(database='db', table='t', branch='b1', system_table='files')
    """
    text = string("The name of a table", text, hint="Write it as 'database.table'.")
    database, dot, rest = text.partition(".")
    table, *suffixes = rest.split("$")
    if not dot:
        raise InvalidInputError(
            f"Table name {text!r} contains no database.", hint="Write it as 'database.table'."
        )
    for part in (database, table, *suffixes):
        check_name(part, text)
    branch = MAIN_BRANCH
    if suffixes and suffixes[0].lower().startswith(_BRANCH):
        branch = suffixes.pop(0)[len(_BRANCH) :]
        check_name(branch, text)
    if len(suffixes) > 1:
        hint = "Write it as 'database.table$branch_<branch>$<system table>'."
        raise InvalidInputError(f"{text!r} contains too many '$'.", hint=hint)
    system = suffixes[0].lower() if suffixes else None
    return Identifier(database=database, table=table, branch=branch, system_table=system)


def plain_identifier(text: object) -> Identifier:
    """Parse the name of a whole table, a view or a function: `database.name`.

    Raises:
        InvalidInputError: as for `parse_identifier`, or the name has a branch or system table.

    >>> plain_identifier("db.t").table
    't'
    """
    wanted = parse_identifier(text)
    if wanted.branch != MAIN_BRANCH or wanted.system_table is not None:
        is_branch = wanted.system_table is None
        kind = "a branch" if is_branch else "a system table"
        advice = " Drop a branch by delete_branch() of the table." if is_branch else ""
        raise InvalidInputError(
            f"The name of a table is needed, but {text!r} is {kind}.",
            hint=f"The table is {wanted.full_name!r}.{advice}",
        )
    return wanted


def check_name(part: object, text: object) -> None:
    """Reject a part that cannot be the name of a folder.

    Raises:
        InvalidInputError: it is empty, `.` or `..`, or contains a separator.
    """
    part = string("A name", part)
    if not part.strip() or part in {".", ".."} or any(c in part for c in _FORBIDDEN):
        place = "" if part == text else f" in {text!r}"
        msg = f"{part!r}{place} is not a valid name."
        raise InvalidInputError(msg, hint="A name must not be empty or contain '/', '\\' or NUL.")


def new_table(text: object) -> Identifier:
    """Parse the name of a new table.

    Raises:
        InvalidInputError: as for `parse_identifier` and `check_new_name`.

    >>> new_table("db.t").table
    't'
    """
    wanted = parse_identifier(text)
    check_new_name("table", str(text).partition(".")[2], text)
    return wanted


def check_new_name(kind: str, name: str, text: object, forbidden: str = "$:") -> None:
    """Reject names that no new database or table can have.

    Java lists neither a folder with `:` in its name nor the folder around it.

    Raises:
        InvalidInputError: as for `check_name`, or there is a forbidden character, or half of a
            surrogate pair.
    """
    check_name(name, text)
    for one in name:
        if one in forbidden or "\ud800" <= one <= "\udfff":
            raise InvalidInputError(
                f"{text!r} is not a valid name for a new {kind}, because it contains {one!r}."
            )


def matches(name: str, pattern: str) -> bool:
    r"""Return whether a name matches a pattern.

    `_` stands for itself, because it is common in names.

    >>> matches("orders_2024", "orders%"), matches("orders", "order"), matches("a%b", r"a\%b")
    (True, False, True)
    """
    expression = []
    for part in _PART.findall(pattern):
        if part == "%":
            expression.append(".*")
        else:
            expression.append(re.escape(part[-1]))
    return re.fullmatch("".join(expression), name, re.DOTALL) is not None
