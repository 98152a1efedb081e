"""The place that prints errors prints a sentence for each, and never a traceback."""

from __future__ import annotations

import errno
import sys
from importlib import import_module

import click
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stackrace.base.errors import InputError
from stackrace.cli.stdio import TRACEBACK, brief, failure_of

# the package has a function of that name
module = import_module("stackrace.cli.main")

ERRORS = {
    RecursionError("maximum recursion depth exceeded"): "nested too deeply",
    MemoryError(): "the memory does not suffice; end other programs",
    OSError(errno.ENOSPC, "No space left on device", "/x"): "inodes are used up: /x; free some space",
    OSError(errno.EIO, "Input/output error"): "the disk fails; look for its errors with: dmesg",
    PermissionError(errno.EACCES, "Permission denied", "/x"): "Permission denied: /x; correct that path",
    ValueError("Exceeds the limit (4300 digits)"): "Stackrace failed (ValueError: Exceeds the limit",
    KeyError("x"): "Stackrace failed (KeyError: 'x')",
    RuntimeError("y" * 10_000): "Stackrace failed (RuntimeError: yyy",
}


def raising(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(**_: object) -> None:
        raise error

    monkeypatch.setattr(module.cli, "main", fail)


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_each_failure_is_a_sentence(
    error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    raising(error, monkeypatch)
    with pytest.raises(SystemExit) as left:
        module.main()
    said = capsys.readouterr().err
    assert left.value.code == 4
    assert ERRORS[error] in said and len(said) < 600
    assert "Traceback" not in said


def test_a_traceback_can_be_had(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    raising(KeyError("x"), monkeypatch)
    monkeypatch.setenv(TRACEBACK, "1")
    with pytest.raises(SystemExit):
        module.main()
    assert "Traceback" in capsys.readouterr().err


def test_a_failure_that_cannot_be_printed_leaves_its_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    raising(InputError("x"), monkeypatch)
    monkeypatch.setattr(click, "echo", full)
    with pytest.raises(SystemExit) as left:
        module.main()
    assert left.value.code == 4


@pytest.mark.parametrize(
    "error", [OSError(errno.ENAMETOOLONG, "File name too long", "xxx"), OSError(errno.ELOOP, "Loop", "xxx")]
)
def test_a_path_that_can_be_none_is_wrong_input(error: OSError) -> None:
    failure = failure_of(error)
    assert failure.exit_code == 2
    assert failure.message.endswith(": xxx; correct the path")


@pytest.mark.parametrize("error", [InputError(f"{'9' * 5_000} is too large; write less", detail="x" * 5_000)])
def test_a_value_of_pages_does_not_hide_what_to_do(
    error: InputError, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for each in (error, click.UsageError(error.message)):
        raising(each, monkeypatch)
        with pytest.raises(SystemExit) as left:
            module.main()
        said = capsys.readouterr().err
        assert left.value.code == 2
        assert len(said) < 800 and "9…9" in said and said.endswith("is too large; write less\n")


def test_what_people_write_is_shown_whole() -> None:
    path = "/srv/" + "shop/" * 50
    assert brief(f"{path} is missing") == f"{path} is missing"


def test_our_own_errors_stay_what_they_are() -> None:
    error = InputError("x")
    assert failure_of(error) is error


WORDS = st.one_of(
    st.sampled_from(
        ["run", "report", "history", "name", "compare", "stacks", "--list", "--json", "--stack", "--budget",
         "--cores", "--memory", "-c", "--url", "--host", "--html", "--project", "--seed", "9" * 5_000, "-1",
         "1e999", "5s", "%", "--"]
    ),
    st.text(alphabet=st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12),
)  # fmt: skip


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(words=st.lists(WORDS, min_size=1, max_size=6))
def test_any_words_end_in_a_sentence(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:  # fmt: skip
    folder = tmp_path_factory.mktemp("empty")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("XDG_DATA_HOME", str(folder))
    # an empty folder races the bundled app
    monkeypatch.setattr("stackrace.cli.live_race.race_and_report", lambda *_: None)
    monkeypatch.setattr(sys, "argv", ["stackrace", *words])
    with pytest.raises(SystemExit) as left:
        module.main()
    said = capsys.readouterr().err
    assert left.value.code in (0, 2), said
    assert "Traceback" not in said
