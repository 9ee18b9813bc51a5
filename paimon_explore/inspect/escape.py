"""Table data made safe to show: every name, value, path and message passes here before markup.

Control and bidi characters become visible escapes, the same ones as in the browser
(`widgets/frontend/src/text.js`), and long texts are cut.
"""

import html
import re

CELL_LIMIT = 256
"""Most characters of one value in a table cell."""

_UNSEEN = re.compile(
    "[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064"
    "\u2066-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb]"
)
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def visible(text: str) -> str:
    r"""The text with every control and bidi character drawn as an escape.

    >>> visible("a\x1b[31m\n\u202eb")
    'a\\x1b[31m\\n\\u{202e}b'
    """
    return _UNSEEN.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    character = found.group()
    code = ord(character)
    wide = f"\\x{code:02x}" if code < 256 else f"\\u{{{code:04x}}}"  # noqa: PLR2004 - one byte
    return _SHORT.get(character, wide)


def cut(text: str, limit: int = CELL_LIMIT) -> str:
    """The beginning of a long text.

    >>> cut("abcdef", 4)
    'abcd…'
    """
    return text if len(text) <= limit else f"{text[:limit]}…"


def esc(text: object) -> str:
    """Text for HTML and SVG, as content or as a quoted attribute.

    >>> esc("<b onload='x'>")
    '&lt;b onload=&#x27;x&#x27;&gt;'
    """
    return html.escape(visible(cut(str(text))))


def quoted(text: str) -> str:
    r"""The text as a Python literal that shows every character.

    >>> print(quoted('a "b"\u202e'))
    'a "b"\u202e'
    """
    return repr(text)
