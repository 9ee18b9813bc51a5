r"""Regular expressions of RLIKE: Java's syntax, translated to RE2, which matches in linear time.

What means the same in both is translated: characters, `.`, classes such as `[a-z\d]`, `\d \w \s`,
groups, alternatives, quantifiers, `^` and a `$` at the end. What RE2 lacks or means otherwise
(back references, lookaround, possessive quantifiers, `\b`, flags) is refused.
"""

import re
from collections.abc import Iterator

from paimon_explore.errors import InvalidInputError

_NOT_TERMINATOR = r"[^\n\r\x{85}\x{2028}\x{2029}]"
_END = r"(?:\r\n|[\n\r\x{85}\x{2028}\x{2029}])?\z"
_PLAIN = {".": _NOT_TERMINATOR, "^": "^", "|": "|", ")": ")"}
_SPACES = r" \t\n\x0B\f\r"
_ESCAPES = {"d", "D", "w", "W", "t", "n", "r", "f"}
_QUANTIFIER = re.compile(r"(?:[*+?]|\{\d+(?:,\d*)?\})")
_HINT = "Use LIKE, or a regular expression of characters, classes, groups and quantifiers."


def re2_pattern(pattern: str) -> str:
    r"""Translate a regular expression of Java to RE2.

    Raises:
        InvalidInputError: it has a part that RE2 does not have or that means something else.

    >>> re2_pattern(r"^a\s+b")
    '^a[ \\t\\n\\x0B\\f\\r]+b'
    """
    return "".join(_Translation(pattern).parts())


class _Translation:
    """The translation of one pattern."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0

    def _refused(self, part: str) -> InvalidInputError:
        return InvalidInputError(
            f"{part!r} in the regular expression {self._pattern!r} is not supported.", hint=_HINT
        )

    def parts(self) -> Iterator[str]:
        after_quantifier = False
        while self._at < len(self._pattern):
            found = _QUANTIFIER.match(self._pattern, self._at)
            if found is not None:
                if after_quantifier and found[0] != "?":
                    raise self._refused(self._pattern[self._at - 1 : found.end()])
                self._at = found.end()
                after_quantifier = not after_quantifier
                yield found[0]
                continue
            after_quantifier = False
            yield self._part(self._next())

    def _next(self) -> str:
        self._at += 1
        return self._pattern[self._at - 1]

    def _part(self, char: str) -> str:
        if char == "{":
            raise self._refused(char)
        if char in _PLAIN:
            return _PLAIN[char]
        special = {"\\": self._escape, "[": self._class, "(": self._group, "$": self._end}
        return special[char]() if char in special else re.escape(char)

    def _escape(self) -> str:
        if self._at == len(self._pattern):
            raise self._refused("\\")
        char = self._next()
        if char in "sS":
            return f"[{'^' if char == 'S' else ''}{_SPACES}]"
        if char in _ESCAPES or char in "Az":
            return f"\\{char}"
        if char.isalnum():
            raise self._refused(f"\\{char}")
        return re.escape(char)

    def _group(self) -> str:
        if not self._pattern.startswith("?", self._at):
            return "("
        if not self._pattern.startswith("?:", self._at):
            raise self._refused(self._pattern[self._at - 1 : self._at + 2])
        self._at += 2
        return "(?:"

    def _end(self) -> str:
        rest = self._pattern[self._at :]
        is_last = not rest.strip(")")
        if not is_last and not (rest.startswith("|") and self._is_outside()):
            raise self._refused("$")
        return _END

    def _is_outside(self) -> bool:
        """Whether the position is in no group."""
        before = re.sub(r"\\.", "", self._pattern[: self._at])
        return before.count("(") == before.count(")")

    def _class(self) -> str:
        parts = ["["]
        if self._pattern.startswith("^", self._at):
            parts.append(self._next())
        first = self._at
        while self._at < len(self._pattern):
            char = self._next()
            if char == "]" and self._at - 1 > first:
                return "".join((*parts, "]"))
            if char in "[]" or (char == "&" and self._pattern.startswith("&", self._at)):
                break
            parts.append(self._class_escape() if char == "\\" else char)
        raise self._refused(self._pattern[first - 1 : self._at])

    def _class_escape(self) -> str:
        if self._at == len(self._pattern):
            raise self._refused("\\")
        char = self._next()
        if char == "s":
            return _SPACES
        if char in _ESCAPES:
            return f"\\{char}"
        if char.isalnum():
            raise self._refused(f"\\{char}")
        return f"\\{char}" if char.isascii() else char
