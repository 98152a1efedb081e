"""What is said while a race is prepared."""

from __future__ import annotations

import io
from types import SimpleNamespace

import pytest

from stackrace.cli import announcer
from stackrace.cli.announcer import Announcer
from stackrace.cli.edge import printable_output
from stackrace.deploy.preparing import Preparing, Step


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("step", Step)
def test_every_step_has_words_on_one_line(step: Step, capsys: pytest.CaptureFixture[str]) -> None:
    with Announcer() as announce:
        announce(Preparing(step=step, subject="shop"))
    words = capsys.readouterr().err
    assert len(words.splitlines()) == 1 and "{" not in words


def test_each_step_is_a_line_where_nobody_looks_at_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with Announcer() as announce:
        announce(Preparing(step=Step.PACKAGES, subject="uvicorn"))
        announce(Preparing(step=Step.PACKAGES))
        announce(Preparing(step=Step.ANSWERS, subject="shop"))
    assert capsys.readouterr().err == "installing uvicorn\ninstalling an environment\nasking shop for its answers\n"


def test_progress_that_changes_often_is_a_line_once_in_a_while(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = iter(range(100, 1000))
    monkeypatch.setattr(announcer, "time", SimpleNamespace(monotonic=lambda: next(seconds) / 10))
    with Announcer() as announce:
        for number in range(100):
            announce(Preparing(step=Step.PAGES, subject=f"shop: {number} of 100"))
    assert capsys.readouterr().err == "asking shop: 0 of 100\nasking shop: 50 of 100\n"


def test_on_a_terminal_each_step_takes_the_place_of_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    with printable_output(), Announcer() as announce:
        announce(Preparing(step=Step.PACKAGES, subject="uvicorn\x1b[2J"))
        announce(Preparing(step=Step.ANSWERS, subject="shop"))
    start = "\r\x1b[K"
    assert terminal.getvalue() == f"{start}installing uvicorn …{start}asking shop for its answers …{start}"


def test_a_warning_stays_to_be_read_on_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with Announcer() as announce:
        announce(Preparing(step=Step.CHANGES, subject="x" * 200))
        announce(Preparing(step=Step.ANSWERS, subject="shop"))
    assert f"warning: {'x' * 200}\n" in capsys.readouterr().err
