"""HdrHistogram's V2 encoding of chosen values, written down from its definition.

Source: HdrHistogram, AbstractHistogram.encodeIntoByteBuffer and ZigZagEncoding (public domain).
"""

from __future__ import annotations

import struct
from collections.abc import Mapping

_COOKIE = 0x1C849313
_HOUR_NS = 3600 * 10**9


def encode(counts: Mapping[int, int]) -> bytes:
    """Return the histogram that holds each value (nanoseconds) as often as its count says, to three digits."""
    by_index: dict[int, int] = {}
    for value, count in counts.items():
        if not count:
            continue
        bucket = max(0, value.bit_length() - 11)
        index = ((bucket + 1) << 10) + (value >> bucket) - 1024
        by_index[index] = by_index.get(index, 0) + count
    payload, position = b"", 0
    for index in sorted(by_index):
        if index > position:
            payload += _zigzag(position - index)
        payload += _zigzag(by_index[index])
        position = index + 1
    return struct.pack(">iiiiqqd", _COOKIE, len(payload), 0, 3, 1, _HOUR_NS, 1.0) + payload


def _zigzag(number: int) -> bytes:
    """Seven bits at a time, the lowest first; negative numbers count empty places."""
    rest, encoded = (number << 1) ^ (number >> 63), b""
    while rest >= 0x80:
        encoded += bytes([rest & 0x7F | 0x80])
        rest >>= 7
    return encoded + bytes([rest])
