"""The recorded list of table options is that of Java."""

import pytest

from oracle import JavaPaimon
from support.java_options import java_options

pytestmark = pytest.mark.interop


def test_the_recorded_options_are_those_of_java(java: JavaPaimon) -> None:
    assert java.core_options() == java_options()
