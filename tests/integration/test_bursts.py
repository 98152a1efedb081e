"""Bursts on real servers: what they deliver, whose threads those are, and what becomes of the stack."""

import sys
from dataclasses import replace

import pytest

from stackrace.app.app import EntryKind, entry_of
from stackrace.app.examiner.messages import ThreadPool
from stackrace.base.process.view import UNPROTECTED
from stackrace.deploy.environments import Environments
from stackrace.race.preparation.set_up import set_up
from stackrace.race.request.request import RaceRequest, WorkloadRequest
from stackrace.stacks.setting import Interface

WAIT_S = 0.3
APP = f"""
import asyncio
import time

from fastapi import FastAPI

app = FastAPI()


@app.get("/")
async def quick():
    return {{}}


@app.get("/event-loop")
async def event_loop():
    await asyncio.sleep({WAIT_S})
    return {{}}


@app.get("/threads")
def threads():
    time.sleep({WAIT_S})
    return {{}}


def plain(environ, start_response):
    time.sleep(0.003 if environ["PATH_INFO"] == "/quick" else {WAIT_S})
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [b"plain"]
"""


@pytest.fixture(scope="module")
def fastapi_python(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fastapi")
    (folder / "requirements.txt").write_text("fastapi\n")
    return Environments(folder / "cache", str).of_requirements(
        folder / "requirements.txt", sys.executable, UNPROTECTED
    )


@pytest.fixture
def asked(tmp_path, fastapi_python):
    (tmp_path / "shop.py").write_text(APP)

    def of(url, stack, interface=Interface.ASGI):
        kind = EntryKind(interface)
        return RaceRequest(
            folder=tmp_path,
            entry=entry_of(kind, "shop:app" if interface is Interface.ASGI else "shop:plain"),
            python=fastapi_python,
            urls=(url,),
            stacks=(stack,),
            priority=False,
        )

    return of


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("url", "pool", "at_once"),
    [
        pytest.param("/event-loop", None, 100, marks=pytest.mark.exhaustive),
        ("/threads", ThreadPool(framework="FastAPI", threads=40), 40),
    ],
)
def test_an_event_loop_serves_all_at_once_and_a_pool_as_many_as_it_has_threads(asked, url, pool, at_once):
    with set_up(asked(url, "uvicorn:workers=1"), bursts=True) as deployment:
        bursts = deployment.workloads[0].page.bursts
        assert deployment.examined.pool == pool
        assert [burst.connections for burst in bursts] == [100]
        # a busy machine delivers less, none can deliver more
        assert all(0 < burst.per_s <= 1.05 * min(burst.connections, at_once) / WAIT_S for burst in bursts)
        assert {burst.promised for burst in bursts} == {1}


@pytest.mark.exhaustive
def test_each_process_of_wsgi_serves_one_at_once(asked):
    with set_up(asked("/", "gunicorn:workers=2", Interface.WSGI), bursts=True) as deployment:
        assert all(0 < burst.per_s <= 1.05 * 2 / WAIT_S for burst in deployment.workloads[0].page.bursts)
        # it is still busy with requests that nobody waits for
        assert not deployment.launcher.reusable


@pytest.mark.exhaustive
def test_a_quick_page_does_not_wait_behind_a_slow_one(asked):
    pages = (WorkloadRequest(name="slow", urls=("/",)), WorkloadRequest(name="quick", urls=("/quick",)))
    request = replace(asked("/", "gunicorn:workers=2", Interface.WSGI), urls=None, workloads=pages)
    with set_up(request, bursts=True) as deployment:
        slow, quick = (each.page.bursts[-1].per_s for each in deployment.workloads)
        # the queue of the slow page would hold the quick one up for longer than its burst lasts
        assert quick > 5 * slow


@pytest.mark.exhaustive
def test_without_a_race_nothing_is_sent(asked):
    with set_up(asked("/", "uvicorn")) as deployment:
        assert deployment.workloads[0].page.bursts == ()
        assert not deployment.launcher.reusable


@pytest.mark.exhaustive
def test_a_stack_that_is_kept_is_the_next_launch_of_its_stack_or_twin(asked):
    with set_up(asked("/", "uvicorn")) as deployment:
        (stack,) = deployment.stacks
        launcher = deployment.launcher
        launched = launcher.launch(stack)
        launcher.reusable[stack.path] = launched
        again = launcher.launch(stack.twin)
        assert (again.port, again.parts, again.stack) == (launched.port, launched.parts, stack.twin)
        assert not launcher.reusable
        launcher.reusable[stack.path] = again
        for _, pid in again.parts:
            deployment.guard.kill(pid)
        # one that died meanwhile is not taken for it
        fresh = launcher.launch(stack)
        assert fresh.port != again.port
        launcher.reusable[stack.path] = fresh
        launcher.forget(())
        assert not launcher.reusable
        assert all(
            status.code is not None for status in deployment.guard.status([p for _, p in fresh.parts]).values()
        )
