"""Plugin of pytest: the fixture ``stackrace`` starts the project's app on a stack, and loads it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from .measure.load import LoadResult


@dataclass(frozen=True, slots=True, kw_only=True)
class TestedStack:
    """Stack that answers."""

    url: str
    """Address without a path, such as ``http://127.0.0.1:41234``."""
    host: str
    """Host header that the app accepts."""
    versions: dict[str, str]
    """Version of each server and of the interpreter, by name."""

    def load(self, *paths: str, requests: int = 1000, concurrency: int = 10) -> LoadResult:
        """Send ``requests`` for ``paths`` in turn (default ``/``) over ``concurrency`` connections.

        Returns counts, throughput and latencies. Raises InputError for options that cannot be used.
        """
        from .api.load.measure import Unwatched, measure, open_connections, set_up_load
        from .api.load.options import LoadOptions

        options = LoadOptions(
            urls=tuple(f"{self.url}{path}" for path in paths or ("/",)),
            host=self.host,
            requests=requests,
            concurrency=concurrency,
            no_ceiling=True,
        )
        setup = set_up_load(options)
        load = options.load(open_connections(setup.over_tcp))
        return measure(setup, load, Unwatched()).result


@pytest.fixture
def stackrace(request: pytest.FixtureRequest) -> Iterator[Callable[..., TestedStack]]:
    """Start the app of the project on a stack, as a race would: ``stackrace("gunicorn:workers=2")``.

    The app is that of pytest's rootdir; keywords are fields of a `Request`, such as ``folder`` and ``environment``.
    The stack stops after the test. Raises StackraceError if it does not come up.
    """
    from .api.one_stack import of_one_stack, stack_up
    from .deploy.preparing import ignore_step
    from .race.request.request import RaceRequest

    with ExitStack() as started:

        def start(stack: str = "gunicorn", **fields: Any) -> TestedStack:
            asked = RaceRequest(**{"folder": request.config.rootpath, **fields})
            up = started.enter_context(stack_up(of_one_stack(asked, stack), ignore_step))
            running, host = up.running, up.deployment.workloads[0].host
            return TestedStack(url=f"http://{running.host}:{running.port}", host=host, versions=up.versions)

        yield start
