"""Moments as recordings write them, in nanoseconds since 1970."""

from __future__ import annotations

import re
from datetime import date
from functools import lru_cache

_ISO_8601 = re.compile(
    r"(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2}):(\d{2})(?:[.,](\d*))?(?:[Zz]|([+-])(\d{2}):?(\d{2})?)?", re.ASCII
)
_LOG_TIME = re.compile(rb"(\d{2})/([A-Za-z]{3})/(\d{4}):(\d{2}:\d{2}:\d{2}) ([+-]\d{4})")
_MONTHS = {
    name: number for number, name in enumerate(b"jan feb mar apr may jun jul aug sep oct nov dec".split(), 1)
}
_EPOCH = date(1970, 1, 1).toordinal()
# the years 1678 to 2261, as in 64 bits; what lies beyond is a slip of an exporter
_RANGE_NS = range(-(2**63), 2**63)


def iso_8601(text: str) -> int | None:
    """Read ``2026-10-10T13:55:36.123+02:00``; any number of decimals, ``Z`` or no offset for UTC.

    Source: ISO 8601. ``datetime.fromisoformat`` drops nanoseconds and knows no leap second.
    """
    match = _ISO_8601.fullmatch(text.strip())
    if match is None or match[0].endswith(":"):
        return None
    year, month, day, hour, minute, second = map(int, match.groups()[:6])
    fraction_ns = int((match[7] or "")[:9].ljust(9, "0"))
    away_h, away_min = int(match[9] or 0), int(match[10] or 0)
    # 60 is a leap second
    if hour > 23 or minute > 59 or second > 60 or away_h > 23 or away_min > 59:
        return None
    try:
        days = date(year, month, day).toordinal() - _EPOCH
    except ValueError:
        return None
    offset_s = (-1 if match[8] == "-" else 1) * (away_h * 3600 + away_min * 60)
    moment = (days * 86_400 + hour * 3600 + minute * 60 + second - offset_s) * 10**9 + fraction_ns
    return moment if moment in _RANGE_NS else None


@lru_cache(maxsize=4096)
def log_time(text: bytes) -> int | None:
    """Read ``10/Oct/2026:13:55:36 +0200``. Source: Apache mod_log_config, ``%t``; nginx, ``$time_local``."""
    match = _LOG_TIME.fullmatch(text)
    if match is None or (month := _MONTHS.get(match[2].lower())) is None:
        return None
    day, _, year, clock, offset = (part.decode() for part in match.groups())
    return iso_8601(f"{year}-{month:02}-{day}T{clock}{offset}")
