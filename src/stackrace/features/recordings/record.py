"""A proxy in front of an app that runs, or that is started for it, to record a browser's visit."""

from __future__ import annotations

import platform
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from ...api.one_stack import stack_up
from ...app.examination import PythonFacts
from ...base.errors import InputError
from ...base.http_syntax import tells_of_tls
from ...deploy.environments import Environments, cache_folder
from ...deploy.guard import Guard
from ...deploy.preparing import OnPreparing
from ...deploy.sockets import free_port
from ...measure.engine.url import Url, parse
from ...measure.workload import Workload
from ...race.preparation.app import offered_by
from ...race.preparation.choosing import most_used
from ...race.request.request import RaceRequest
from ...stacks.servers import catalogue
from .recording_proxy import REQUIREMENT, RecordingProxy, Side

__all__ = ["recording_app", "recording_url"]


@contextmanager
def recording_url(url: str, port: int | None, on_preparing: OnPreparing) -> Iterator[RecordingProxy]:
    """Record what is asked of the app that runs at ``url``; raises InputError where nobody answers there."""
    where = parse(url, target_is_mine=True)
    side = Side(upstream=where.origin, origin=where.origin, any_certificate=where.is_local)
    _require_somebody(where, url)
    programs = _programs(on_preparing)
    with Guard() as guard:
        yield _started(guard, programs, side, port)


@contextmanager
def recording_app(request: RaceRequest, port: int | None, on_preparing: OnPreparing) -> Iterator[RecordingProxy]:
    """Start the app of ``request`` on its first stack, and record what is asked of it."""
    stack = request.stacks[0] if request.stacks else most_used(catalogue(), offered_by(request), None)[0].path
    # what it is raced with may be the very session that is not recorded yet
    alone = replace(request, stacks=(stack,), session=None, workloads=())
    programs = _programs(on_preparing)
    with stack_up(alone, on_preparing) as up:
        side = _side(f"http://{up.running.host}:{up.running.port}", up.deployment.workloads[0])
        yield _started(up.deployment.guard, programs, side, port, up.refuse_dead)


def _side(upstream: str, workload: Workload) -> Side:
    """Return the app as it is asked in a race: by its own name, and with what a front end says of https."""
    headers = workload.requests[0].headers
    forwarded = tuple(
        pair for pair in headers if pair[0].lower().startswith("x-forwarded-") or tells_of_tls([pair])
    )
    origin = f"http{'s' if tells_of_tls(forwarded) else ''}://{workload.host}"
    return Side(upstream=upstream, origin=origin, headers=forwarded)


def _require_somebody(where: Url, url: str) -> None:
    assert not isinstance(where.address, str)
    try:
        # by name: an app may listen on one of its addresses only, and the proxy finds that one, too
        socket.create_connection((where.name, where.address[1]), timeout=5.0).close()
    except OSError as error:
        raise InputError(
            f"nobody answers at {url} ({error.strerror or error}); start your app first, or give its race file"
        ) from error


def _programs(on_preparing: OnPreparing) -> Path:
    """Return the folder of mitmproxy's programs; it is installed when it is first needed."""
    own = Path(sys._base_executable)  # type: ignore[attr-defined]
    alone = PythonFacts(version=platform.python_version(), python=own, base=own, site_packages=())
    return Environments(cache_folder(), on_preparing).layered(alone, (REQUIREMENT,)) / "bin"


def _started(
    guard: Guard, programs: Path, side: Side, port: int | None, require_app: Callable[[], None] = lambda: None
) -> RecordingProxy:
    proxy = RecordingProxy(guard, programs, side, free_port() if port is None else port, require_app)
    proxy.start()
    return proxy
