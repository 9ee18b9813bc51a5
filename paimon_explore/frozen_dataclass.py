"""A faster `dataclass` decorator for classes with slots; it takes a tenth of the import time.

The standard decorator generates, compiles and runs the source of six methods for each class, which
takes 0.4 ms; a cold read loads more than a hundred classes. With the standard decorator, opening a
table in a new process takes 66 ms longer (203 instead of 137 ms), a first commit 130 ms longer.
Here a class with slots gets

- an `__init__` whose code is compiled once per number of fields; `code.replace` inserts the field
  names. It sets slots through their descriptors, which is faster than `object.__setattr__`;
- `__eq__`, `__hash__`, `__repr__` and pickling as closures and shared functions;
- `__dataclass_fields__` and `__dataclass_params__` from the standard decorator, on first access, so
  that `fields`, `replace`, `asdict` and dataclass subclasses work.

Classes without slots, and those with a field that is not an argument of `__init__`, use the
standard decorator. Type checkers always see the standard decorator.

`cached_property` is that of Python 3.12. In Python 3.11 it has a lock for all objects of a class:
while one thread reads a file to compute it, others that want it of another object wait.
"""

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, FrozenInstanceError
from operator import attrgetter
from reprlib import recursive_repr
from types import CodeType, FunctionType
from typing import TYPE_CHECKING

from paimon_explore.sanitize import masked_repr

__all__ = ["cached_property", "dataclass"]

_FIELDS = "__value_fields__"
"""Attribute with the fields of a class made here and of its bases, by name."""
_SETTINGS = frozenset(("slots", "frozen", "kw_only", "eq", "repr"))


def _dataclass(cls: type | None = None, /, **settings: bool) -> object:
    if cls is None:
        return lambda cls: _decorated(cls, settings)
    return _decorated(cls, settings)


class _CachedProperty:
    """A property whose value is computed once, unless threads ask for it at the same time."""

    def __init__(self, compute: Callable[[object], object]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: type | None = None) -> object:
        if instance is None:
            return self
        found = instance.__dict__[self._name] = self._compute(instance)
        return found


if TYPE_CHECKING:
    from dataclasses import dataclass
    from functools import cached_property
else:
    cached_property, dataclass = _CachedProperty, _dataclass


class _Field:
    __slots__ = ("annotation", "given", "keyword", "name")

    def __init__(self, name: str, annotation: object, given: object, *, keyword: bool) -> None:
        self.name = name
        self.annotation = annotation
        self.given = given
        """The assigned value: a default, the result of `field()`, or `MISSING`."""
        self.keyword = keyword

    def default(self) -> object:
        """Return the default of the `__init__` argument: a value, `_FACTORY_DEFAULT`, `MISSING`."""
        if not isinstance(self.given, dataclasses.Field):
            return self.given
        return self.given.default if self.factory() is MISSING else _FACTORY_DEFAULT

    def factory(self) -> object:
        """Return the default factory of the field, or `MISSING`."""
        return getattr(self.given, "default_factory", MISSING)

    def standard(self) -> object:
        """Return the field as a `dataclasses.Field`."""
        if not isinstance(self.given, dataclasses.Field):
            return dataclasses.field(default=self.given, kw_only=self.keyword)
        self.given.kw_only = self.keyword
        return self.given


class _FactoryDefault:
    def __repr__(self) -> str:
        return "<factory>"


_FACTORY_DEFAULT = _FactoryDefault()
"""Default argument of a field that has a default factory."""


def _decorated(cls: type, settings: Mapping[str, bool]) -> type:
    if not (settings.get("slots") and settings.keys() <= _SETTINGS and _is_plain(cls)):
        standard: type = dataclasses.dataclass(**settings)(cls)
        return standard
    fields = _fields(cls, keyword=settings.get("kw_only", False))
    made = _slotted(cls, fields, _members(list(fields.values()), settings))
    ordered = sorted(fields.values(), key=lambda field: field.keyword)
    init = _initializer(made, ordered, frozen=settings.get("frozen", False))
    type.__setattr__(made, "__init__", init)
    return made


def _is_plain(cls: type) -> bool:
    """Return whether this module supports all fields, methods and dataclass bases of the class."""
    for base in cls.__mro__[1:]:
        if "__dataclass_fields__" in base.__dict__ and _FIELDS not in base.__dict__:
            return False
    if "__init__" in cls.__dict__ or ("__eq__" in cls.__dict__ and cls.__hash__ is None):
        return False
    given = [cls.__dict__.get(name) for name in cls.__annotations__]
    return all(
        field.init and field.hash is None and field.kw_only is MISSING
        for field in given
        if isinstance(field, dataclasses.Field)
    )


def _fields(cls: type, *, keyword: bool) -> dict[str, _Field]:
    fields: dict[str, _Field] = {}
    for base in cls.__mro__[-1:0:-1]:
        fields.update(base.__dict__.get(_FIELDS, {}))
    for name, annotation in cls.__annotations__.items():
        given = cls.__dict__.get(name, MISSING)
        if type(given).__hash__ is None:
            raise ValueError(f"mutable default for field {name}: use default_factory")
        fields[name] = _Field(name, annotation, given, keyword=keyword)
    return fields


def _slotted(cls: type, fields: Mapping[str, _Field], members: Mapping[str, object]) -> type:
    """Return a copy of the class with slots, which cannot be added to an existing class."""
    taken = {name for base in cls.__mro__[1:-1] for name in base.__dict__.get("__slots__", ())}
    dropped = {*fields, "__dict__", "__weakref__"}
    namespace = {name: value for name, value in cls.__dict__.items() if name not in dropped}
    namespace = {**members, **namespace}
    namespace["__slots__"] = tuple(name for name in fields if name not in taken)
    namespace[_FIELDS] = fields
    made: type = type(cls)(cls.__name__, cls.__bases__, namespace)
    made.__qualname__ = cls.__qualname__
    return made


def _members(fields: Sequence[_Field], settings: Mapping[str, bool]) -> dict[str, object]:
    """Return the generated methods of a class except `__init__`."""
    members: dict[str, object] = {
        "__match_args__": tuple([field.name for field in fields if not field.keyword]),
        "__dataclass_fields__": _LazyStandardAttribute("__dataclass_fields__", settings),
        "__dataclass_params__": _LazyStandardAttribute("__dataclass_params__", settings),
        "__replace__": dataclasses.replace,
    }
    frozen = settings.get("frozen", False)
    if settings.get("repr", True):
        members["__repr__"] = _repr
    if settings.get("eq", True):
        compared = [field.name for field in fields if getattr(field.given, "compare", True)]
        members["__eq__"], hashed = _comparison(_values(compared))
        members["__hash__"] = hashed if frozen else None
    if frozen:
        members["__setattr__"] = _refuse_setting
        members["__delattr__"] = _refuse_deleting
        members["__getstate__"] = _get_state
        members["__setstate__"] = _set_state
    return members


_WITHOUT_METHODS = {"init": False, "repr": False, "eq": False}
"""Settings with which the standard decorator makes fields only, in a tenth of the time."""


class _LazyStandardAttribute:
    """An attribute that the standard decorator generates, set in the class on first access."""

    __slots__ = ("name", "settings")

    def __init__(self, name: str, settings: Mapping[str, bool]) -> None:
        self.name = name
        self.settings = settings

    def __get__(self, instance: object, owner: type) -> object:
        cls = next(cls for cls in owner.__mro__ if _FIELDS in cls.__dict__)
        fields: dict[str, _Field] = cls.__dict__[_FIELDS]
        namespace: dict[str, object] = {
            "__annotations__": {name: field.annotation for name, field in fields.items()},
            "__module__": cls.__module__,
            "__doc__": cls.__name__,  # else the standard decorator makes one from the signature
            **{name: field.standard() for name, field in fields.items()},
        }
        twin = type(cls.__name__, (), namespace)
        settings = _WITHOUT_METHODS if self.name == "__dataclass_fields__" else self.settings
        found = vars(dataclasses.dataclass(**settings)(twin))[self.name]
        type.__setattr__(cls, self.name, found)
        return found


def _values(names: Sequence[str]) -> Callable[[object], tuple[object, ...]]:
    if len(names) > 1:
        return attrgetter(*names)
    return lambda self: tuple([getattr(self, name) for name in names])


def _comparison(
    values: Callable[[object], tuple[object, ...]],
) -> tuple[Callable[[object, object], object], Callable[[object], int]]:
    def equal(self: object, other: object) -> object:
        if type(other) is type(self):
            return values(self) == values(other)
        return NotImplemented

    return equal, lambda self: hash(values(self))


@recursive_repr()
def _repr(self: object) -> str:
    shown = [field.name for field in dataclasses.fields(self) if field.repr]  # type: ignore[arg-type] # it is one
    pairs = ", ".join([f"{name}={masked_repr(getattr(self, name))}" for name in shown])
    return f"{type(self).__qualname__}({pairs})"


def _refuse_setting(self: object, name: str, value: object) -> None:
    _check_free(self, name, "assign to")
    object.__setattr__(self, name, value)


def _refuse_deleting(self: object, name: str) -> None:
    _check_free(self, name, "delete")
    object.__delattr__(self, name)


def _check_free(self: object, name: str, act: str) -> None:
    """Raise for any name in a frozen class; a plain subclass may have further attributes."""
    if _FIELDS in type(self).__dict__ or name in getattr(self, _FIELDS):
        raise FrozenInstanceError(f"cannot {act} field {name!r}")


def _get_state(self: object) -> list[object]:
    return [getattr(self, name) for name in getattr(self, _FIELDS)]


def _set_state(self: object, state: Iterable[object]) -> None:
    for name, value in zip(getattr(self, _FIELDS), state, strict=True):
        object.__setattr__(self, name, value)


def _initializer(cls: type, ordered: Sequence[_Field], *, frozen: bool) -> FunctionType:
    """Return `__init__` of a class with slots; `ordered` is the order of the signature."""
    names = tuple([field.name for field in ordered])
    made = [at for at, field in enumerate(ordered) if field.default() is _FACTORY_DEFAULT]
    code = _code(len(names), tuple(made), frozen=frozen, checked=hasattr(cls, "__post_init__"))
    positional = [field for field in ordered if not field.keyword]
    name_of_placeholder = {f"_{at}": name for at, name in enumerate(names)}
    code = code.replace(
        co_argcount=1 + len(positional),
        co_kwonlyargcount=len(names) - len(positional),
        co_varnames=("self", *names),
        co_names=tuple([name_of_placeholder.get(name, name) for name in code.co_names]),
    )
    known: dict[str, object] = {"MADE": _FACTORY_DEFAULT}
    for at, name in enumerate(names):
        known[f"put{at}"] = getattr(cls, name).__set__
    for at in made:
        known[f"make{at}"] = ordered[at].factory()
    init = FunctionType(code, known, "__init__", _defaults(cls, positional))
    init.__kwdefaults__ = {
        field.name: field.default()
        for field in ordered[len(positional) :]
        if field.default() is not MISSING
    }
    init.__annotations__ = {**{field.name: field.annotation for field in ordered}, "return": None}
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    init.__module__ = cls.__module__
    return init


def _defaults(cls: type, positional: Sequence[_Field]) -> tuple[object, ...]:
    defaults = [field.default() for field in positional]
    first = next((at for at, value in enumerate(defaults) if value is not MISSING), len(defaults))
    if any(value is MISSING for value in defaults[first:]):
        raise TypeError(f"{cls.__name__} has a field without a default after one with a default")
    return tuple(defaults[first:])


_CODES: dict[object, CodeType] = {}


def _code(count: int, made: tuple[int, ...], *, frozen: bool, checked: bool) -> CodeType:
    """Return the code of `__init__` for fields `_0`, `_1`, …; `made` have default factories."""
    shape = (count, made, frozen, checked)
    found = _CODES.get(shape)
    if found is None:
        lines = [f"def __init__(self{''.join([f', _{at}' for at in range(count)])}):", " pass"]
        for at in range(count):
            value = f"make{at}() if _{at} is MADE else _{at}" if at in made else f"_{at}"
            lines.append(f" put{at}(self, {value})" if frozen else f" self._{at} = {value}")
        if checked:
            lines.append(" self.__post_init__()")
        module = compile("\n".join(lines), "<values>", "exec")
        found = next(value for value in module.co_consts if isinstance(value, CodeType))
        _CODES[shape] = found
    return found
