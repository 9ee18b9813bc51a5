"""Small changes of a module's syntax tree."""

import ast
import hashlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from mutation.packages import ROOT

_Put = Callable[[ast.AST], None]
_Change = tuple[str, Callable[[], None]]
_TWO = 2
_Function = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)

_OPERATORS = (
    "Lt LtE, LtE Lt, Gt GtE, GtE Gt, Eq NotEq, NotEq Eq, Is IsNot, IsNot Is, In NotIn, NotIn In,"
    " Add Sub, Sub Add, Mult FloorDiv, Div Mult, FloorDiv Mult, Mod FloorDiv, Pow Mult,"
    " LShift RShift, RShift LShift, BitAnd BitOr, BitOr BitAnd, BitXor BitOr, And Or, Or And"
)
_OTHER_OPERATOR = dict(pair.split() for pair in _OPERATORS.split(", "))
_OTHER_FUNCTION = {"min": "max", "max": "min", "any": "all", "all": "any"}
_TYPES_ONLY = {"annotation", "returns", "decorator_list", "type_params"}
_OF_TYPES = {"NewType", "TypeVar", "cast"}
_HAS_A_TEST = (ast.If, ast.While, ast.IfExp)
_PLAIN_TEST = (ast.Name, ast.Attribute, ast.Call, ast.NamedExpr)


@dataclass(frozen=True)
class Mutant:
    """One change: the `number`-th of its module.

    `lines` are those that a test must reach, or empty if the change takes effect on import.
    """

    path: str
    number: int
    lines: range
    line: int
    change: str
    code: str

    @property
    def key(self) -> str:
        """What tells it from others as long as its line of code stays."""
        return f"{self.path}: {self.change}: {self.code}"

    def tree(self) -> ast.Module:
        """The module with this change."""
        tree = ast.parse((ROOT / self.path).read_text(encoding="utf-8"))
        points = _points(tree, range(0), "")
        next(point for number, point in enumerate(points) if number == self.number)[-1]()
        return ast.fix_missing_locations(tree)


def mutants(path: str) -> Iterator[Mutant]:
    """All mutants of a module."""
    text = (ROOT / path).read_text(encoding="utf-8")
    source = text.splitlines()
    seen: Counter[tuple[str, str]] = Counter()
    for number, (lines, line, change, _) in enumerate(_points(ast.parse(text), range(0), "")):
        code = source[line - 1].strip()
        seen[code, change] += 1
        times = seen[code, change]
        shown = change if times == 1 else f"{change} #{times}"
        yield Mutant(path, number, lines, line, shown, code)


def sample(found: list[Mutant], count: int, seed: int) -> list[Mutant]:
    """A random choice that another edit of the code hardly changes."""
    ranks = {m: hashlib.sha256(f"{seed} {m.key}".encode()).digest() for m in found}
    return sorted(found, key=ranks.__getitem__)[:count]


def _points(
    node: ast.AST, lines: range, within: str
) -> Iterator[tuple[range, int, str, Callable[[], None]]]:
    """(lines to reach, line, description, how to apply it) below a node, in order."""
    for field, value in ast.iter_fields(node):
        if field in _TYPES_ONLY:
            continue
        for index, child in enumerate(value if isinstance(value, list) else [value]):
            if not isinstance(child, ast.AST) or _is_no_behaviour(child):
                continue
            put: _Put = (
                partial(value.__setitem__, index)
                if isinstance(value, list)
                else partial(setattr, node, field)
            )
            inside = within
            if isinstance(child, _Function):
                inside = "function"
            elif isinstance(child, ast.Raise):
                inside = "raise"
            reach = _reach(child, lines) if inside else lines
            if hasattr(child, "lineno"):
                for change, apply in _changes(child, put, inside):
                    yield reach, child.lineno, change, apply
            yield from _points(child, reach, inside)


def _reach(node: ast.AST, lines: range) -> range:
    """Lines of the statement that a node is or stands in; a definition's are its body's too."""
    if not isinstance(node, ast.stmt):
        return lines
    body: list[ast.stmt] = [] if isinstance(node, _Function) else getattr(node, "body", [])
    end = body[0].lineno if body else (node.end_lineno or node.lineno) + 1
    return range(node.lineno, max(end, node.lineno + 1))


def _is_no_behaviour(node: ast.AST) -> bool:
    match node:
        case ast.Assert() | ast.keyword(arg="strict") | ast.Expr(value=ast.Constant()):
            return True
        case ast.Call(func=ast.Name(id=name)):
            return name in _OF_TYPES
        case ast.Assign(targets=[ast.Name(id=name)]):
            return name.startswith("__")
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
        case _:
            return False


def _changes(node: ast.AST, put: _Put, within: str) -> Iterator[_Change]:
    """Changes of expressions, then of statements."""
    match node:
        case ast.Compare(ops=operators):
            for index, operator in enumerate(operators):
                yield from _other_operator(operator, partial(operators.__setitem__, index))
        case ast.BinOp(op=operator) | ast.AugAssign(op=operator) | ast.BoolOp(op=operator):
            yield from _other_operator(operator, partial(setattr, node, "op"))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield "not x -> x", partial(put, operand)
        case ast.Constant(value=bool() | int() | float() | str() as value):
            if not (isinstance(value, str) and within == "raise"):
                other = _other_constant(value)
                yield f"{value!r} -> {other!r}", partial(put, ast.Constant(other))
        case ast.Call():
            yield from _other_call(node)
        case _:
            yield from _statement_changes(node, put)
    if isinstance(node, _HAS_A_TEST) and isinstance(node.test, _PLAIN_TEST):
        yield "if x -> if not x", partial(setattr, node, "test", ast.UnaryOp(ast.Not(), node.test))


def _statement_changes(node: ast.AST, put: _Put) -> Iterator[_Change]:
    match node:
        case ast.Break():
            yield "break -> continue", partial(put, ast.Continue())
        case ast.Continue():
            yield "continue -> break", partial(put, ast.Break())
        case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
            yield "return x -> return None", partial(setattr, node, "value", ast.Constant(None))
        case ast.Expr(value=ast.Call()):
            yield "call -> pass", partial(put, ast.Pass())
        case _:
            return


def _other_call(node: ast.Call) -> Iterator[_Change]:
    name = ast.unparse(node.func)
    other = _OTHER_FUNCTION.get(name)
    if other is not None:
        yield f"{name} -> {other}", partial(setattr, node, "func", ast.Name(other, ast.Load()))
    elif len(node.args) == _TWO and name not in {"isinstance", "issubclass"}:
        first, second = node.args
        if not isinstance(first, ast.Starred):
            yield "f(x, y) -> f(y, x)", partial(setattr, node, "args", [second, first])


def _other_operator(operator: ast.AST, put: _Put) -> Iterator[_Change]:
    name = type(operator).__name__
    other = _OTHER_OPERATOR.get(name)
    if other is not None:
        yield f"{name} -> {other}", partial(put, getattr(ast, other)())


def _other_constant(value: object) -> bool | float | str:
    match value:
        case bool():
            return not value
        case int() | float():
            return value + 1
        case _:
            return f"{value}?"
