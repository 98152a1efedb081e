"""Moments as recordings write them, in nanoseconds since 1970."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache

_ISO_8601 = re.compile(
    r"(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2}):([0-5]\d|60)(?:[.,](\d*))?"
    r"(?:[Zz]|([+-])(\d{2})(?::?([0-5]\d))?)?",
    re.ASCII,
)
_LOG_TIME = re.compile(rb"(\d{2})/([A-Za-z]{3})/(\d{4}):(\d{2}:\d{2}:\d{2}) ([+-]\d{4})")
_MONTHS = {
    name: number for number, name in enumerate(b"jan feb mar apr may jun jul aug sep oct nov dec".split(), 1)
}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# the years 1678 to 2261, as in 64 bits; what lies beyond is a slip of an exporter
_RANGE_NS = range(-(2**63), 2**63)


def iso_8601(text: str) -> int | None:
    """Read ``2026-10-10T13:55:36.123+02:00``; any number of decimals, ``Z`` or no offset for UTC.

    Source: ISO 8601. ``datetime.fromisoformat`` drops nanoseconds and knows no leap second.
    """
    match = _ISO_8601.fullmatch(text.strip())
    if match is None:
        return None
    year, month, day, hour, minute, second = map(int, match.groups()[:6])
    away = timedelta(hours=int(match[9] or 0), minutes=int(match[10] or 0))
    try:
        zone = timezone(-away if match[8] == "-" else away)
        moment = datetime(year, month, day, hour, minute, min(second, 59), tzinfo=zone)
    except ValueError:
        return None
    # 60 is a leap second
    since_s = (moment - _EPOCH) // timedelta(seconds=1) + (second == 60)
    since_ns = since_s * 10**9 + int((match[7] or "")[:9].ljust(9, "0"))
    return since_ns if since_ns in _RANGE_NS else None


@lru_cache(maxsize=4096)
def log_time(text: bytes) -> int | None:
    """Read ``10/Oct/2026:13:55:36 +0200``. Source: Apache mod_log_config, ``%t``; nginx, ``$time_local``."""
    match = _LOG_TIME.fullmatch(text)
    if match is None or (month := _MONTHS.get(match[2].lower())) is None:
        return None
    day, _, year, clock, offset = (part.decode() for part in match.groups())
    return iso_8601(f"{year}-{month:02}-{day}T{clock}{offset}")
