"""What a launch takes, from what loading the app takes and from how many processes load it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.race.preparation.test_prepared import stacks_of

from stackrace.measure.workload import PageTime
from stackrace.race.pacing.overhead import _SERVER_S, launch_s

computing, waiting = PageTime(wall_s=18.0, cpu_s=18.0), PageTime(wall_s=18.0, cpu_s=0.0)
times = st.builds(
    lambda wall_s, share: PageTime(wall_s=wall_s, cpu_s=wall_s * share), st.floats(0, 100), st.floats(0, 1)
)
PATHS = (
    "gunicorn", "gunicorn:workers=8", "gunicorn:workers=8,preload=on", "uwsgi:processes=8", "waitress",
    "uwsgi:processes=8,lazy_apps=on", "nginx/http/gunicorn:workers=2,instances=4", "apache+mod_wsgi:processes=8",
    "apache+mod_wsgi:mode=embedded", "granian", "uvicorn:workers=4",
)  # fmt: skip


def launching(path, loading, cores=2):
    return launch_s(stacks_of(path), loading, cores) - _SERVER_S


@pytest.mark.parametrize(
    ("path", "processes"),
    [
        ("waitress", 1),
        ("gunicorn:workers=8", 8),
        ("gunicorn:workers=8,preload=on", 1),
        ("uwsgi:processes=8", 1),
        ("uwsgi:processes=8,lazy_apps=on", 8),
        ("nginx/http/gunicorn:workers=2,instances=4", 8),
        ("nginx/http/gunicorn:workers=2,instances=4,preload=on", 4),
        ("nginx/uwsgi/uwsgi:processes=8,instances=3", 3),
        ("apache+mod_wsgi:processes=8", 8),
        ("puma:workers=8", 1),
    ],
)
def test_processes_that_load_the_app_share_the_cores_and_who_preloads_loads_it_once(path, processes):
    assert launching(path, computing, cores=2) == pytest.approx(18.0 * max(processes / 2, 1))
    assert launching(path, computing, cores=1) == pytest.approx(18.0 * processes)
    assert launching(path, computing, cores=64) == pytest.approx(18.0)


@pytest.mark.parametrize("path", PATHS)
def test_processes_that_only_wait_do_so_side_by_side(path):
    assert launching(path, waiting, cores=1) == pytest.approx(18.0)


@given(times, st.sampled_from(PATHS), st.integers(1, 64))
def test_a_launch_takes_at_least_what_loading_takes_and_no_longer_on_more_cores(loading, path, cores):
    seconds = launching(path, loading, cores)
    assert seconds >= loading.wall_s - 1e-9
    assert launching(path, loading, cores + 1) <= seconds


def test_stacks_that_differ_count_by_their_mean():
    once, eight_times = stacks_of("uwsgi:processes=8"), stacks_of("uwsgi:processes=8,lazy_apps=on")
    assert launch_s(once + eight_times, computing, 2) == pytest.approx(_SERVER_S + (18.0 + 72.0) / 2)
