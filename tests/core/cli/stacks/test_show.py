"""What ``stackrace stacks`` says of a server."""

import json

from click.testing import CliRunner

from stackrace.cli.stacks.command import command


def test_a_server_that_is_offered_with_a_warning_says_so():
    shown = CliRunner().invoke(command, ["openlitespeed"], catch_exceptions=False)
    assert "Beware: Over AJP it loses and garbles answers" in shown.output
    assert "Beware" not in CliRunner().invoke(command, ["nginx"], catch_exceptions=False).output


def test_scripts_are_told_beside_which_values_a_setting_does_anything():
    shown = CliRunner().invoke(command, ["gunicorn", "--json"], catch_exceptions=False)
    (server,) = json.loads(shown.output)
    only = {setting["name"]: setting["only"] for setting in server["settings"]}
    assert only["threads"] == {"class": ["gthread"]}
    assert only["workers"] == {}
