"""The tree of errors, and an entry for each class."""

import inspect
from collections.abc import Iterator

from generated import api_pages
from paimon_explore import errors


def tree(root_name: str) -> str:
    """Return the classes below an exception as a nested list, each with what its docstring says.

    Args:
        root_name: name of the root class.
    """
    return "\n".join(_lines(getattr(errors, root_name), 0))


def entries(root_name: str) -> str:
    """Return an entry for each class of a tree.

    Args:
        root_name: name of the root class.
    """
    names = [cls.__name__ for cls in _classes(getattr(errors, root_name))]
    places = [name if name == "PaimonError" else f"errors.{name}" for name in names]
    return api_pages.members(*places)


def _children(cls: type) -> list[type]:
    own = [sub for sub in cls.__subclasses__() if sub.__module__ == errors.__name__]
    return sorted(own, key=lambda sub: inspect.getsourcelines(sub)[1])


def _classes(cls: type) -> Iterator[type]:
    yield cls
    for sub in _children(cls):
        yield from _classes(sub)


def _lines(cls: type, depth: int) -> Iterator[str]:
    first = (inspect.getdoc(cls) or "").splitlines()[0]
    builtin = [base.__name__ for base in cls.__bases__ if base.__module__ == "builtins"]
    also = f" (also a `{builtin[0]}`)" if builtin and depth else ""
    place = "" if cls.__name__ == "PaimonError" else "errors."
    yield f"{'  ' * depth}- {{py:exc}}`~paimon_explore.{place}{cls.__name__}`{also}: {first}"
    for sub in _children(cls):
        yield from _lines(sub, depth + 1)
