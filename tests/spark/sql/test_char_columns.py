"""CHAR(n) columns on Spark: the tests of all engines."""

from support.sql_char_tests import *  # noqa: F403 - the tests of all engines
