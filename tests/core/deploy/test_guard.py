"""Questions and answers stay together whenever a signal comes."""

from __future__ import annotations

import json
import os
import signal
import threading
import time

import pytest

from stackrace.deploy.guard import _Exchange

FIRST, SECOND = {"do": "first"}, {"do": "second"}


class Peer:
    """The other end of an exchange: bytes are taken and given one piece at a time."""

    def __init__(self) -> None:
        questions, ours = os.pipe()
        theirs, answers = os.pipe()
        self.questions, self.answers = os.fdopen(questions, "rb", 0), os.fdopen(answers, "wb", 0)
        self.exchange = _Exchange(os.fdopen(ours, "wb"), os.fdopen(theirs, "rb"))
        self.handled = threading.Event()

    def close(self) -> None:
        self.exchange.close()
        # until its other end is closed
        self.questions.read()
        self.questions.close()
        self.answers.close()

    def take(self, count: int) -> bytes:
        taken = b""
        while len(taken) < count:
            taken += self.questions.read(count - len(taken))
        return taken

    def echo(self, cut_question: int, cut_answer: int, length: int) -> None:
        """Interrupt the asker after so many bytes of its question and the answer; go on once it has left."""
        line = self.take(cut_question)
        if cut_question < length:
            self.interrupt()
        line += self.take(length - cut_question)
        self.answers.write(line[:cut_answer])
        if cut_question == length:
            self.interrupt()
        self.answers.write(line[cut_answer:])
        self.answers.write(self.take(len(json.dumps(SECOND)) + 1))

    def interrupt(self) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        self.handled.wait()

    def ask_interrupted(self, request: object, cut_question: int, cut_answer: int) -> object:
        length = len(json.dumps(request)) + 1
        other = threading.Thread(target=self.echo, args=(cut_question, cut_answer, length))
        other.start()
        with pytest.raises(KeyboardInterrupt):
            self.exchange.ask(request)
            while True:
                time.sleep(0.01)
        self.handled.set()
        answer = self.exchange.ask(SECOND)
        other.join()
        return answer


@pytest.fixture
def peer():
    peer = Peer()
    yield peer
    peer.close()


LENGTH = len(json.dumps(FIRST)) + 1


@pytest.mark.parametrize("cut", range(1, LENGTH))
def test_a_signal_after_any_byte_of_the_question_breaks_nothing(peer: Peer, cut: int) -> None:
    assert peer.ask_interrupted(FIRST, cut, 0) == SECOND


@pytest.mark.parametrize("cut", range(LENGTH + 1))
def test_a_signal_after_any_byte_of_the_answer_breaks_nothing(peer: Peer, cut: int) -> None:
    assert peer.ask_interrupted(FIRST, LENGTH, cut) == SECOND


def test_a_signal_while_the_pipe_is_full_leaves_no_half_question_behind(peer: Peer) -> None:
    assert peer.ask_interrupted({"do": "x" * 300_000}, 1, 0) == SECOND


def test_nobody_answers_once_the_pipes_are_closed() -> None:
    peer = Peer()
    peer.close()
    assert peer.exchange.ask(FIRST) is None


def test_one_that_dies_within_its_answer_gives_none(peer: Peer) -> None:
    peer.answers.write(b'{"do":')
    peer.answers.close()
    assert peer.exchange.ask(FIRST) is None
    assert peer.exchange.ask(FIRST) is None
