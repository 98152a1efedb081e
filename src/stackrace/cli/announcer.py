"""Preparation of a race, shown on stderr."""

from __future__ import annotations

import time
from typing import Self

from ..deploy.preparing import Preparing, Step
from .stdio import StatusLine

_SILENCE_S = 5.0
"""Seconds between two lines about the progress of the same step, if the output is no terminal."""


class Announcer:
    """Display of the preparation: one line that changes on a terminal, one line per step elsewhere."""

    def __init__(self) -> None:
        self._line = StatusLine()
        self._silent_until_s = 0.0
        self.done = self._line.clear

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.done()

    def __call__(self, preparing: Preparing) -> None:
        if preparing.step is Step.PAGES and not self._line.changes:
            # progress changes often: a log needs no line for each
            if time.monotonic() < self._silent_until_s:
                return
            self._silent_until_s = time.monotonic() + _SILENCE_S
        if preparing.step in (Step.CHANGES, Step.CHOSEN):
            # stays on the screen, also when the race is over
            self._line.say(_words(preparing))
        else:
            self._line.print_line(_words(preparing), " …")


_WORDS = {
    Step.NO_APP: "the race file names no app and its folder holds none: racing the bundled one",
    Step.NO_INTERPRETER: "{}: building a private one",
    Step.ENVIRONMENT: "building an environment from {}",
    Step.SERVICE: "building an empty {}",
    Step.DATA: "building the data of {}",
    Step.OTHER_RACE: "building {}: waiting for another race, which does",
    Step.COPY: "starting {} from a template",
    Step.START: "starting {}",
    Step.DATABASE: "copying {}",
    Step.PROJECT: "copying {}",
    Step.CHANGES: "warning: {}",
    Step.APP: "preparing the app",
    Step.ANSWERS: "asking {} for its answers",
    Step.BURSTS: "trying {} with short loads",
    Step.PAGES: "asking {}",
    Step.CHOSEN: "{}",
    Step.COMPARING: "comparing {} with what the machines of the cluster have",
    Step.MACHINES: "the machines of the cluster prepare the race: {}",
    Step.PORTS: "waiting until connections that are over let go of their ports (TIME_WAIT)",
}


def _words(preparing: Preparing) -> str:
    if preparing.step is Step.PACKAGES:
        return f"installing {preparing.subject or 'an environment'}"
    return _WORDS[preparing.step].format(preparing.subject)
