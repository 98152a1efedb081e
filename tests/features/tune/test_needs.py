"""What configurations need, from two that were measured, and what is said where none is within the limits."""

import pytest

from stackrace.features.tune.model import Infeasible, Needs, TuningLimits, Unfit
from stackrace.features.tune.needs import Size, beyond, exceeded, expected_needs, pilots, size_of
from stackrace.features.tune.words import none_within
from stackrace.stacks.servers import catalogue
from stackrace.stacks.setting import Interface
from stackrace.stacks.stack_path import parse_stack

MIB = 2**20


def stack(path):
    return parse_stack(path, catalogue().specs, frozenset(Interface))


@pytest.mark.parametrize(
    ("path", "size"),
    [
        ("gunicorn:workers=3", Size(3, 3)),
        ("gunicorn:workers=3,class=gthread,threads=8", Size(3, 24)),
        ("uwsgi:processes=2,threads=4", Size(2, 8)),
        ("waitress:threads=16", Size(1, 16)),
        ("nginx/http/waitress:threads=4,instances=3", Size(3, 12)),
        ("granian:workers=2,blocking_threads=8", Size(2, 16)),
        ("granian:workers=2", Size(2, None)),
        ("granian:workers=2,interface=asgi,backpressure=16", Size(2, 32)),
        ("uvicorn:workers=3", Size(3, 3)),
        ("apache+mod_wsgi:processes=3,threads=5", Size(3, 15)),
    ],
)
def test_the_size_of_a_configuration_follows_from_its_settings(path, size):
    assert size_of(stack(path)) == size


def test_the_smallest_and_a_larger_one_are_measured():
    stacks = [stack(f"uwsgi:processes={p},threads={t}") for p in (1, 2, 3, 9, 16) for t in (1, 4, 32)]
    assert [one.path for one in pilots(stacks)] == ["uwsgi:processes=1,threads=1", "uwsgi:processes=3,threads=4"]


@pytest.mark.parametrize(
    ("pilots", "size", "needs"),
    [
        # memory grows with processes, connections with requests at once
        (
            {"uwsgi:processes=1,threads=1": (40, 1), "uwsgi:processes=3,threads=4": (100, 12)},
            Size(9, 36),
            (280, 36),
        ),
        (
            {"uwsgi:processes=1,threads=1": (40, 1), "uwsgi:processes=3,threads=4": (100, 12)},
            Size(2, None),
            (70, None),
        ),
        # with one process memory grows with threads
        ({"waitress:threads=1": (20, 0), "waitress:threads=4": (23, 0)}, Size(1, 64), (83, 0)),
        # one connection each configuration has anyway
        ({"uwsgi:processes=1,threads=1": (40, 2), "uwsgi:processes=3,threads=4": (100, 13)}, Size(2, 10), (70, 11)),
        # from one configuration alone nothing is known of others that are larger
        ({"uwsgi:processes=2,threads=2": (40, 4)}, Size(4, 8), (40, 4)),
    ],
)
def test_what_configurations_need_follows_from_the_measured_ones(pilots, size, needs):
    measured = {stack(path): of(*each) for path, each in pilots.items()}
    assert expected_needs(size, measured) == of(*needs)


def of(mib, connections=None):
    return Needs(memory_bytes=mib * MIB, connections=connections)


def test_what_exceeds_a_limit_is_named_with_what_it_needs():
    small, large = stack("uwsgi:processes=1,threads=1"), stack("uwsgi:processes=9,threads=4")
    pilots = {small: of(40, 1), stack("uwsgi:processes=3,threads=4"): of(100, 12)}
    out = beyond(large, TuningLimits(connections=20), pilots)
    assert (out.kind, out.needs.connections, out.measured) == (Unfit.CONNECTIONS, 36, False)
    assert beyond(large, TuningLimits(connections=36), pilots) is None
    assert beyond(small, TuningLimits(memory_bytes=30 * MIB), {small: of(40)}).measured


def test_the_limit_that_is_exceeded_most_is_the_reason():
    limits, needs = TuningLimits(memory_bytes=100 * MIB, connections=4), of(110, 40)
    assert [one.kind for one in exceeded(limits, needs)] == [Unfit.CONNECTIONS, Unfit.MEMORY]
    small = stack("uwsgi:processes=1,threads=1")
    assert beyond(small, limits, {small: needs}).kind is Unfit.CONNECTIONS


def infeasible(stack, mib, connections, *, measured=False):
    return Infeasible(stack=stack, kind=Unfit.CONNECTIONS, needs=of(mib, connections), measured=measured)


def test_every_limit_that_is_exceeded_is_named_with_its_own_figure_and_what_would_do():
    limits = TuningLimits(memory_bytes=100 * MIB, connections=4)
    said = none_within("uwsgi", limits, [infeasible("large", 500, 40), infeasible("small", 110, 6, measured=True)])
    assert said == (
        "no configuration of uwsgi is within the limits: small comes nearest and needs 6 connections to databases, "
        "50 % more than the limit of 4 connections to databases and 110 MiB, 10 % more than the limit of 100 MiB "
        "(measured under load); give --connections 6 --memory 110MiB or more"
    )


def test_the_nearest_of_a_connection_limit_is_the_one_with_the_fewest_connections():
    said = none_within(
        "uwsgi", TuningLimits(connections=4), [infeasible("light", 40, 20), infeasible("heavy", 900, 5)]
    )
    assert "heavy comes nearest and needs 5 connections" in said
    assert "25 % more" in said
    assert "computed from two that were measured" in said
    assert said.endswith("give --connections 5 or more")
