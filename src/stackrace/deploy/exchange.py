"""Questions to the supervisor and their answers: no signal comes between the two."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Mapping
from queue import Empty, SimpleQueue
from typing import IO

__all__ = ["Exchange"]

LOOK_S = 1.0

Answer = Mapping[str, object]
_Question = tuple[bytes, "SimpleQueue[Answer | None]"]


class Exchange:
    """Asks over one pipe and reads answers, a line each, from another; any thread may ask.

    A thread of its own holds the pipes, because Python runs signal handlers in the main thread only: whoever is
    interrupted while waiting leaves, and the exchange ends all the same. SimpleQueue is written in C, so a signal
    cannot leave one of its locks held, as it can with Queue and Event.
    """

    def __init__(self, questions: IO[bytes], answers: IO[bytes]) -> None:
        self._questions: SimpleQueue[_Question | None] = SimpleQueue()
        # a flag: is_alive() that Ctrl-C interrupts takes the thread for ended before Python 3.13 (bpo-46726)
        self._over = False
        threading.Thread(target=self._run, args=(questions, answers), daemon=True).start()

    def ask(self, request: Mapping[str, object]) -> Answer | None:
        """Return the answer to ``request``; None when nobody is there any more."""
        answer: SimpleQueue[Answer | None] = SimpleQueue()
        self._questions.put((json.dumps(request).encode() + b"\n", answer))
        while True:
            # the thread may have ended before it came to this question
            over = self._over
            try:
                return answer.get(timeout=0.0 if over else LOOK_S)
            except Empty:
                if over:
                    return None

    def close(self) -> None:
        """Close both pipes once what was asked is answered; safe to call twice."""
        self._questions.put(None)

    def _run(self, questions: IO[bytes], answers: IO[bytes]) -> None:
        while question := self._questions.get():
            line, answer = question
            answer.put(_exchanged(line, questions, answers))
        self._over = True
        with contextlib.suppress(BrokenPipeError):
            questions.close()
        answers.close()


def _exchanged(line: bytes, questions: IO[bytes], answers: IO[bytes]) -> Answer | None:
    with contextlib.suppress(BrokenPipeError, ValueError):
        questions.write(line)
        questions.flush()
        answer: Answer = json.loads(answers.readline())
        return answer
    return None
