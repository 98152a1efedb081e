"""Ends with 0 if a page is answered, with 1 and the reason if not. Standard library only.

The variable HEALTH_HOST, if there is one, stands for the Host of the arguments.

Usage: health.py [--wait SECONDS] [--below STATUS] [--any] [--header 'NAME: VALUE']… URL
"""

import argparse
import http.client
import os
import sys
import time
from urllib.parse import urlsplit

_REFUSED = 400
"""Django's answer to a Host that is not in ALLOWED_HOSTS."""


def problem(url: str, headers: dict[str, str], below: int) -> str:
    """Return the problem with the answer, whose status must be ``below``; empty if there is none."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=5)
    try:
        path = parts.path + (f"?{parts.query}" if parts.query else "")
        connection.request("GET", path or "/", headers={"Connection": "close", **headers})
        status = connection.getresponse().status
    except (OSError, http.client.HTTPException) as error:
        return str(error) or type(error).__name__
    finally:
        connection.close()
    if status < below:
        return ""
    host = headers.get("Host") if status == _REFUSED else None
    return f"status {status}" + (
        f"; does the app accept the Host {host}? HEALTH_HOST names another" if host else ""
    )


def main() -> int:
    """Ask until the answer is right, or the time is over."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--wait", type=float, default=0.0)
    # a redirect is an answer; below 500 a page that is not found is one, too
    parser.add_argument("--below", type=int, default=400)
    # once the time is over, any answer will do
    parser.add_argument("--any", action="store_true")
    parser.add_argument("--header", action="append", default=[])
    parser.add_argument("url")
    asked = parser.parse_args()
    headers = dict(header.split(": ", 1) for header in asked.header)
    if os.environ.get("HEALTH_HOST"):
        headers["Host"] = os.environ["HEALTH_HOST"]
    until = time.monotonic() + asked.wait
    while wrong := problem(asked.url, headers, asked.below):
        if time.monotonic() > until:
            sys.stderr.write(f"{asked.url}: {wrong}\n")
            return 0 if asked.any and wrong.startswith("status") else 1
        time.sleep(0.2)
    return 0


if __name__ == "__main__":
    # as many header fields as in a race, where the usual 100 are too few for some
    http.client._MAXHEADERS = 1000  # type: ignore[attr-defined]
    sys.exit(main())
