r"""Text that people see: secrets masked, control characters made visible.

Names, option values, paths and messages come from tables that other people wrote. Whatever shows
them (errors, `repr`, text, HTML, JSON of the explorer, the command line) passes them through here:

- `masked` replaces secrets: values of options whose name says so (`is_secret`), passwords in URLs
  (`s3://user:password@host`), and secret parameters of URLs and connection strings (`?sig=…`,
  `X-Amz-Signature=…`, `AccountKey=…`).
- `visible` writes control characters, escape sequences, bidirectional overrides and invisible
  characters as escapes such as `\x1b`, so that no terminal obeys them.
- `shown` does both.

Options keep their real values: only what is displayed is masked.
"""

import re
from collections.abc import Callable, Mapping

MASK = "******"
"""Stands for a secret."""

_WORDS = (
    "accesskey",
    "accountkey",
    "apikey",
    "authorization",
    "bearer",
    "connectionstring",
    "credential",
    "encryptionkey",
    "keytoken",
    "masterkey",
    "passphrase",
    "passwd",
    "password",
    "privatekey",
    "sastoken",
    "secret",
    "sharedkey",
    "signature",
    "storagekey",
    "token",
)
_HARMLESS = re.compile(r"tokeni[sz]|tokencount|tokenlength")
_SHORT_WORDS = frozenset({"pass", "pwd", "sas", "sig"})
_COLUMN_OPTIONS = ("fields.", "file-index.")
"""Table options whose names contain names of columns."""
_STORAGE_PREFIX = "fs."
_SPLIT = re.compile(r"[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])")
_BARE_KEY = "key"

_URL_USER = (
    r"(?P<user>://[^\s/:@?#'\"<>]{0,256}:)(?!\d+(?:[/?#\s'\",;]|$))"
    r"(?P<password>[^\s/?#'\"<>]{1,1024}|[^\s@?#'\"<>]{1,1024})(?=@)"
)
_PARAMETER = (
    r"(?P<before>[?&;])(?P<parameter>[\w.%-]{1,200})=(?P<given>[^&;#\s'\"<>,)]*[^&;#\s'\"<>,):.])"
)
_CONNECTION = (
    r"(?P<part>\b(?:Account|SharedAccess)Key|\bSharedAccessSignature|\bX-Amz-(?:Signature|"
    r"Credential|Security-Token))(?P<equals>\s*[=:]\s*)(?P<content>[^&;\s'\"<>,)]*[^&;\s'\"<>,):.])"
)
_QUOTED = (
    r"(?P<mark>['\"])(?P<name>[\w.\- ]{1,200})(?P=mark)(?P<sign>\s{0,8}[:=]\s{0,8})"
    r"(?:\"(?P<double>(?:[^\"\\\n]|\\.)*)\"|'(?P<single>(?:[^'\\\n]|\\.)*)')"
)
_PLAIN = (
    r"(?<![\w.-])(?P<option>\w{1,80}(?:[.-]\w{1,80}){1,12})="
    r"(?P<plain>[^\s,;&'\"<>\])}]*[^\s,;&'\"<>\])}:.])"
)
_ELEMENT = r"<(?P<element>[\w.-]{1,80})>(?P<text>[^<>]{1,4096})(?=</)"
_SECRETS = re.compile(
    f"{_URL_USER}|{_CONNECTION}|{_PARAMETER}|{_QUOTED}|{_PLAIN}|{_ELEMENT}", re.IGNORECASE
)
_SECRET_GROUPS = (
    ("", "password"),
    ("parameter", "given"),
    ("", "content"),
    ("name", "double"),
    ("name", "single"),
    ("option", "plain"),
    ("element", "text"),
)
"""Where the expression finds a name, empty if what it found is a secret anyway, and its value."""

UNSEEN = (
    "\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufeff\uffa0\ufff0-\ufffb"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Characters that are invisible or change how others look, as ranges of a regular expression."""

_UNSEEN = re.compile(f"[{UNSEEN}]")
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def is_secret(name: str) -> bool:
    """Whether an option or parameter of that name holds a secret.

    Case and separators do not matter.

    >>> is_secret("fs.s3a.access.key"), is_secret("AccountKey"), is_secret("primary-key")
    (True, True, False)
    """
    lower = name.lower()
    if lower.startswith(_COLUMN_OPTIONS):
        return False
    letters = "".join(char for char in lower if char.isalnum())
    if any(word in _HARMLESS.sub("", letters) for word in _WORDS):
        return True
    words = [word.lower() for word in _SPLIT.split(name)]
    if lower.startswith(_STORAGE_PREFIX) and _BARE_KEY in words:
        return True
    return not _SHORT_WORDS.isdisjoint(words)


def masked_options(options: Mapping[str, str]) -> dict[str, str]:
    """Options as they are shown: secrets masked, by name and inside URLs.

    >>> masked_options({"bucket": "2", "s3.secret-key": "abc"})
    {'bucket': '2', 's3.secret-key': '******'}
    """
    return {name: masked_value(name, value) for name, value in options.items()}


def masked_value(name: str, value: str) -> str:
    """The value of one option as it is shown."""
    if value and (is_secret(name) or name.lower() == _BARE_KEY):
        return MASK
    return masked(value)


def masked(text: str) -> str:
    """The text with its secrets masked.

    >>> masked("s3://user:pw@bucket/t?sig=a1b2&x=1")
    's3://user:******@bucket/t?sig=******&x=1'
    """
    suspect = "=" in text or ":" in text or "</" in text
    return _SECRETS.sub(_masked, text) if suspect else text


def masked_repr(value: object) -> str:
    """The `repr` of a member of a value: options, pairs of options and texts are masked.

    >>> masked_repr((("token", "abc"), ("region", "x")))
    "(('token', '******'), ('region', 'x'))"
    """
    match value:
        case str():
            return repr(masked(value))
        case Mapping() if all(isinstance(name, str) for name in value):
            texts = [f"{name!r}: {_masked_member(name, inner)}" for name, inner in value.items()]
            return f"{{{', '.join(texts)}}}"
        case tuple():
            pairs = [_masked_pair(one) for one in value]
            return repr(value if None in pairs else tuple(pairs))
        case _:
            return repr(value)


def _masked_member(name: str, value: object) -> str:
    return repr(masked_value(name, value)) if isinstance(value, str) else masked_repr(value)


def _masked_pair(value: object) -> tuple[str, str] | None:
    match value:
        case (str(name), str(text)):
            return name, masked_value(name, text)
        case _:
            return None


def masked_json(data: bytes) -> bytes:
    """A JSON file with its secrets overwritten by as many asterisks; no byte moves.

    >>> masked_json(b'{"s3.secret-key" : "abc", "bucket" : "2"}')
    b'{"s3.secret-key" : "***", "bucket" : "2"}'
    """
    text = data.decode("latin-1")
    return _SECRETS.sub(_overwritten, text).encode("latin-1")


def masked_members(members: Mapping[str, object]) -> dict[str, object]:
    """A JSON object with the secrets in its texts masked."""
    return {name: masked_tree(value) for name, value in members.items()}


def masked_tree(value: object) -> object:
    """JSON with the secrets in its texts masked."""
    match value:
        case str():
            return masked(value)
        case Mapping():
            return {key: masked_tree(inner) for key, inner in value.items()}
        case list() | tuple():
            return [masked_tree(inner) for inner in value]
        case _:
            return value


def _masked(found: re.Match[str]) -> str:
    return _replaced(found, lambda value: MASK if value else "", _masked)


def _overwritten(found: re.Match[str]) -> str:
    return _replaced(found, lambda value: "*" * len(value), _overwritten)


def _replaced(
    found: re.Match[str], hide: Callable[[str], str], again: Callable[[re.Match[str]], str]
) -> str:
    """The match with its secret hidden; a value that is none may have secrets inside."""
    name, group = next(pair for pair in _SECRET_GROUPS if found[pair[1]] is not None)
    value = found[group]
    is_whole = not name or is_secret(found[name])
    inner = hide(value) if is_whole else _SECRETS.sub(again, value)
    start, end = (place - found.start() for place in found.span(group))
    return f"{found.group()[:start]}{inner}{found.group()[end:]}"


def visible(text: str) -> str:
    r"""The text with every control, bidirectional and invisible character written as an escape.

    >>> visible("a\x1b[31m\n\u202eb")
    'a\\x1b[31m\\n\\u{202e}b'
    """
    return text if text.isascii() and text.isprintable() else _UNSEEN.sub(_escape, text)


def encodable(text: str) -> str:
    r"""The text as UTF-8 can hold it: bytes of a file name that are not UTF-8 become escapes.

    >>> encodable("a\udcff")
    'a\\udcff'
    """
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def visible_lines(text: str) -> str:
    r"""As `visible`, but line ends stay: for output that has several lines.

    >>> visible_lines("a\nb\x1b")
    'a\nb\\x1b'
    """
    return "\n".join([visible(line) for line in text.split("\n")])


def shown(text: str) -> str:
    """The text as any screen may show it: secrets masked, control characters visible."""
    return visible(masked(text))


def _escape(found: re.Match[str]) -> str:
    character = found.group()
    code = ord(character)
    wide = f"\\x{code:02x}" if code < 256 else f"\\u{{{code:04x}}}"  # noqa: PLR2004 - one byte
    return _SHORT.get(character, wide)
