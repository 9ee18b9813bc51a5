r"""Sanitizing of displayed text: masks secrets and escapes control characters.

Names, option values, paths and messages come from untrusted tables. All output that contains them
(errors, `repr`, text, HTML, JSON of the explorer, the command line) goes through this module:

- `masked` replaces secrets: values of options with a secret name (`is_secret`), passwords in URLs
  (`s3://user:password@host`), and secret parameters of URLs and connection strings (`?sig=…`,
  `X-Amz-Signature=…`, `AccountKey=…`).
- `visible` replaces control characters, escape sequences, bidirectional overrides and invisible
  characters by escapes such as `\x1b`, so that terminals do not interpret them.
- `sanitized` does both.

Options keep their real values: only displayed text is masked.
"""

import re
from collections.abc import Callable, Mapping
from functools import cache

MASK = "******"
"""Replacement for a secret."""

_WORDS = (
    *("accesskey", "accountkey", "apikey", "authorization", "bearer", "connectionstring"),
    *("credential", "encryptionkey", "keytoken", "masterkey", "passphrase", "passwd", "password"),
    *("privatekey", "sastoken", "secret", "sharedkey", "signature", "storagekey", "token"),
)
_HARMLESS = r"tokeni[sz]|tokencount|tokenlength"
_SHORT_WORDS = frozenset({"pass", "pwd", "sas", "sig"})
_COLUMN_OPTIONS = ("fields.", "file-index.")
"""Prefixes of table options whose names contain column names."""
_STORAGE_PREFIX = "fs."
_SPLIT = r"[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])"
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
_SECRETS = f"{_URL_USER}|{_CONNECTION}|{_PARAMETER}|{_QUOTED}|{_PLAIN}|{_ELEMENT}"
_SECRET_GROUPS = (
    ("", "password"),
    ("parameter", "given"),
    ("", "content"),
    ("name", "double"),
    ("name", "single"),
    ("option", "plain"),
    ("element", "text"),
)
"""Groups of `_SECRETS`: the name (empty if the value is always a secret) and the value."""

INVISIBLE = (
    "\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufeff\uffa0\ufff0-\ufffb"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Characters that are invisible or change the display of others, as regular expression ranges."""

_INVISIBLE = f"[{INVISIBLE}]"
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


@cache
def _secrets() -> re.Pattern[str]:
    """Return what matches secrets; compiled on first use, as most processes show none."""
    return re.compile(_SECRETS, re.IGNORECASE)


def is_secret(name: str) -> bool:
    """Return whether an option or parameter of that name contains a secret.

    Ignores case and separators.

    >>> is_secret("fs.s3a.access.key"), is_secret("AccountKey"), is_secret("primary-key")
    (True, True, False)
    """
    lower = name.lower()
    if lower.startswith(_COLUMN_OPTIONS):
        return False
    letters = "".join(char for char in lower if char.isalnum())
    if any(word in re.sub(_HARMLESS, "", letters) for word in _WORDS):
        return True
    words = [word.lower() for word in re.split(_SPLIT, name)]
    if lower.startswith(_STORAGE_PREFIX) and _BARE_KEY in words:
        return True
    return not _SHORT_WORDS.isdisjoint(words)


def masked_options(options: Mapping[str, str]) -> dict[str, str]:
    """Return options with secrets masked, by name and inside URLs.

    >>> masked_options({"bucket": "2", "s3.secret-key": "abc"})
    {'bucket': '2', 's3.secret-key': '******'}
    """
    return {name: masked_value(name, value) for name, value in options.items()}


def masked_value(name: str, value: str) -> str:
    """Return the value of one option with secrets masked."""
    return MASK if value and (is_secret(name) or name.lower() == _BARE_KEY) else masked(value)


def masked(text: str) -> str:
    """Return the text with its secrets masked.

    >>> masked("s3://user:pw@bucket/t?sig=a1b2&x=1")
    's3://user:******@bucket/t?sig=******&x=1'
    """
    suspect = "=" in text or ":" in text or "</" in text
    return _secrets().sub(_masked, text) if suspect else text


def masked_repr(value: object) -> str:
    """Return the `repr` of a field value with secrets in options, pairs and texts masked.

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
    """Overwrite the secrets of a JSON file with asterisks; byte offsets stay the same.

    >>> masked_json(b'{"s3.secret-key" : "abc", "bucket" : "2"}')
    b'{"s3.secret-key" : "***", "bucket" : "2"}'
    """
    text = data.decode("latin-1")
    return _secrets().sub(_overwritten, text).encode("latin-1")


def masked_members(members: Mapping[str, object]) -> dict[str, object]:
    """Mask the secrets in the strings of a JSON object."""
    return {name: masked_tree(value) for name, value in members.items()}


def masked_tree(value: object) -> object:
    """Mask the secrets in the strings of a JSON value."""
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
    """Return the match with its secret hidden; values that are no secret are searched inside."""
    name, group = next(pair for pair in _SECRET_GROUPS if found[pair[1]] is not None)
    value = found[group]
    is_whole = not name or is_secret(found[name])
    inner = hide(value) if is_whole else _secrets().sub(again, value)
    start, end = (offset - found.start() for offset in found.span(group))
    return f"{found.group()[:start]}{inner}{found.group()[end:]}"


def visible(text: str) -> str:
    r"""Escape every control, bidirectional and invisible character of a text.

    >>> visible("a\x1b[31m\n\u202eb")
    'a\\x1b[31m\\n\\u{202e}b'
    """
    return text if text.isascii() and text.isprintable() else re.sub(_INVISIBLE, _escape, text)


def encodable(text: str) -> str:
    r"""Escape the characters that UTF-8 cannot encode, such as invalid bytes of file names.

    >>> encodable("a\udcff")
    'a\\udcff'
    """
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def visible_lines(text: str) -> str:
    r"""Like `visible`, but keeps line breaks, for multi-line output.

    >>> visible_lines("a\nb\x1b")
    'a\nb\\x1b'
    """
    return "\n".join([visible(line) for line in text.split("\n")])


def sanitized(text: str) -> str:
    """Return the text with secrets masked and control characters escaped."""
    return visible(masked(text))


def _escape(found: re.Match[str]) -> str:
    character = found.group()
    code = ord(character)
    wide = f"\\x{code:02x}" if code < 256 else f"\\u{{{code:04x}}}"  # noqa: PLR2004 - one byte
    return _SHORT.get(character, wide)
