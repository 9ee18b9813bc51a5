"""Formatting of VARIANT values as JSON, exactly as Java does."""

import base64
import datetime as dt
from decimal import Decimal
from uuid import UUID

import numpy as np

from paimon_explore.data_types.casts.java_formatting import double_text, float_text
from paimon_explore.data_types.local_time import in_zone
from paimon_explore.encoding.variant.decoder import (
    MICROS_PER_DAY,
    MOMENTS,
    Kind,
    Raw,
    VariantReader,
    decode_keys,
    moment_of,
)


class JsonMaker:
    """Builds JSON text.

    Args:
        zone: the time zone in which timestamps are formatted; None for that of this process.
    """

    def __init__(self, zone: dt.tzinfo | None) -> None:
        self._zone = zone

    def leaf(self, kind: Kind, raw: Raw) -> str:
        """Format a primitive."""
        if isinstance(raw, bool) or raw is None:
            return "null" if raw is None else str(raw).lower()
        if isinstance(raw, int):
            return self._moment(kind, raw) if kind in MOMENTS else str(raw)
        if isinstance(raw, float):
            text = float_text(raw) if kind is Kind.FLOAT else double_text(raw)
            return text if np.isfinite(raw) else f'"{text}"'
        if isinstance(raw, Decimal):
            return _plain(raw)
        if isinstance(raw, str):
            return _quoted(raw)
        return f'"{UUID(bytes=raw) if kind is Kind.UUID else base64.b64encode(raw).decode()}"'

    def array(self, elements: list[str]) -> str:
        """Format an array."""
        return f"[{','.join(elements)}]"

    def object(self, fields: list[tuple[str, str]]) -> str:
        """Format an object."""
        return f"{{{','.join(f'{_quoted(key)}:{value}' for key, value in fields)}}}"

    def _moment(self, kind: Kind, raw: int) -> str:
        if kind is Kind.DATE:
            return f'"{_date_text(raw)}"'
        if kind is Kind.TIMESTAMP_NTZ:
            return f'"{_clock_text(raw)}"'
        offset = self._offset(raw)
        sign = "-" if offset < dt.timedelta() else "+"
        minutes = abs(offset) // dt.timedelta(minutes=1)
        wall = raw + offset // dt.timedelta(microseconds=1)
        return f'"{_clock_text(wall)}{sign}{minutes // 60:02d}:{minutes % 60:02d}"'

    def _offset(self, micros: int) -> dt.timedelta:
        """Return the zone's offset from UTC; zero out of the range of Python's dates."""
        moment = moment_of(Kind.TIMESTAMP, micros)
        if not isinstance(moment, dt.datetime):
            return dt.timedelta()
        try:
            return in_zone(moment, self._zone).utcoffset() or dt.timedelta()
        except OverflowError:
            return dt.timedelta()


def _plain(value: Decimal) -> str:
    """Format a decimal without trailing zeros and without an exponent."""
    text = format(value, "f")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in {"-0", ""} else text


def _date_text(days: int) -> str:
    text = str(np.datetime64(days, "D"))
    return f"+{text}" if len(text) > len("2000-01-01") and text[0] != "-" else text


def _clock_text(micros: int) -> str:
    days, rest = divmod(micros, MICROS_PER_DAY)
    seconds, fraction = divmod(rest, 1_000_000)
    clock = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    digits = f".{fraction:06d}".rstrip("0") if fraction else ""
    return f"{_date_text(days)} {clock}{digits}"


_ESCAPES = {code: f"\\u{code:04X}" for code in range(0x20)} | {
    ord(char): escape
    for char, escape in (
        ('"', '\\"'),
        ("\\", "\\\\"),
        ("\b", "\\b"),
        ("\t", "\\t"),
        ("\n", "\\n"),
        ("\f", "\\f"),
        ("\r", "\\r"),
    )
}


def _quoted(text: str) -> str:
    return f'"{text.translate(_ESCAPES)}"'


def json_text(
    value: bytes, metadata: bytes, *, zone: dt.tzinfo | None = dt.UTC, path: str = ""
) -> str:
    """Format a variant as JSON, exactly as Java does.

    Args:
        value: the bytes of the value.
        metadata: the bytes of the metadata.
        zone: the time zone in which timestamps are formatted; None for that of this process.
        path: path of the file, for errors.

    Raises:
        CorruptFileError: the variant is damaged.
    """
    return VariantReader(value, decode_keys(metadata, path=path), path).read(JsonMaker(zone))
