"""Joins two taps in different network namespaces, and holds every frame back for a while; some it loses.

Run as ``relay.py NAMESPACE TAP NAMESPACE TAP DELAY_S LOSS BYTES_PER_S``: the round trip grows by twice the delay.
No more than so many bytes get through in either direction; with 0 all do. It stands for a long, bad or narrow wire
where the kernel has neither netem nor tbf.
"""

import ctypes
import fcntl
import heapq
import os
import random
import select
import struct
import sys
import time
from pathlib import Path

_TUNSETIFF = 0x400454CA
_IFF_TAP, _IFF_NO_PI = 0x0002, 0x1000
_CLONE_NEWNET = 0x40000000
MOST_HELD = 10_000
QUEUE_S = 0.05
"""Of a narrow wire: what would wait for longer is lost."""


def tap(namespace, name):
    """Open the tap ``name`` of a network namespace. Source: the kernel's Documentation/networking/tuntap.rst."""
    with Path(f"/run/netns/{namespace}").open() as handle:
        if ctypes.CDLL(None, use_errno=True).setns(handle.fileno(), _CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), f"cannot enter {namespace}")
    file = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(file, _TUNSETIFF, struct.pack("16sH", name.encode(), _IFF_TAP | _IFF_NO_PI))
    return file


def relay(one, other, delay_s, loss, bytes_per_s):
    held, number, chance = [], 0, random.Random(1)
    free_s = {one: 0.0, other: 0.0}
    while True:
        wait_s = max(held[0][0] - time.monotonic(), 0.0) if held else None
        for file in select.select([one, other], [], [], wait_s)[0]:
            frame = os.read(file, 65536)
            number += 1
            now_s = time.monotonic()
            starts_s = max(now_s, free_s[file])
            if chance.random() < loss or len(held) >= MOST_HELD or starts_s - now_s > QUEUE_S:
                continue
            free_s[file] = starts_s + (len(frame) / bytes_per_s if bytes_per_s else 0.0)
            heapq.heappush(held, (free_s[file] + delay_s, number, other if file == one else one, frame))
        while held and held[0][0] <= time.monotonic():
            _, _, to, frame = heapq.heappop(held)
            try:
                os.write(to, frame)
            except OSError:
                continue


if __name__ == "__main__":
    _, near, near_tap, far, far_tap, delay, lost, rate = sys.argv
    relay(tap(near, near_tap), tap(far, far_tap), float(delay), float(lost), float(rate))
