"""Table data made safe to show: every name, value, path and message passes here before markup.

Secrets are masked and control characters become visible escapes (`sanitize`), the same ones as in
the browser (`widgets/frontend/src/text.js`), and long texts are cut.
"""

import html

from paimon_explore.sanitize import masked, visible

CELL_LIMIT = 256
"""Most characters of one value in a table cell."""


def cut(text: str, limit: int = CELL_LIMIT) -> str:
    """The beginning of a long text, with its secrets masked: a part of one would show.

    >>> cut("abcdef", 4)
    'abcd…'
    """
    whole = masked(text)
    return whole if len(whole) <= limit else f"{whole[:limit]}…"


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
