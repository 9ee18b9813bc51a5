"""Escapes table data for HTML and SVG: names, values, paths and messages.

Secrets are masked, control characters become visible escapes (`sanitize`, as in the browser, see
`widgets/frontend/src/text_format.js`), and long texts are truncated.
"""

import html

from paimon_explore.sanitize import masked, visible

CELL_LIMIT = 256
"""Maximum number of characters of a table cell."""


def truncate(text: str, limit: int = CELL_LIMIT) -> str:
    """Truncate a long text after masking secrets, which might be cut in the middle.

    >>> truncate("abcdef", 4)
    'abcd…'
    """
    whole = masked(text)
    return whole if len(whole) <= limit else f"{whole[:limit]}…"


def esc(text: object) -> str:
    """Escape text for HTML and SVG, as content or quoted attribute.

    >>> esc("<b onload='x'>")
    '&lt;b onload=&#x27;x&#x27;&gt;'
    """
    return html.escape(visible(truncate(str(text))))
