"""Chromium without a window, for tests that look at pages as a user would.

Source: the DevTools protocol; over a pipe, messages are JSON that ends with a zero byte, commands on descriptor 3
and answers on descriptor 4.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import time
from pathlib import Path
from typing import Any, Self

CHROMIUM = shutil.which("chromium")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-default-apps",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--remote-debugging-pipe",
)  # fmt: skip
TIMEOUT_S = 1800


class Chromium:
    """A browser with one page."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._number, self._session, self.complaints = 0, "", []

    def __enter__(self) -> Self:
        (read, self._commands), (self._answers, write) = (_high(os.pipe()), _high(os.pipe()))
        files = [
            (os.POSIX_SPAWN_OPEN, 2, self._folder / "browser.log", os.O_WRONLY | os.O_CREAT, 0o600),
            (os.POSIX_SPAWN_DUP2, read, 3),
            (os.POSIX_SPAWN_DUP2, write, 4),
        ]
        flags = [CHROMIUM, *FLAGS, f"--user-data-dir={self._folder / 'profile'}", "about:blank"]
        home = {"HOME": str(self._folder), "XDG_CONFIG_HOME": str(self._folder)}
        self._pid = os.posix_spawn(CHROMIUM, flags, os.environ | home, file_actions=files)
        os.close(read)
        os.close(write)
        self._stream = os.fdopen(self._answers, "rb")
        page = next(each for each in self._call("Target.getTargets")["targetInfos"] if each["type"] == "page")
        attached = self._call("Target.attachToTarget", targetId=page["targetId"], flatten=True)
        self._session = attached["sessionId"]
        self._call("Log.enable")
        self._call("Runtime.enable")
        return self

    def __exit__(self, *_: object) -> None:
        self._session = ""
        self._call("Browser.close")
        os.close(self._commands)
        self._stream.close()
        os.waitpid(self._pid, 0)

    def open(self, address: str) -> None:
        """Load a page, and wait until it is there."""
        self._call("Page.navigate", url=address)
        self.until(f"document.readyState == 'complete' && location.href == {json.dumps(address)}")

    def run(self, expression: str) -> Any:
        """Return the value of an expression of JavaScript, of a promise its result."""
        found = self._call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def until(self, expression: str) -> None:
        """Wait for an expression to be true, over all pages that come meanwhile."""
        deadline = time.monotonic() + TIMEOUT_S
        while time.monotonic() < deadline:
            answer = self._ask("Runtime.evaluate", expression=f"!!({expression})", returnByValue=True)
            if answer.get("result", {}).get("result", {}).get("value") is True:
                return
            time.sleep(0.05)
        raise AssertionError(f"never true: {expression}; {self.run('document.body.innerText')}")

    def size(self, width: int, height: int = 844, *, mobile: bool = False) -> None:
        """Give the window a size, or that of a phone."""
        scale = 2 if mobile else 1
        self._call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=scale,
            mobile=mobile,
        )

    def prefer(self, scheme: str) -> None:
        """Prefer ``dark`` or ``light`` pages."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self._call("Emulation.setEmulatedMedia", features=features)

    def press(self, key: str, code: int) -> None:
        """Press a key by its name and its code for Windows, and let it go."""
        text = {"text": "\r"} if key == "Enter" else {}
        for kind in ("keyDown" if text else "rawKeyDown", "keyUp"):
            more = text if kind == "keyDown" else {}
            self._call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **more)

    def _call(self, method: str, **parameters: object) -> dict[str, Any]:
        answer = self._ask(method, **parameters)
        assert "error" not in answer, (method, answer["error"])
        return answer["result"]

    def _ask(self, method: str, **parameters: object) -> dict[str, Any]:
        self._number += 1
        session = {"sessionId": self._session} if self._session else {}
        message = {"id": self._number, "method": method, "params": parameters, **session}
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        while (answer := self._next()).get("id") != self._number:
            self._note(answer)
        return answer

    def _note(self, event: dict[str, Any]) -> None:
        """Keep what the page complained of: its own errors, and what its policy forbade."""
        match event:
            case {"method": "Log.entryAdded", "params": {"entry": {"level": "error", "text": text}}}:
                self.complaints.append(text)
            case {"method": "Runtime.exceptionThrown", "params": {"exceptionDetails": {"text": text}}}:
                self.complaints.append(text)

    def _next(self) -> dict[str, Any]:
        text = bytearray()
        while (byte := self._stream.read(1)) != b"\0":
            assert byte, f"the browser ended: {(self._folder / 'browser.log').read_text(encoding='utf-8')}"
            text += byte
        return json.loads(text)


def _high(pipe: tuple[int, int]) -> tuple[int, ...]:
    """Return the pipe's ends as descriptors that are out of the way of 3 and 4."""
    moved = tuple(fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in pipe)
    for end in pipe:
        os.close(end)
    return moved
