"""The configurations of a stack."""

import pytest

from stackrace.base.errors import InputError
from stackrace.features.tune.space import space_of
from stackrace.stacks.servers import catalogue
from stackrace.stacks.setting import Interface
from stackrace.stacks.stack_path import parse_stack

SPECS, ANY = catalogue().specs, frozenset(Interface)


def stack(path):
    return parse_stack(path, SPECS, ANY)


def space(path, offered=ANY, **changes):
    return space_of(parse_stack(path, SPECS, offered), SPECS, offered, cores=2, **changes)


def named(made):
    return [f"{knob.server}.{knob.name}" for knob in made.knobs]


def test_threads_are_tried_only_with_the_class_that_has_them():
    made = space("gunicorn")
    assert len(made.configurations) - len(made.reserve) == 6 + 6 * 5
    sync = [values for values in made.configurations.values() if values[1] == "sync"]
    assert {values[2] for values in sync} == {None}


def test_what_does_nothing_beside_a_value_that_is_tried_is_left_out_of_the_path():
    made = space("gunicorn:class=gthread,threads=8", vary=("class",))
    assert [one.path for one in made.configurations] == ["gunicorn:class=sync", "gunicorn:class=gthread,threads=8"]


def test_every_configuration_is_a_path_that_reads_back():
    for one in space("nginx/uwsgi/uwsgi").configurations:
        assert stack(one.path).identity == one.identity


def test_what_the_path_gives_stays_as_it_is():
    made = space("gunicorn:class=gthread,threads=8")
    assert named(made) == ["gunicorn.workers"]
    assert all("class=gthread,threads=8" in one.path for one in made.configurations)


@pytest.mark.parametrize(
    ("path", "asked", "settings"),
    [
        ("gunicorn", {}, ["gunicorn.workers", "gunicorn.class", "gunicorn.threads"]),
        # named ones are tuned even if the path gives them, and so are those of a front end
        ("gunicorn:workers=4", {"vary": ("workers",)}, ["gunicorn.workers"]),
        ("nginx/http/gunicorn", {}, ["gunicorn.workers", "gunicorn.class", "gunicorn.threads"]),
        (
            "nginx/http/waitress",
            {"vary": ("nginx", "threads")},
            ["nginx.workers", "nginx.upstream_keep_alive", "waitress.threads"],
        ),
        # copies only where a server has no processes itself
        ("nginx/http/daphne", {}, ["daphne.instances"]),
        # preloading is tried only to save memory
        ("gunicorn:workers=2,class=sync", {"saves_memory": True}, ["gunicorn.preload"]),
        # an app of another interface has no threads to tune
        ("granian", {}, ["granian.workers", "granian.blocking_threads"]),
        ("granian:interface=asgi", {}, ["granian.workers", "granian.backpressure"]),
        ("granian", {"offered": frozenset({Interface.ASGI})}, ["granian.workers", "granian.backpressure"]),
    ],
)
def test_settings_that_may_be_tuned_are(path, asked, settings):
    assert named(space(path, **asked)) == settings


def test_a_range_goes_on_beyond_its_ends_where_the_server_takes_more():
    made = space("gunicorn:class=gthread")
    workers, threads = made.knobs
    assert (workers.values[-1], workers.above, workers.below) == ("16", ("28", "51"), ())
    assert (threads.values[0], threads.below) == ("2", ("1",))
    assert all({*made.configurations[stack(path)]} & {"28", "51", "64", "128", "1"} for path in made.reserve)
    assert not space("nginx/http/waitress", vary=("upstream_keep_alive",)).reserve


def test_values_may_be_given_and_are_then_the_only_ones():
    (threads,) = space("waitress", vary=("threads=64,8,16",)).knobs
    assert (threads.values, threads.below, threads.above) == (("8", "16", "64"), (), ())
    assert space("gunicorn", vary=("class=gthread,sync",)).knobs[0].values == ("gthread", "sync")


@pytest.mark.parametrize(
    ("path", "vary", "word"),
    [
        ("gunicorn", ("treads",), "did you mean threads"),
        ("waitress", ("threads=8,lots",), "--vary threads=8,lots: waitress:threads cannot be 'lots'"),
        ("waitress", ("threads=",), "give the values to try, as in threads=8,16,32"),
        ("daphne", (), "no setting that may be tuned"),
        ("gunicorn:workers=2,class=sync", ("threads",), "--vary threads: it means nothing"),
        ("waitress:threads=4", (), "--vary: waitress.threads"),
    ],
)
def test_what_cannot_be_tuned_is_said_with_the_way_out(path, vary, word):
    with pytest.raises(InputError, match=word):
        space(path, vary=vary)


def test_the_formula_is_the_documentations_own():
    made, name, formula = space("gunicorn").formula()
    assert (made.path, name, str(formula)) == ("gunicorn:workers=5", "workers", "2n + 1")
    assert space("uwsgi").formula() is None


def test_a_stack_off_the_grid_has_its_own_values():
    made = space("gunicorn")
    assert made.place(stack("gunicorn:workers=4")) == ("4", "sync", None)
    assert made.place(stack("gunicorn:workers=4,preload=on")) is None
    assert made.place(stack("waitress")) is None


def test_every_server_that_hosts_an_app_says_what_may_be_tuned_or_has_nothing_to():
    without = {
        spec.name
        for spec in SPECS.values()
        if spec.hosts - {Interface.FILES} and not any(s.tunable for s in spec.settings)
    }
    assert without == {"bjoern", "daphne", "flup", "mod_python", "passenger"}
