"""What ``stackrace stacks`` says of a server."""

from click.testing import CliRunner

from stackrace.cli.stacks.command import command


def test_a_server_that_is_offered_with_a_warning_says_so():
    shown = CliRunner().invoke(command, ["openlitespeed"], catch_exceptions=False)
    assert "Beware: Over AJP it loses and garbles answers" in shown.output
    assert "Beware" not in CliRunner().invoke(command, ["nginx"], catch_exceptions=False).output
