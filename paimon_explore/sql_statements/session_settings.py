"""Settings of a session: how INSERT OVERWRITE replaces rows, and dynamic options of tables.

`spark.paimon.<option>` is an option of all tables, `spark.paimon.<catalog>.<database>.<table>.
<option>` one of the named tables; `*` stands for any name. Options of a table come before those of
all, and options in a statement before both. Spec: spark/auxiliary.
"""

from collections.abc import Mapping

from paimon_explore.errors import InvalidInputError
from paimon_explore.metadata.options.option_spelling import is_known, suggestion
from paimon_explore.sql_statements.engine import OVERWRITE_MODE
from paimon_explore.sql_statements.quoted_names import CATALOG

PREFIX = "spark.paimon."
MERGE_SCHEMA = f"{PREFIX}write.merge-schema"
"""Whether INSERT … BY NAME and MERGE add the columns that only the new rows have."""
_NAMES = 3
_TRAVEL = ("scan.", "incremental-between")


def is_setting(key: str) -> bool:
    """Return whether a setting concerns Paimon tables."""
    return key == OVERWRITE_MODE or key.startswith(PREFIX)


def check_setting(key: str, value: str) -> None:
    """Check the name of a setting, and its value if there are few.

    Raises:
        InvalidInputError: the option is unknown, or the value is invalid.
    """
    if key == OVERWRITE_MODE and value.upper() not in {"STATIC", "DYNAMIC"}:
        raise InvalidInputError(f"{key} = {value!r} is invalid.", hint="Set STATIC or DYNAMIC.")
    option = key.removeprefix(PREFIX)
    is_named = is_known(option) or is_known(_of_table(option))
    if key.startswith(PREFIX) and not is_named:
        near = suggestion(option)
        hint = f"Did you mean {PREFIX}{near}? " if near else ""
        hint += f"Write {PREFIX}option, or {PREFIX}catalog.database.table.option."
        raise InvalidInputError(f"The setting {key!r} names no table option.", hint=hint)


def _of_table(option: str) -> str:
    return ".".join(option.split(".")[_NAMES:])


def table_options(
    settings: Mapping[str, str], database: str, table: str, *, travels: bool
) -> dict[str, str]:
    """Return the dynamic options that the settings give a table.

    Args:
        settings: of the session.
        database: of the table.
        table: its name, without `$` and what follows.
        travels: whether to return options of time travel, too.
    """
    of_all, own = {}, {}
    for key, value in settings.items():
        option = key.removeprefix(PREFIX)
        names = option.split(".")[:_NAMES]
        if key.startswith(PREFIX) and is_known(option):
            of_all[option] = value
        elif key.startswith(PREFIX) and all(
            one in {"*", wanted}
            for one, wanted in zip(names, (CATALOG, database, table), strict=False)
        ):
            own[_of_table(option)] = value
    found = {key: value for key, value in {**of_all, **own}.items() if is_known(key)}
    if travels:
        return found
    return {key: value for key, value in found.items() if not key.startswith(_TRAVEL)}
