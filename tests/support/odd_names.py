"""Names that programs forget: of columns, tables, tags and branches, and values of partitions."""

ODD_NAMES = (
    *("a b", " a", "a ", "a.b", "a$b", "it's", 'say "x"', "a`b", "a\\b", "a/b", "100%", "a%20b"),
    *("a#b", "a?b", "a&b", "a=b", "a:b", "a;b", "a,b", "a--b", "f(x)", "[x]", "{x}", "*", "a\nb"),
    *("a\tb", "a\x1b[31mb", "a\x7fb", "\u00e9", "e\u0301", "\U0001f600", "\u540d\u524d", "\u0130"),
    *("select", "order", "group", "table", "timestamp", "null", "true", "123", "1.5", "-1", "_x"),
    *("<b>x</b>", "a\u202eb", "\u00a0a", "n" * 300, "__DEFAULT_PARTITION__", "count", "''", "?"),
)

BLANK_VALUES = (
    *("", " ", "  ", "\t", "\x0b", "\x0c", "\x1c", "\x1f", "\u1680", "\u2003", "\u2028", "\u3000"),
)
"""Texts that Java takes for blank."""

NOT_BLANK_VALUES = ("\x85", "\u00a0", "\u2007", "\u202f", "\u200b", "\u180e", "\ufeff")
"""Texts that look blank, and are not for Java."""

ODD_PARTITION_VALUES = (
    *(name for name in ODD_NAMES if len(name) < 200),
    *BLANK_VALUES,
    *NOT_BLANK_VALUES,
    *("'null'", "'", "a/q=b", "p=a"),
)
