"""All that an export is made of, and how it comes of an app that is set up as for a race."""

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
from ...deploy.preparing import OnPreparing, unheard
from ...measure.resources import Resources
from ...measure.workload import AnswerOrigin, Request, Workload
from ...race.preparation.deployment import Deployment, set_up
from ...race.results.race import Race
from ...race.results.standing import Standing
from ...stacks.servers import Hosted, PythonRuntime
from ...stacks.stack import Interface, Stack
from .layout import Process, laid_out
from .packages import Packages, distribution, packages_of
from .target import Target, refuse_proxies

if TYPE_CHECKING:
    from .subject import Subject

SCRIPT = "health.py"
HOST = "HEALTH_HOST"
"""The variable that names the Host to ask for, where the app accepts another one than it did here."""

_OURS = {"PYTHONPYCACHEPREFIX", "PYTHONDONTWRITEBYTECODE", "DJANGO_SETTINGS_MODULE"}
"""Variables that a race sets, or that the entry module sets itself."""
_RESTRICTS = re.compile("allow|deny|satisfy|auth_basic|auth_basic_user_file|auth_request")
"""Directives of nginx's that a race goes without."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """One stack of one app, on its target."""

    stack: Stack
    app: App
    """The user's project, where it lies now."""
    target: Target
    hosted: Hosted
    """The app, as it lies there."""
    processes: tuple[Process, ...]
    """The last hop first, as they are started."""
    packages: Packages
    variables: tuple[str, ...]
    """The names of the app's variables; their values may be secrets, and are not here."""
    page: Request
    """Is asked to see whether the stack works: it was right when the stack was raced or examined."""
    host: str
    """The Host header that goes with it."""
    django: DjangoFacts | None
    """What the settings say, folders as they are on the target; None for an app that is none of Django's."""
    manage: str = "manage.py"
    """What Python runs a command of Django's by."""
    resources: Resources
    """What the race gave each stack, or would."""
    race: Race | None = None
    """The race that measured it; None where none did."""
    standing: Standing | None = None
    notes: tuple[str, ...] = ()
    """To be known with the export, one sentence each."""
    memory_bytes: float | None = None
    """The most that the stack held when it was measured."""
    distribution: str = "bookworm"
    """The code name of the Debian that it was measured on."""

    @property
    def source(self) -> str:
        """What the files' heads say of where they come from."""
        return "stackrace export" + ("" if self.race is None else f" from race {self.race.id}")

    @property
    def front(self) -> Process:
        """The process that clients meet."""
        return self.processes[-1]

    @property
    def has_python(self) -> bool:
        """Whether Python runs the app; else it is plain files."""
        return self.stack.interface is not Interface.FILES

    @property
    def entry(self) -> str:
        """The module that binds ``application``; where clients reach it, it believes proxies only."""
        is_behind = len(self.stack.processes) > 1 or any(
            each.strips_forwarded_headers for each in self.front.entries
        )
        app, proxies = replace(self.app, root=self.target.app), None if is_behind else self.target.proxies
        return deployed_source(app, self.stack.interface, proxies=proxies)

    @property
    def beside(self) -> Mapping[Path, Path]:
        """Folders outside of the project that the front serves: where they belong, and where they are."""
        pairs = ((place, self.app.static[prefix].absolute()) for prefix, place in self.hosted.static.items())
        apart = (pair for pair in pairs if not pair[0].is_relative_to(self.target.app))
        return {place: folder for place, folder in apart if place != folder}

    @property
    def written(self) -> Mapping[str, Path]:
        """The folders that must belong to the app's user: what collectstatic writes, and uploads."""
        django = self.django
        named = {} if django is None else {"static": django.collected, "media": django.media_root}
        return {name: folder for name, folder in named.items() if folder}

    def health_command(self, *, patient: bool = True) -> tuple[str, ...]:
        """Return the command that ends with 0 where the page is answered.

        While the stack starts it is ``patient``, and content with any answer that is no server error: a page that
        was deleted, or a host that the app does not know yet, must not take the whole site down. A front end has
        started in the end with any answer at all: what it forwards to may be down, and it must be there when that
        comes back.
        """
        url = f"http://{self.target.asked_at}{self.page.path}"
        # what a TLS proxy would say, where the app wants it
        said = (pair for pair in self.page.headers if pair[0].lower().startswith("x-forwarded-"))
        headers = [
            word for name, value in (("Host", self.host), *said) for word in ("--header", f"{name}: {value}")
        ]
        if self.has_python:
            anyway = ("--any",) if self.front.site.upstream else ()
            wait = ("--wait", "60", "--below", "500", *anyway) if patient else ()
            return (str(self.target.python), str(self.target.files / SCRIPT), *wait, *headers, url)
        again = ("--retry", "60", "--retry-delay", "1", "--retry-connrefused") if patient else ()
        # plain files: without --fail any answer is one
        strict = () if patient else ("--fail",)
        return ("/usr/bin/curl", *strict, "--silent", "--output", "/dev/null", *again, *headers, url)


def text_of(lines: Iterable[str]) -> str:
    """Return ``lines`` as they stand in a file."""
    return "".join(f"{line}\n" for line in lines)


@contextmanager
def exported(
    subject: Subject, target: partial[Target], on_preparing: OnPreparing = unheard
) -> Iterator[tuple[Export, Deployment]]:
    """Set the app up as a race does, and yield the export of the one stack; nothing is left running afterwards.

    ``target`` is ``target_of`` with what the user wishes.
    """
    # what nobody could use is refused before anything is started
    target("app")
    with set_up(subject.request, on_preparing) as deployment:
        yield _made(deployment, subject, target), deployment


def _made(deployment: Deployment, subject: Subject, target_for: partial[Target]) -> Export:
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
        return _placed(folder, project, target) or folder

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
    """Raise InputError for a file that restricts who may ask, since what an export makes of it does not."""
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
    """Return the folders that the front may serve where the user has them, also where the app runs on a copy.

    Those that were raced, and to ``add``: what the settings name beside, as uploads; ``later`` also those that are
    yet to be made, as static files before they are collected.
    """
    app, view = deployment.examined.app, deployment.guard.view
    served = {url: folder for url, folder in app.static.items() if view.path(folder).is_dir()}
    more = _folders(deployment) if add else {}
    named = {url: folder for url, folder in more.items() if later or view.path(folder).is_dir()}
    return by_prefix({url: _theirs(folder, deployment) for url, folder in {**named, **served}.items()})


def _folders(deployment: Deployment) -> dict[str, Path]:
    """Return the folders that Django's settings name by their URL, on this site, where the app is examined."""
    django = deployment.examined.django
    if django is None:
        return {}
    named = {django.static_url: django.collected, django.media_url: django.media_root}
    return {url: folder for url, folder in named.items() if folder and url.startswith("/") and url != "/"}


def _theirs(folder: Path, deployment: Deployment) -> Path:
    """Return where the user has a ``folder`` of the app, which may run on a copy."""
    app, project = deployment.examined.app, deployment.examined.project
    return project.root / folder.relative_to(app.root) if folder.is_relative_to(app.root) else folder


def _page(workload: Workload) -> Request:
    pages = [
        request
        for request, answer in zip(workload.requests, workload.answers, strict=False)
        if request.method == "GET" and (answer.status or 500) < 400 and answer.origin is AnswerOrigin.APP
    ] or list(workload.requests[:1])
    # what a health check asks for stands in files
    return min(pages, key=lambda page: (masked(page.path) != page.path, bool(page.embedded)))


def hosted_app(
    app: App, stack: Stack, target: Target, facts: PythonFacts | None, lasting: Collection[Path] = ()
) -> Hosted:
    """Return ``app`` as the last hop of ``stack`` sees it on ``target``; ``facts`` are those of its interpreter.

    ``lasting`` are folders that the app's settings name: outside of the project, they have the same path on every
    machine. Raises InputError for an app that neither Python runs nor is plain files.
    """
    if stack.interface is Interface.RACK:
        raise InputError(
            f"{app.name} is a Rack app, and only Python apps and plain files can be exported; "
            f"`stackrace up {stack.path}` shows its configuration"
        )
    numbers = count(1)
    static = {
        prefix: _placed(folder, app, target)
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
    """Return where the module that binds ``application`` lies below the exported folder."""
    return f"entry/deployed_{stack.interface}.py"


def _placed(folder: Path, app: App, target: Target) -> Path | None:
    """Return where a ``folder`` of the project lies on the target; None for one outside of it."""
    root, folder = app.root.absolute(), folder.absolute()
    return target.app / folder.relative_to(root) if folder.is_relative_to(root) else None
