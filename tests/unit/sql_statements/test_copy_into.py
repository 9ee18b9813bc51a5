"""COPY INTO without Spark."""

from support.copy_into_tests import *  # noqa: F403 - the tests of all engines
