"""Load with the requests of a race file: on one of its stacks, or on a running server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from ...base.errors import InputError
from ...deploy.preparing import OnPreparing
from ...measure.engine.load_run import Target
from ...measure.engine.url import parse
from ...race.preparation.sessions import with_bundled_sessions
from ...race.request.request import RaceRequest, WorkloadRequest
from ...report.words.race_words import version_words
from ..one_stack import StackUp, of_one_stack, stack_up
from .measure import LoadSetup, allow_files, engine_cores, set_up_load
from .options import LoadOptions, flag, refuse_contradictions
from .target import headers_of

_OF_A_SERVER = (
    "unix_socket", "insecure", "cacert", "tls", "method", "data", "chunked", "expect_continue", "nonce",
    "expect_status", "expect_body", "expect_text", "masks", "cookies", "target_is_mine",
)  # fmt: skip
"""Options only for a server at a URL: the race file decides them for a stack, or stacks have nothing like them."""


@contextmanager
def load_setup(
    options: LoadOptions,
    request: RaceRequest | None,
    on_preparing: OnPreparing,
    *,
    stack: str | None = None,
    workload: str | None = None,
) -> Iterator[LoadSetup]:
    """Yield the target and settings of a load: a server at a URL, or ``stack``, which runs until the end.

    Without ``request`` the options say everything. Raise InputError before anything is sent, and LaunchError if the
    stack does not come up.
    """
    if request is None:
        yield set_up_load(options)
        return
    request = _with_workload(with_bundled_sessions(request), workload)
    options = _as_the_file_says(options, request)
    if options.urls:
        if stack is not None:
            raise InputError("give a URL or --stack, not both: a server that runs, or a stack to start")
        yield set_up_load(_at_urls(options, request))
        return
    asked = of_one_stack(_applied(options, request), stack)
    with stack_up(asked, on_preparing) as up:
        yield _setup_for(options, up)
        up.refuse_dead()


def _with_workload(request: RaceRequest, name: str | None) -> RaceRequest:
    names = [workload.name for workload in request.workloads]
    if name is None and len(names) < 2:
        return request
    if name not in names:
        known = f"choose one with --workload: {', '.join(names)}" if names else "leave --workload out"
        raise InputError(f"{request.source or 'this project'} has {len(names) or 'no'} named workloads; {known}")
    return replace(request, workloads=tuple(each for each in request.workloads if each.name == name))


def _as_the_file_says(options: LoadOptions, request: RaceRequest) -> LoadOptions:
    """Return the options with the file's connection settings as defaults; the highest of its load levels counts."""
    return replace(
        options,
        concurrency=options.concurrency or (max(request.concurrency) if request.concurrency else None),
        close=options.close or not (request.keep_alive or options.requests_per_connection),
        timeout=options.timeout or request.timeout_s,
        silent=request.silent if options.silent is None else options.silent,
        idle=request.idle if options.idle is None else options.idle,
    )


def _workload(request: RaceRequest) -> WorkloadRequest:
    if request.workloads:
        return request.workloads[0]
    return WorkloadRequest(name="", urls=request.urls or ("/",), session=request.session, think=request.think)


def _at_urls(options: LoadOptions, request: RaceRequest) -> LoadOptions:
    """Return the options for the server at the only URL, with the requests that the file has for its stacks."""
    (first, *others) = options.urls
    url = parse(first, target_is_mine=options.target_is_mine, unix_socket=options.unix_socket)
    if others or url.path != "/":
        raise InputError("the race file says what is asked; give the server's address alone, or no race file")
    workload = _workload(request)
    options = replace(
        options,
        host=options.host or request.host,
        headers=(*(f"{name}: {value}" for name, value in request.headers), *options.headers),
    )
    if options.session is not None:
        return options
    if workload.session is not None:
        think = options.think or ("recorded" if workload.think else "none")
        return replace(options, session=workload.session, think=think)
    return replace(options, urls=tuple(f"{url.origin}{path}" for path in workload.urls))


def _applied(options: LoadOptions, request: RaceRequest) -> RaceRequest:
    for name in _OF_A_SERVER:
        if options.is_given(name):
            raise InputError(f"{flag(name)} is for a server at a URL; leave it out, or give its URL")
    if isinstance(options.think, float):
        raise InputError("--think with a time is for a server at a URL; give recorded or none")
    recorded = options.session or _workload(request).session
    refuse_contradictions(replace(options, session=recorded), has_stack=True)
    if options.session is not None:
        request = replace(request, session=options.session, urls=None, workloads=(), think=True, check={})
    if options.think is not None:
        think = options.think == "recorded"
        workloads = tuple(replace(workload, think=think) for workload in request.workloads)
        request = replace(request, think=think and request.session is not None, workloads=workloads)
    threads = options.threads
    return replace(
        request,
        host=options.host or request.host,
        headers=(*request.headers, *headers_of(options)),
        engine_cores=engine_cores(threads).generator_cores if threads is not None else request.engine_cores,
    )


def _setup_for(options: LoadOptions, up: StackUp) -> LoadSetup:
    running, cores = up.running, up.deployment.cores
    (workload,) = up.deployment.workloads
    target = Target(
        urls=(f"http://{running.host}:{running.port}/ ({running.stack.path}: {version_words(up.versions)})",),
        address=(running.host, running.port),
        workload=workload,
        tls=None,
        is_local=True,
        notes=up.deployment.notes,
    )
    # not earlier: the stack's servers would inherit the limit
    allow_files()
    threads = options.threads or len(cores.generator_cores)
    return LoadSetup(options=replace(options, threads=threads), target=target, cores=cores)
