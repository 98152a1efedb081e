"""All parts of an export, made from an app that is set up as for a race."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from ...app.app import App
from ...app.entry import deployed_source
from ...app.examiner.messages import DjangoFacts, PythonFacts
from ...base.codec import map_paths
from ...base.errors import InputError
from ...base.http_syntax import by_prefix
from ...base.secrets import masked
from ...deploy.preparing import OnPreparing, ignore_step
from ...measure.resources import Resources
from ...measure.workload import AnswerOrigin, Request, Workload
from ...race.preparation.set_up import Deployment, set_up
from ...race.results.race import Race
from ...race.results.standing import Standing
from ...stacks.servers import Hosted, PythonRuntime
from ...stacks.setting import Interface
from ...stacks.stack import Stack
from .export_target import Target, refuse_proxies
from .layout import Process, laid_out
from .packages import Packages, distribution, packages_of

if TYPE_CHECKING:
    from .subject import Subject

SCRIPT = "health.py"
HOST = "HEALTH_HOST"
"""Variable with the Host to request, if the app accepts a different one than here."""

_OURS = {"PYTHONPYCACHEPREFIX", "PYTHONDONTWRITEBYTECODE", "DJANGO_SETTINGS_MODULE"}
"""Variables that a race sets, or that the entry module sets itself."""
_RESTRICTS = re.compile("allow|deny|satisfy|auth_basic|auth_basic_user_file|auth_request")
"""Directives of nginx that a race ignores."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """One stack of one app, on its target."""

    stack: Stack
    app: App
    """The user's project at its present place."""
    target: Target
    hosted: Hosted
    """The app at its place on the target."""
    processes: tuple[Process, ...]
    """Processes in the order of their start, the last hop first."""
    packages: Packages
    variables: tuple[str, ...]
    """Names of the app's variables; their values may be secrets, and are not stored."""
    page: Request
    """Page to request as a health check: its answer was right when the stack was raced or examined."""
    host: str
    """Host header for that page."""
    django: DjangoFacts | None
    """Django settings, with folders as on the target; None for other apps."""
    manage: str = "manage.py"
    """Python's arguments before a Django command: ``manage.py`` or ``-m django``."""
    resources: Resources
    """Cores, memory and quota of each stack in the race."""
    race: Race | None = None
    """The race that measured the stack; None if none did."""
    standing: Standing | None = None
    notes: tuple[str, ...] = ()
    """Notes for the user, one sentence each."""
    memory_bytes: float | None = None
    """The most memory that the measured stack held."""
    distribution: str = "bookworm"
    """Code name of the Debian that it was measured on."""

    @property
    def source(self) -> str:
        """Origin of the files, for their first lines."""
        return "stackrace export" + ("" if self.race is None else f" from race {self.race.id}")

    @property
    def front(self) -> Process:
        """The process that clients connect to."""
        return self.processes[-1]

    @property
    def has_python(self) -> bool:
        """True if Python runs the app; else it is plain files."""
        return self.stack.interface is not Interface.FILES

    @property
    def entry(self) -> str:
        """Module that binds ``application``; if clients reach it directly, it trusts proxies only."""
        is_behind = len(self.stack.processes) > 1 or any(
            each.strips_forwarded_headers for each in self.front.entries
        )
        app, proxies = replace(self.app, root=self.target.app), None if is_behind else self.target.proxies
        return deployed_source(app, self.stack.interface, proxies=proxies)

    @property
    def shared_folders(self) -> Mapping[Path, Path]:
        """Folders outside of the project that the front serves: paths on the target, and paths here."""
        pairs = ((place, self.app.static[prefix].absolute()) for prefix, place in self.hosted.static.items())
        separate = (pair for pair in pairs if not pair[0].is_relative_to(self.target.app))
        return {place: folder for place, folder in separate if place != folder}

    @property
    def written(self) -> Mapping[str, Path]:
        """Folders that must belong to the app's user: for collected static files, and for uploads."""
        django = self.django
        named = {} if django is None else {"static": django.collected, "media": django.media_root}
        return {name: folder for name, folder in named.items() if folder}

    def health_command(self, *, patient: bool = True) -> tuple[str, ...]:
        """Return the command that ends with 0 if the page is answered.

        During a start it is ``patient``, and accepts any answer that is no server error: a deleted page, or a host
        that the app does not know yet, must not take the whole site down. Once the time is over, any answer of a
        front end is enough: its upstream may be down, and the front must be up when the upstream comes back.
        """
        url = f"http://{self.target.asked_at}{self.page.path}"
        # headers of a TLS proxy, if the app wants them
        said = (pair for pair in self.page.headers if pair[0].lower().startswith("x-forwarded-"))
        headers = [
            word for name, value in (("Host", self.host), *said) for word in ("--header", f"{name}: {value}")
        ]
        if self.has_python:
            anyway = ("--any",) if self.front.site.upstream else ()
            wait = ("--wait", "60", "--below", "500", *anyway) if patient else ()
            return (str(self.target.python), str(self.target.files / SCRIPT), *wait, *headers, url)
        again = ("--retry", "60", "--retry-delay", "1", "--retry-connrefused") if patient else ()
        # plain files: without --fail any answer counts
        strict = () if patient else ("--fail",)
        return ("/usr/bin/curl", *strict, "--silent", "--output", "/dev/null", *again, *headers, url)


def text_of(lines: Iterable[str]) -> str:
    """Return ``lines`` as the text of a file."""
    return "".join(f"{line}\n" for line in lines)


@contextmanager
def exported(
    subject: Subject, target: partial[Target], on_preparing: OnPreparing = ignore_step
) -> Iterator[tuple[Export, Deployment]]:
    """Set the app up as a race does, and yield the export of the one stack; nothing is left running afterwards.

    ``target`` is ``target_of`` with the user's options.
    """
    # unusable values are rejected before anything is started
    target("app")
    with set_up(subject.request, on_preparing) as deployment:
        yield export_of(deployment, subject, target), deployment


def export_of(deployment: Deployment, subject: Subject, target_for: partial[Target]) -> Export:
    """Return the export of the only stack of ``deployment``, which was set up as for a race."""
    (stack,) = deployment.stacks
    examined, servers = deployment.examined, deployment.launcher.catalogue
    front = servers.entries[stack.hops[0].server]
    static = _of_project(deployment, add=subject.request.static is None, later=not front.needs_static_folders)
    project = replace(examined.project, static=static)
    roots = (examined.project.root, examined.app.root)
    target = replace(
        target_for(project.name),
        projects=tuple(dict.fromkeys((*(root.absolute() for root in roots), *(root.resolve() for root in roots)))),
    )
    refuse_open(stack)
    refuse_proxies(front, target)
    workload = deployment.workloads[0]
    lasting = [_theirs(folder, deployment) for folder in _folders(deployment).values()]
    hosted = hosted_app(project, stack, target, examined.interpreter, lasting)

    def there(folder: Path) -> Path:
        folder = _theirs(folder, deployment)
        return _path_on_target(folder, project, target) or folder

    cores = max(len(deployment.cores.stack_cores), 1)
    rows = () if subject.standing is None else subject.standing.rows
    held = next((row.memory_bytes for row in rows if row.stack == stack.path), None)
    return Export(
        stack=stack,
        app=project,
        target=target,
        hosted=hosted,
        processes=laid_out(stack, catalogue=servers, app=hosted, target=target, cores=cores),
        packages=packages_of(deployment, stack),
        variables=tuple(sorted(set(examined.project.environment) - _OURS)),
        page=_page(workload),
        host=workload.host,
        django=map_paths(examined.django, path=there),
        manage="manage.py" if (project.root / "manage.py").is_file() else "-m django",
        resources=deployment.cores,
        race=subject.race,
        standing=subject.standing,
        notes=(*subject.notes, *deployment.notes),
        memory_bytes=None if held is None else float(sum(held.values())),
        distribution=distribution(),
    )


def refuse_open(stack: Stack) -> None:
    """Raise InputError for a configuration file that restricts access, since the exported one would not."""
    for hop in stack.hops:
        for change in hop.file.reading.changes if hop.file else ():
            name = change.key.rpartition(" ")[2]
            if _RESTRICTS.fullmatch(name):
                raise InputError(
                    f"line {change.line} of the file {hop.config} restricts who may ask ({name} {change.theirs}), "
                    f"and an export would leave that out: export without {hop.server}:config, or export what lies "
                    f"behind {hop.server} and deploy your own file before it"
                )


def _of_project(deployment: Deployment, *, add: bool, later: bool) -> Mapping[str, Path]:
    """Return the folders that the front may serve, at the user's own paths even if the app runs on a copy.

    They are the raced folders; with ``add`` also others that the settings name, such as uploads; with ``later``
    also folders that do not exist yet, such as static files before they are collected.
    """
    app, view = deployment.examined.app, deployment.guard.view
    served = {url: folder for url, folder in app.static.items() if view.path(folder).is_dir()}
    more = _folders(deployment) if add else {}
    named = {url: folder for url, folder in more.items() if later or view.path(folder).is_dir()}
    return by_prefix({url: _theirs(folder, deployment) for url, folder in {**named, **served}.items()})


def _folders(deployment: Deployment) -> dict[str, Path]:
    """Return the folders that Django's settings name, by their URL on this site, as the examined app sees them."""
    django = deployment.examined.django
    if django is None:
        return {}
    named = {django.static_url: django.collected, django.media_url: django.media_root}
    return {url: folder for url, folder in named.items() if folder and url.startswith("/") and url != "/"}


def _theirs(folder: Path, deployment: Deployment) -> Path:
    """Return the user's own path of an app's ``folder``; the app may run on a copy."""
    app, project = deployment.examined.app, deployment.examined.project
    return project.root / folder.relative_to(app.root) if folder.is_relative_to(app.root) else folder


def _page(workload: Workload) -> Request:
    pages = [
        request
        for request, answer in zip(workload.requests, workload.answers, strict=False)
        if request.method == "GET" and (answer.status or 500) < 400 and answer.origin is AnswerOrigin.APP
    ] or list(workload.requests[:1])
    # the page of a health check is written into files
    return min(pages, key=lambda page: (masked(page.path) != page.path, bool(page.embedded)))


def hosted_app(
    app: App, stack: Stack, target: Target, facts: PythonFacts | None, lasting: Collection[Path] = ()
) -> Hosted:
    """Return ``app`` for the last hop of ``stack`` on ``target``; ``facts`` are those of its interpreter.

    ``lasting`` are folders of the app's settings: outside of the project, they have the same path on every machine.
    Raises InputError for an app that is neither Python nor plain files.
    """
    if stack.interface is Interface.RACK:
        raise InputError(
            f"{app.name} is a Rack app, and only Python apps and plain files can be exported; "
            f"`stackrace up {stack.path}` shows its configuration"
        )
    numbers = count(1)
    static = {
        prefix: _path_on_target(folder, app, target)
        or (folder if folder in lasting else target.base / f"static{next(numbers)}")
        for prefix, folder in app.static.items()
    }
    hosted = Hosted(interface=stack.interface, root=target.app, static=static)
    if facts is None:
        return hosted
    entry = target.files / entry_path(stack)
    runtime = PythonRuntime(
        module=entry.stem,
        entry=entry,
        python=target.python,
        home=target.venv,
        python_path=(entry.parent, target.app),
        site_packages=(target.venv / "lib" / "python{}.{}".format(*facts.minor) / "site-packages",),
        versions=facts.distributions,
    )
    return replace(hosted, runtime=runtime)


def entry_path(stack: Stack) -> str:
    """Return the path of the module that binds ``application``, below the exported folder."""
    return f"entry/deployed_{stack.interface}.py"


def _path_on_target(folder: Path, app: App, target: Target) -> Path | None:
    """Return the path of a project's ``folder`` on the target; None for one outside of the project."""
    root, folder = app.root.absolute(), folder.absolute()
    return target.app / folder.relative_to(root) if folder.is_relative_to(root) else None
