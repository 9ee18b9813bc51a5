"""What the decorator makes is compared with what the standard one makes of the same class."""

import copy
import dataclasses
import inspect
import pickle
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any, Generic, TypeVar

import pytest

import paimon_explore
from paimon_explore.frozen_dataclass import cached_property, dataclass

Key = TypeVar("Key")


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    x: int
    y: int = 2
    tags: list[str] = dataclasses.field(default_factory=list)
    hidden: str = dataclasses.field(default="s", repr=False, compare=False)


@dataclass(slots=True)
class Count:
    """Counts."""

    number: int
    step: int = 1

    def add(self) -> int:
        self.number += self.step
        return self.number


@dataclass(frozen=True, slots=True)
class Checked(Generic[Key]):
    key: Key

    def __post_init__(self) -> None:
        if not self.key:
            raise ValueError("no key")


class Shape(ABC):
    __slots__ = ()

    @abstractmethod
    def area(self) -> int: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Box(Shape):
    width: int
    height: int = 1

    def area(self) -> int:
        return self.width * self.height


@dataclass(frozen=True, slots=True, kw_only=True)
class Cube(Box):
    depth: int
    height: int = 3


@dataclass(frozen=True, slots=True)
class Nothing:
    pass


@dataclass(frozen=True, slots=True)
class Only:
    value: object


@dataclass(frozen=True, slots=True, eq=False)
class Thing:
    value: int


def test_an_instance_shows_and_compares_its_fields() -> None:
    assert repr(Point(x=1)) == "Point(x=1, y=2, tags=[])"
    assert repr(Nothing()) == "Nothing()"
    assert Point(x=1) == Point(x=1, hidden="other")
    assert Point(x=1) != Point(x=2)
    assert Only(1).__eq__((1,)) is NotImplemented
    assert Nothing() == Nothing()
    assert Only(1) == Only(1) != Only(2)
    assert Count(1) == Count(1)


def test_equal_values_have_one_hash_and_values_that_change_have_none() -> None:
    assert {Only((1, 2)): "a"}[Only((1, 2))] == "a"
    assert hash(Only(5)) == hash((5,))
    assert hash(Box(width=4)) == hash((4, 1))
    assert hash(Nothing()) == hash(())
    with pytest.raises(TypeError, match="unhashable"):
        hash(Count(1))


def test_without_eq_things_are_equal_to_themselves_alone() -> None:
    thing = Thing(1)
    assert thing == thing  # noqa: PLR0124 - the case
    assert thing != Thing(1)
    assert len({thing, Thing(1)}) == 2


def test_a_default_of_a_factory_is_made_for_each_instance() -> None:
    first, second = Point(x=1), Point(x=1)
    first.tags.append("a")
    assert second.tags == []
    assert Point(x=1, tags=["b"]).tags == ["b"]


def test_a_frozen_value_refuses_every_change() -> None:
    point = Point(x=1)
    for name in ("x", "unknown"):
        with pytest.raises(
            dataclasses.FrozenInstanceError, match=f"cannot assign to field '{name}'"
        ):
            setattr(point, name, 3)
        with pytest.raises(dataclasses.FrozenInstanceError, match=f"cannot delete field '{name}'"):
            delattr(point, name)
    assert not hasattr(point, "__dict__")


def test_a_plain_class_below_a_frozen_one_may_have_more_attributes() -> None:
    class Named(Only):
        label: str

    named = Named(1)
    named.label = "n"
    del named.label
    with pytest.raises(dataclasses.FrozenInstanceError):
        named.value = 2  # type: ignore[misc]
    assert dataclasses.replace(named, value=7).value == 7


def test_a_value_that_may_change_has_its_slots_and_no_others() -> None:
    count = Count(1, step=2)
    assert count.add() == 3
    with pytest.raises(AttributeError):
        count.total = 1  # type: ignore[attr-defined]


def test_the_check_after_init_runs() -> None:
    assert Checked("a").key == "a"
    with pytest.raises(ValueError, match="no key"):
        Checked("")


def test_a_class_takes_the_fields_of_its_bases_first() -> None:
    cube = Cube(width=2, depth=5)
    assert (cube.width, cube.height, cube.depth, cube.area()) == (2, 3, 5, 6)
    assert [field.name for field in dataclasses.fields(Cube)] == ["width", "height", "depth"]
    assert Cube.__dict__["__slots__"] == ("depth",)
    assert cube != Box(width=2, height=3)


def test_abstract_methods_stay_abstract() -> None:
    @dataclass(frozen=True, slots=True)
    class Flat(Shape):
        width: int

    with pytest.raises(TypeError, match="abstract"):
        Flat(1)  # type: ignore[abstract]


@pytest.mark.parametrize(
    "value", [Point(x=1, tags=["t"]), Count(3), Checked("k"), Cube(width=1, depth=2), Nothing()]
)
def test_values_are_copied_and_pickled(value: object) -> None:
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(value, protocol)) == value  # noqa: S301 - our own bytes
    assert copy.copy(value) == value
    assert copy.deepcopy(value) == value


def test_the_functions_of_the_standard_library_know_the_classes() -> None:
    point = Point(x=1, tags=["a"])
    assert dataclasses.is_dataclass(Point)
    assert dataclasses.is_dataclass(point)
    assert dataclasses.asdict(point) == {"x": 1, "y": 2, "tags": ["a"], "hidden": "s"}
    assert dataclasses.astuple(Count(4)) == (4, 1)
    assert dataclasses.replace(point, y=9) == Point(x=1, y=9, tags=["a"])
    with pytest.raises(TypeError, match="z"):
        dataclasses.replace(point, z=9)  # type: ignore[call-arg]
    assert [(field.name, field.kw_only) for field in dataclasses.fields(Cube)] == [
        ("width", True),
        ("height", True),
        ("depth", True),
    ]


def test_standard_dataclasses_may_inherit_from_ours() -> None:
    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Named(Box):
        name: str

    named = Named(width=2, name="n")
    assert (named.area(), named.name) == (2, "n")
    assert [field.name for field in dataclasses.fields(Named)] == ["width", "height", "name"]
    with pytest.raises(TypeError, match="non-frozen"):
        dataclasses.dataclass(type("Loose", (Box,), {}))


def test_ours_may_inherit_from_standard_dataclasses() -> None:
    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Old:
        a: int = 1

    @dataclass(frozen=True, slots=True, kw_only=True)
    class New(Old):
        b: int = 2

    assert (New(a=3).a, New().b) == (3, 2)


def test_fields_are_matched_by_position_unless_they_are_for_keywords() -> None:
    match Count(5, step=2):
        case Count(number, step):
            assert (number, step) == (5, 2)
    assert Point.__match_args__ == ()


def _shapes(decorator: Any) -> list[Any]:  # noqa: ANN401 - one of the two decorators
    """Classes of several shapes."""

    @decorator(frozen=True, slots=True)
    class A:
        a: int
        b: "str" = "x"
        c: list[int] = dataclasses.field(default_factory=list)

    @decorator(slots=True, kw_only=True)
    class B:
        a: int
        b: int = 1
        c: int

    @decorator(frozen=True, slots=True)
    class C(A):
        d: int = dataclasses.field(default=4, repr=False)

    return [A, B, C]


@pytest.mark.parametrize("place", range(3))
def test_signatures_fields_and_errors_are_those_of_the_standard_decorator(place: int) -> None:
    ours, standard = _shapes(dataclass)[place], _shapes(dataclasses.dataclass)[place]
    assert str(inspect.signature(ours)) == str(inspect.signature(standard))
    assert ours.__init__.__qualname__ == standard.__init__.__qualname__
    assert ours.__init__.__annotations__ == standard.__init__.__annotations__
    assert ours.__slots__ == standard.__slots__
    assert ours.__match_args__ == standard.__match_args__
    shown = [str(dataclasses.fields(cls)) for cls in (ours, standard)]
    assert shown[0] == shown[1]
    assert str(ours.__dataclass_params__) == str(standard.__dataclass_params__)
    for wrong in ({}, {"a": 1, "c": [], "unknown": 2}):
        assert _refusal(ours, wrong) == _refusal(standard, wrong)


def _refusal(cls: Callable[..., object], arguments: dict[str, object]) -> str:
    with pytest.raises(TypeError) as refused:
        cls(**arguments)
    return str(refused.value)


def test_classes_that_cannot_be_are_refused() -> None:
    with pytest.raises(ValueError, match="mutable default for field a"):
        dataclass(slots=True)(type("Bad", (), {"__annotations__": {"a": list}, "a": []}))
    with pytest.raises(TypeError, match="Bad has a field without a default after one with"):
        dataclass(slots=True)(type("Bad", (), {"__annotations__": {"a": int, "b": int}, "a": 1}))


def test_what_is_not_written_here_is_left_to_the_standard_decorator() -> None:
    @dataclass
    class Loose:
        a: int
        b: int = dataclasses.field(default=2, init=False)

    @dataclass(order=True, slots=True)
    class Ordered:
        a: int

    assert (Loose(1).b, vars(Loose(1))) == (2, {"a": 1})
    assert Ordered(1) < Ordered(2)


def test_every_module_takes_its_decorator_from_here() -> None:
    package = Path(paimon_explore.__file__).parent
    wrong = "from dataclasses import dataclass"
    taking = [p.name for p in package.rglob("*.py") if wrong in p.read_text(encoding="utf-8")]
    assert taking == ["frozen_dataclass.py"]


def test_threads_compute_a_cached_property_of_several_objects_at_once() -> None:
    both = Barrier(2)

    class Reader:
        @cached_property
        def content(self) -> int:
            return both.wait(timeout=30)

    readers = [Reader(), Reader()]
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda one: one.content, readers))
    assert sorted(found) == [0, 1]
    assert [one.content for one in readers] == found
