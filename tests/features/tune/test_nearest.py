"""What is said where no configuration is within the limits."""

from stackrace.features.tune.model import Infeasible, Needs, TuningLimits, Unfit
from stackrace.features.tune.rate import none_within

MIB = 2**20


def one(stack, mib, connections, *, kind=Unfit.CONNECTIONS, measured=False):
    return Infeasible(
        stack=stack, kind=kind, needs=Needs(memory_bytes=mib * MIB, connections=connections), measured=measured
    )


def test_every_limit_that_is_exceeded_is_named_with_its_own_figure_and_what_would_do():
    limits = TuningLimits(memory_bytes=100 * MIB, connections=4)
    said = none_within("uwsgi", limits, [one("large", 500, 40), one("small", 110, 6, measured=True)])
    assert said == (
        "no configuration of uwsgi is within the limits: small comes nearest and needs 6 connections to databases, "
        "50 % more than the limit of 4 connections to databases and 110 MiB, 10 % more than the limit of 100 MiB "
        "(measured under load); give --connections 6 --memory 110MiB or more"
    )


def test_the_nearest_of_a_connection_limit_is_the_one_with_the_fewest_connections():
    limits = TuningLimits(connections=4)
    said = none_within("uwsgi", limits, [one("light", 40, 20), one("heavy", 900, 5)])
    assert "heavy comes nearest and needs 5 connections" in said
    assert "25 % more" in said
    assert "computed from two that were measured" in said
    assert said.endswith("give --connections 5 or more")
