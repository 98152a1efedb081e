"""Whatever others wrote, the terminal is never commanded by it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.table import Table
from rich.text import Text
from tests.terminals import Terminal

import stackrace
from stackrace.cli.main import cli, main
from stackrace.cli.stdio import PrintableStream, printable_output
from stackrace.report.html.page import _environment
from stackrace.report.terminal import make_console

HOSTILE = [
    "\x1b[2J",
    "\x1b]0;title\x07",
    "\x1b]52;c;cm0gLXJm\x1b\\",
    "\x1bPq\x1b\\",
    "\x9b31m",
    "\x9d0;title\x9c",
    "\x07",
    "\x08\x08",
    "ok\rno",
    "\u202egnp.exe",
    "\u2066x\u2069",
    "\u061c",
    "\u200f",
    "\udc9b",
]

UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    monkeypatch.setenv("TERM", "xterm-256color")
    return Terminal()


@contextmanager
def on(terminal: Terminal) -> Iterator[None]:
    with redirect_stdout(terminal), redirect_stderr(terminal):
        yield


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_that_is_printed_commands_a_terminal(terminal: Terminal, text: str) -> None:
    with on(terminal), printable_output():
        click.echo(text)
        click.echo(f"<{text}>", err=True, color=True)
        click.secho(text)
        click.echo(text.encode(errors="replace"))
        sys.stderr.write(text)
        sys.stdout.writelines([text])
        click.UsageError(text).show()
    assert terminal.getvalue()
    assert not UNPRINTABLE.search(terminal.getvalue())


@given(st.text())
def test_no_text_at_all_commands_a_terminal(text: str) -> None:
    terminal = Terminal()
    assert PrintableStream(terminal).write(text) == len(text)
    assert not UNPRINTABLE.search(terminal.getvalue())


@pytest.mark.parametrize("text", HOSTILE)
def test_what_is_drawn_has_our_styles_and_no_others(terminal: Terminal, text: str) -> None:
    with on(terminal), printable_output():
        console = make_console()
        table = Table()
        table.add_column(Text(text))
        table.add_row(text)
        for part in (text, Text(f"x{text}", style="red"), table):
            console.print(part)
    left = re.sub("\x1b\\[[0-9;]*m", "", terminal.getvalue())
    assert not UNPRINTABLE.search(left)
    assert "\x1b[31m" in terminal.getvalue()


CALLS = {
    "verb": ["{}"],
    "race file": ["run", "{}.toml"],
    "stack": ["up", "{}"],
    "project": ["run", "--project", "{}"],
    "race": ["report", "{}"],
    "URL": ["load", "{}"],
    "documents": ["compare", "{}", "{}"],
    "server": ["install", "{}"],
    "store": ["history", "--store", "sqlite:///{}/a"],
    "database": ["fetch", "http://127.0.0.1:9/{}"],
    "flag": ["run", "--{}"],
    "servers": ["stacks", "--servers", "{}"],
}


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_what_was_typed_is_repeated_as_text(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str, call: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["stackrace", *(word.replace("{}", text) for word in call)])
    with on(terminal), pytest.raises(SystemExit) as left:
        main()
    said = terminal.getvalue().replace("\x1b[31m\x1b[1merror: \x1b[0m", "")
    assert left.value.code == 2, said
    assert said
    assert not UNPRINTABLE.search(said)


@pytest.mark.parametrize("text", HOSTILE)
def test_pages_hold_text_only(text: str) -> None:
    page = _environment().from_string("<p>{{ text }}</p>{{ text | safe }}")
    assert not UNPRINTABLE.search(page.render(text=text))


def test_only_what_draws_writes_past_the_edge() -> None:
    package = Path(stackrace.__file__).parent
    past = re.compile(r"\btrusted\(|\.trusted\b|\"trusted\"|__std(out|err)__|os\.write\([12],|std(out|err)\.buffer")
    who = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if past.search(path.read_text(encoding="utf-8"))
    }
    assert who - {"deploy/supervisor.py", "app/projects/private_root.py"} == {
        "cli/stdio.py",
        "cli/main.py",
        "report/terminal.py",
    }


@pytest.mark.parametrize("closed", [(0,), (1,), (2,), (0, 1, 2)], ids=str)
def test_standard_streams_that_are_closed_lead_nowhere(closed, tmp_path):
    code = f"""
        import os, sys
        import stackrace.cli as process
        def run():
            print("a", sys.stdout.isatty(), file=sys.stderr)
            print(sys.stdin.read())
            with open({str(tmp_path / "places")!r}, "w") as places:
                assert places.fileno() > 2
                for number in {closed}:
                    print(os.readlink(f"/proc/self/fd/{{number}}"), file=places)
                sys.stdout.flush()
        process.execute = run
        process.main()
    """
    subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=lambda: [os.close(number) for number in closed],
        check=True,
    )
    assert (tmp_path / "places").read_text() == "/dev/null\n" * len(closed)


def test_ctrl_c_while_a_class_is_made_is_no_fault(monkeypatch, capsys):
    class Meets:
        def __set_name__(self, owner, name):
            raise KeyboardInterrupt

    monkeypatch.setattr(cli, "main", lambda **_: type("Made", (), {"it": Meets()}))
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 130
    assert capsys.readouterr().err == "interrupted\n"
