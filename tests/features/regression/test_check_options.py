"""What the options of a check mean."""

import click
import pytest

from stackrace.features.regression.cli.command import read_allowances, read_variables
from stackrace.race.results.comparison import Response


def allowed(*texts):
    option = click.Option(["--allow"])
    return read_allowances(click.Context(click.Command("check")), option, texts)


def test_an_allowance_is_a_response_and_a_share():
    assert allowed("cpu 3%", "memory any", "p99=0.1") == {
        Response.CPU: 0.03, Response.MEMORY: None, Response.P99: 0.1,
    }  # fmt: skip


@pytest.mark.parametrize("text", ["cpu", "speed 3%", "cpu fast", "throughput 100%", "3%", ""])
def test_anything_else_is_refused_with_what_may_be_written(text):
    with pytest.raises(click.BadParameter) as refused:
        allowed(text)
    assert "any" in refused.value.message or "write it like" in refused.value.message


def test_variables_have_a_name_and_a_value():
    context, option = click.Context(click.Command("check")), click.Option(["--head-env"])
    assert read_variables(context, option, ("A=1", "B=a=b", "C=")) == {"A": "1", "B": "a=b", "C": ""}
    with pytest.raises(click.BadParameter, match="NAME=VALUE"):
        read_variables(context, option, ("A",))
