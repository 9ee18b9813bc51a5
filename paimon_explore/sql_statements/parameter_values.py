"""The values of parameter markers."""

from collections.abc import Callable, Collection, Mapping, Sequence

from paimon_explore.arguments import instance
from paimon_explore.errors import InvalidInputError, choices
from paimon_explore.sql_statements.engine import Args


def value_of(args: Args, count: int) -> Callable[[str], object]:
    """Return a function that gives the value of a marker by its key.

    Args:
        args: a sequence of values, or a mapping by name.
        count: the number of markers.

    Raises:
        InvalidInputError: the number of values is wrong; from the function: a name has no value.
    """
    if isinstance(args, Mapping):

        def named(name: str) -> object:
            if name not in args:
                raise InvalidInputError(
                    f"Parameter :{name} has no value.",
                    hint=f"There are values for {choices(sorted(args))}.",
                )
            return args[name]

        return named
    given: object = () if args is None else args
    values = instance("parameters", given, Sequence, "a list, or a dict for :name")  # type: ignore[type-abstract]  # of the standard library
    if len(values) != count:
        raise InvalidInputError(
            f"The statement has {count} parameters, but {len(values)} values are given.",
            hint="Pass a list with a value for each ?, or a dict for parameters such as :name.",
        )

    def placed(key: str) -> object:
        if not key.removeprefix("_").isdigit() or key.isdigit():
            raise InvalidInputError(
                f"A list has no value for the marker {key!r}.",
                hint="Write ? for the values of a list; :name has its value from a dict.",
            )
        return values[int(key[1:])]

    return placed


def check_used(args: Args, used: Collection[str]) -> None:
    """Check that the statement has a marker for each name.

    Raises:
        InvalidInputError: it has not.
    """
    unknown = set(args).difference(used) if isinstance(args, Mapping) else None
    if unknown:
        raise InvalidInputError(
            f"The statement has no parameter {choices(sorted(map(str, unknown)))}.",
            hint=f"Parameters: {choices(sorted(used))}.",
        )
