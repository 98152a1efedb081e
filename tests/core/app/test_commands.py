"""Commands of race files: words as they are, or a line for a shell where the file says so."""

import shlex
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackrace.app.command_lines import command_of, display


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("python manage.py migrate", ("python", "manage.py", "migrate")),
        ("psql -c 'SELECT 1; SELECT $x'", ("psql", "-c", "SELECT 1; SELECT $x")),
        ('python -c "print(1 < 2)"', ("python", "-c", "print(1 < 2)")),
        (r"echo a\&b \$HOME", ("echo", "a&b", "$HOME")),
        ("psql -c 'SELECT $1' --set=a=b", ("psql", "-c", "SELECT $1", "--set=a=b")),
    ],
)
def test_words_are_taken_as_they_are(line, words):
    assert command_of(line) == words
    assert shlex.split(display(words)) == list(words)


@pytest.mark.parametrize(
    ("line", "special"),
    [
        ("psql < dump.sql", "<"),
        ("zcat dump.gz | psql", "|"),
        ("echo x > file", ">"),
        ("a && b", "&&"),
        ("a || b", "||"),
        ("a; b", ";"),
        ("a &", "&"),
        ("ls $HOME", "$HOME"),
        ('ls "${HOME}/x"', "${HOME}"),
        ("ls $(pwd)", "$("),
        ("ls `pwd`", "`"),
        ("A=1 python manage.py migrate", "A="),
        ('echo "it\'s" > x', ">"),
    ],
)
def test_what_only_a_shell_understands_is_refused_with_the_line_to_write(line, special):
    with pytest.raises(ValueError, match="shell = true") as raised:
        command_of(line)
    assert str(raised.value).startswith(f"{special} in ")


def test_a_line_for_a_shell_is_run_by_one(tmp_path):
    (tmp_path / "in").write_text("b\na\n")
    command = command_of({"run": "sort < in | head -n 1 > out && A=$(cat out)", "shell": True})
    subprocess.run(command, cwd=tmp_path, check=True)
    assert (tmp_path / "out").read_text() == "a\n"
    assert display(command) == "sort < in | head -n 1 > out && A=$(cat out)"


@pytest.mark.parametrize("line", ["false; true", "true; false", "exit 3"])
def test_the_first_failure_ends_a_shell_line(line):
    assert subprocess.run(command_of({"run": line, "shell": True}), check=False).returncode != 0


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("echo 'open", "no closing quotation in"),
        ("echo open\\", "no escaped character in"),
        ({"run": "echo 'open", "shell": True}, "no closing quotation"),
        ("  ", "is empty"),
        ("a\0b", "NUL"),
        (3, "must be text or a table with run"),
        ({"shell": True}, "must be text or a table with run"),
        ({"run": "a", "shell": "yes"}, "true or false"),
        ({"run": "a", "sheel": True}, "knows the keys run and shell only"),
    ],
)
def test_what_is_no_command_is_refused(value, words):
    with pytest.raises(ValueError, match=words):
        command_of(value)


@given(st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])), min_size=1))
def test_quoted_words_arrive_whatever_they_hold(words):
    line = shlex.join(words)
    if line.strip():
        assert command_of(line) == tuple(words)
