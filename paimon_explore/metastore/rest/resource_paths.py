"""The paths of the REST catalog's resources, below the prefix that the server assigned.

Spec: Paimon's OpenAPI document of the REST catalog. Names are encoded as in HTML forms, as Java's
client does: a signed request must have exactly the path that was signed.
"""

from urllib.parse import quote_plus

from paimon_explore.errors import InvalidInputError
from paimon_explore.frozen_dataclass import dataclass

CONFIG = "/v1/config"


def encoded(text: str) -> str:
    """Encode a name for a path or a query as Java's `URLEncoder`.

    Raises:
        InvalidInputError: the text is not valid Unicode.

    >>> encoded("a b$~*")
    'a+b%24%7E*'
    """
    try:
        return quote_plus(text, safe="*").replace("~", "%7E")
    except UnicodeEncodeError as error:
        raise InvalidInputError(f"{text!r} is not valid Unicode.") from error


@dataclass(frozen=True, slots=True)
class ResourcePaths:
    """Paths below a prefix.

    Attributes:
        prefix: the option `prefix` of the server; empty for none.
    """

    prefix: str = ""

    def of(self, *parts: str) -> str:
        """Return the path of names and keywords; all parts are encoded.

        Raises:
            InvalidInputError: a name that is empty, `.` or `..`, which would be another path.

        >>> ResourcePaths("p").of("databases", "my db")
        '/v1/p/databases/my+db'
        """
        for part in parts:
            if part in {"", ".", ".."}:
                raise InvalidInputError(f"{part!r} is not a name in a REST catalog.")
        names = (self.prefix, *parts) if self.prefix else parts
        return "/".join(("/v1", *map(encoded, names)))

    def database(self, database: str, *parts: str) -> str:
        """Return the path of a database, or of something in it."""
        return self.of("databases", database, *parts)

    def table(self, database: str, table: str, *parts: str) -> str:
        """Return the path of a table (`table` or `table$branch_b`), or of something in it."""
        return self.of("databases", database, "tables", table, *parts)
