"""Names of tables in a catalog: `database.table[$branch_<branch>][$<system table>]`.

Spec: concepts/system-tables; identifiers split at the first dot.
"""

from paimon_explore.arguments import string
from paimon_explore.errors import InvalidInputError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.table_paths import MAIN_BRANCH

_BRANCH = "branch_"
_FORBIDDEN = ("/", "\\", "\0")


@dataclass(frozen=True, slots=True, kw_only=True)
class Identifier:
    """A table, one of its branches, or one of its system tables.

    Attributes:
        database: its database.
        table: its name, without branch and system table.
        branch: the branch; `main` unless named.
        system_table: name of the system table in lower case, if one is named.
    """

    database: str
    table: str
    branch: str = MAIN_BRANCH
    system_table: str | None = None


def parse_identifier(text: object) -> Identifier:
    """Split a name.

    Raises:
        InvalidInputError: no database, an empty or unusable part, too many `$`.

    >>> parse_identifier("db.t$branch_b1$files")
    Identifier(database='db', table='t', branch='b1', system_table='files')
    """
    text = string("The name of a table", text, hint="Write it as 'database.table'.")
    database, dot, rest = text.partition(".")
    table, *suffixes = rest.split("$")
    if not dot:
        raise InvalidInputError(
            f"{text!r} does not name a database.", hint="Write it as 'database.table'."
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


def check_name(part: object, text: object) -> None:
    """Refuse parts that are no names of a folder.

    Raises:
        InvalidInputError: empty, `.`, `..`, or with a separator.
    """
    part = string("A name", part)
    if not part.strip() or part in {".", ".."} or any(c in part for c in _FORBIDDEN):
        msg = f"{part!r} in {text!r} is not a valid name."
        raise InvalidInputError(msg, hint="A name must not be empty or contain '/', '\\' or NUL.")
