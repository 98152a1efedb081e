"""What a newcomer reads first."""

import json
import os
import pty
import subprocess
import sys
import tomllib
from contextlib import suppress
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from stackrace.base.errors import MissingItem
from stackrace.cli import overview as cli_overview
from stackrace.cli.main import VERBS, cli
from stackrace.cli.options import complete_stack


def test_help_lists_every_verb(stackrace):
    done = stackrace("--help")
    assert done.returncode == 0
    for verb in VERBS:
        assert f"  {verb} " in done.stdout
    order = [done.stdout.index(f"\n{heading}:\n") for heading in ("Start", "Decide", "Measure", "Keep")]
    assert order == sorted(order)


def test_every_option_of_run_stands_under_what_it_is_about():
    text = CliRunner().invoke(cli, ["run", "--help-all"], prog_name="stackrace").stdout
    sections = (
        "What is raced",
        "The app of a stack",
        "The load",
        "The question",
        "What every stack gets",
        "Output",
    )
    order = [text.index(f"\n{heading}") for heading in sections]
    assert order == sorted(order)
    assert order[2] < text.index("--concurrency") < order[3] < text.index("--budget") < order[4]
    assert "\nOptions:" not in text


def test_the_usual_help_of_run_fits_on_a_screen_and_names_where_the_rest_stands():
    usual, whole = (
        CliRunner().invoke(cli, ["run", each], prog_name="stackrace").stdout for each in ("--help", "--help-all")
    )
    lines = usual.splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 100
    assert "--help-all" in usual
    assert "twin" not in usual
    assert {word for word in usual.split() if word.startswith("--")} <= set(whole.split())


@pytest.fixture
def alone(stackrace, tmp_path):
    """Run the command without a word in a folder with ``files``."""

    def call(**files):
        for name, text in files.items():
            (tmp_path / f"{name}.py").write_text(text)
        done = stackrace(cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert len(done.stdout.splitlines()) <= 24
        return done.stdout

    return call


def test_the_command_alone_says_what_it_found_here_and_runs_none_of_it(alone, tmp_path):
    told = alone(shop="from flask import Flask\nopen('was-run', 'w')\napp = Flask(__name__)\n")
    assert "In this folder: Flask, shop:app (shop.py, line 3)." in told
    assert "stackrace run" in told
    assert not (tmp_path / "was-run").exists()


def test_the_command_alone_in_an_empty_folder_offers_the_bundled_app(alone):
    told = alone()
    assert "no app; a race takes the bundled Django app." in told
    assert "stackrace current" not in told


@pytest.mark.parametrize("elsewhere", ["", "see its site"])
def test_the_command_alone_offers_to_install_what_this_system_has(monkeypatch, elsewhere):
    lacking = MissingItem(name="puma", missing="no program puma", elsewhere=elsewhere)
    monkeypatch.setattr(cli_overview, "missing_item", lambda entry: lacking if entry.spec.name == "puma" else None)
    told = "\n".join(cli_overview.overview({}))
    assert "missing: puma." in told
    assert ("stackrace install --all" in told) == (not elsewhere)


def test_the_command_alone_asks_which_of_two_apps_is_meant(alone):
    two = "from flask import Flask\napp = Flask(__name__)\n"
    assert "it is not clear which app" in alone(one=two, other=two)


@pytest.mark.parametrize("verb", VERBS)
def test_every_verbs_help_ends_in_real_examples(verb):
    done = CliRunner().invoke(cli, [verb, "--help"], prog_name="stackrace")
    assert done.exit_code == 0
    _, _, examples = done.stdout.partition("Examples:\n")
    lines = [line for line in examples.splitlines() if line.strip()]
    assert len(lines) >= 2
    assert all(line.strip().startswith("stackrace ") for line in lines)


@pytest.mark.parametrize("verb", VERBS)
def test_every_option_has_a_help_text(verb):
    command = cli.get_command(click.Context(cli), verb)
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, parameter.name


@pytest.mark.parametrize("verb", sorted(VERBS.keys() - {"completion", "web"}))
def test_every_verb_speaks_json(verb):
    command = cli.get_command(click.Context(cli), verb)
    assert "--json" in {name for parameter in command.params for name in parameter.opts}


def test_help_imports_nothing_heavy():
    code = (
        "import sys; sys.argv = ['stackrace', '--help']\n"
        "from stackrace.cli import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "heavy = {'numpy', 'django', 'rich', 'pydantic', 'jinja2', 'stackrace.measure.engine._engine'}\n"
        "heavy &= set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_stacks_as_json_has_one_object_per_server(stackrace):
    servers = json.loads(stackrace("stacks", "--json").stdout)
    names = [server["name"] for server in servers]
    assert names == sorted(names)
    assert {"nginx", "apache", "mod_wsgi", "gunicorn", "uwsgi", "flup"} <= set(names)
    for server in servers:
        assert server["state"] in ("ready", "missing", "not installed")
        assert server["ready"] == (server["state"] == "ready") != bool(server["get"])
        assert bool(server["install"]) == (server["state"] == "missing")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_are_printed(stackrace, shell):
    done = stackrace("completion", shell)
    assert done.returncode == 0
    assert "_STACKRACE_COMPLETE" in done.stdout


def completed(folder, typed):
    """Type words and Tab in a real bash with the completion script; returns the line's words after that."""
    script, file = folder / "completion", folder / "words"
    programs = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    script.write_bytes(subprocess.check_output([sys.executable, "-m", "stackrace", "completion", "bash"]))
    master, slave = pty.openpty()
    bash = subprocess.Popen(
        ["bash", "--noprofile", "--rcfile", script, "-i"], stdin=slave, stdout=slave, stderr=slave, cwd=folder,
        env=os.environ | {"PATH": programs, "TERM": "dumb", "PS1": "", "INPUTRC": "/dev/null", "HISTFILE": ""},
        start_new_session=True,
    )  # fmt: skip
    os.close(slave)
    # the completed line becomes arguments: Ctrl-A goes to its beginning, Ctrl-E to its end
    os.write(master, f"{typed}\t\x01printf '<%s>' \x05 > words\rexit\r".encode())
    with suppress(OSError):
        # what bash shows, until it has ended
        while os.read(master, 4096):
            pass
    os.close(master)
    assert bash.wait() == 0
    return file.read_text()


@pytest.mark.parametrize(
    ("typed", "line"),
    [
        ("stackrace comp", "<stackrace><comp>"),
        ("stackrace insta", "<stackrace><install>"),
        ("stackrace up nginx/uw", "<stackrace><up><nginx/uwsgi/>"),
        ("stackrace up gunicorn:thr", "<stackrace><up><gunicorn:threads=>"),
        ("stackrace up gunicorn:class=gth", "<stackrace><up><gunicorn:class=gthread>"),
        ("stackrace up 'gunicorn:class=gth", "<stackrace><up><gunicorn:class=gthread>"),
        ("stackrace run --stack nginx/http/gunicorn:workers=4,class=gth", "<stackrace><run><--stack>"
         "<nginx/http/gunicorn:workers=4,class=gthread>"),
        ("stackrace run --stack=gunicorn:class=gth", "<stackrace><run><--stack=gunicorn:class=gthread>"),
    ],
)  # fmt: skip
def test_bash_completes_words_with_colons(tmp_path, typed, line):
    assert completed(tmp_path, typed) == line


@pytest.mark.parametrize(
    ("begun", "offered"),
    [
        ("gunicorn:workers", {"gunicorn:workers="}),
        ("nginx/http/gunicorn@23.0.0:workers=4,class=gth", {"nginx/http/gunicorn@23.0.0:workers=4,class=gthread"}),
        ("gunicorn:workers=", set()),
        ("nowhere:", set()),
    ],
)
def test_stack_paths_complete_with_settings_and_their_values(begun, offered):
    assert set(complete_stack(None, None, begun)) == offered


def test_the_version_is_the_packages(stackrace):
    import stackrace as package

    assert package.__version__ in stackrace("--version").stdout
    manifest = tomllib.loads((Path(__file__).parents[2] / "Cargo.toml").read_text())
    assert manifest["workspace"]["package"]["version"] == package.__version__
