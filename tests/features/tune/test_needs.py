"""What configurations need, from two that were measured, and what is said where none is within the limits."""

import pytest

from stackrace.features.tune.model import Infeasible, Needs, TuningLimits, Unfit
from stackrace.features.tune.needs import Size, beyond, model_of, none_within, pilots, size_of
from stackrace.stacks.servers import catalogue
from stackrace.stacks.stack import Interface
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


def test_memory_grows_with_processes_and_connections_with_requests_at_once():
    measured = {
        stack("uwsgi:processes=1,threads=1"): Needs(memory_bytes=40 * MIB, connections=1),
        stack("uwsgi:processes=3,threads=4"): Needs(memory_bytes=100 * MIB, connections=12),
    }
    model = model_of(measured)
    assert model.needs(Size(9, 36)) == Needs(memory_bytes=280 * MIB, connections=36)
    assert model.needs(Size(2, None)) == Needs(memory_bytes=70 * MIB, connections=None)


def test_with_one_process_memory_grows_with_threads():
    measured = {
        stack("waitress:threads=1"): Needs(memory_bytes=20 * MIB, connections=0),
        stack("waitress:threads=4"): Needs(memory_bytes=23 * MIB, connections=0),
    }
    assert model_of(measured).needs(Size(1, 64)) == Needs(memory_bytes=83 * MIB, connections=0)


def test_what_exceeds_a_limit_is_named_with_what_it_needs():
    small = stack("uwsgi:processes=1,threads=1")
    model = model_of({small: Needs(memory_bytes=40 * MIB, connections=1)})
    large = stack("uwsgi:processes=9,threads=4")
    out = beyond(large, TuningLimits(connections=20), model, {})
    assert (out.kind, out.needs.connections, out.measured) == (Unfit.CONNECTIONS, 36, False)
    assert beyond(large, TuningLimits(connections=36), model, {}) is None
    assert beyond(small, TuningLimits(memory_bytes=30 * MIB), model, {small: Needs(memory_bytes=40 * MIB)}).measured


def test_connections_that_each_configuration_has_anyway_are_not_taken_for_one_of_each_request():
    measured = {
        stack("uwsgi:processes=1,threads=1"): Needs(memory_bytes=40 * MIB, connections=2),
        stack("uwsgi:processes=3,threads=4"): Needs(memory_bytes=100 * MIB, connections=13),
    }
    assert model_of(measured).needs(Size(2, 10)).connections == 11


def test_of_one_configuration_alone_all_connections_are_taken_to_grow():
    measured = {stack("uwsgi:processes=2,threads=2"): Needs(memory_bytes=40 * MIB, connections=4)}
    assert model_of(measured).needs(Size(4, 8)).connections == 8


def test_the_limit_that_is_exceeded_most_is_the_reason():
    limits = TuningLimits(memory_bytes=100 * MIB, connections=4)
    needs = Needs(memory_bytes=110 * MIB, connections=40)
    assert [one.kind for one in limits.exceeded(needs)] == [Unfit.CONNECTIONS, Unfit.MEMORY]
    small = stack("uwsgi:processes=1,threads=1")
    out = beyond(small, limits, model_of({small: needs}), {small: needs})
    assert out.kind is Unfit.CONNECTIONS


MIB = 2**20


def infeasible(stack, mib, connections, *, kind=Unfit.CONNECTIONS, measured=False):
    return Infeasible(
        stack=stack, kind=kind, needs=Needs(memory_bytes=mib * MIB, connections=connections), measured=measured
    )


def test_every_limit_that_is_exceeded_is_named_with_its_own_figure_and_what_would_do():
    limits = TuningLimits(memory_bytes=100 * MIB, connections=4)
    said = none_within("uwsgi", limits, [infeasible("large", 500, 40), infeasible("small", 110, 6, measured=True)])
    assert said == (
        "no configuration of uwsgi is within the limits: small comes nearest and needs 6 connections to databases, "
        "50 % more than the limit of 4 connections to databases and 110 MiB, 10 % more than the limit of 100 MiB "
        "(measured under load); give --connections 6 --memory 110MiB or more"
    )


def test_the_nearest_of_a_connection_limit_is_the_one_with_the_fewest_connections():
    limits = TuningLimits(connections=4)
    said = none_within("uwsgi", limits, [infeasible("light", 40, 20), infeasible("heavy", 900, 5)])
    assert "heavy comes nearest and needs 5 connections" in said
    assert "25 % more" in said
    assert "computed from two that were measured" in said
    assert said.endswith("give --connections 5 or more")
