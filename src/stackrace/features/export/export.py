"""All that an export is made of."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from ...app.app import App
from ...app.entry import deployed_source
from ...app.examination import PythonFacts
from ...base.errors import InputError
from ...measure.resources import Resources
from ...stacks.servers import Catalogue, Hosted, PythonRuntime
from ...stacks.stack import Interface, Stack
from .layout import Process
from .packages import Packages
from .target import Target

SCRIPT = "health.py"
HOST = "HEALTH_HOST"
"""The variable that names the Host to ask for, where the app accepts another one than it did here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """What is asked to see whether the stack works: a page that was right when the stack was raced or examined."""

    path: str
    host: str
    """The Host header."""
    headers: tuple[tuple[str, str], ...] = ()
    """What a TLS proxy would say, where the app wants it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Django:
    """What a Django project's settings say of its deployment; folders are those of the target."""

    settings: str
    """Their module."""
    has_manage: bool = True
    """Whether manage.py lies at the project's top."""
    static_url: str = ""
    static_root: Path | None = None
    """Where collectstatic puts the files; None where the settings do not say."""
    sends_static: bool = False
    """Whether the app itself sends them, by WhiteNoise."""
    media_url: str = ""
    """Empty where nothing is uploaded, or where a view of the project answers there."""
    media_root: Path | None = None

    @property
    def written(self) -> tuple[Path, ...]:
        """The folders that must belong to the app's user: uploads, and what collectstatic writes."""
        return tuple(dict.fromkeys(folder for folder in (self.static_root, self.media_root) if folder))


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """One stack of one app, on its target."""

    stack: Stack
    app: App
    """The user's project, where it lies now."""
    target: Target
    deployed: DeployedApp
    processes: tuple[Process, ...]
    """The last hop first, as they are started."""
    packages: Packages
    variables: tuple[str, ...]
    """The names of the app's variables; their values may be secrets, and are not here."""
    health: Health
    django: Django | None
    """None for an app that is none of Django's."""
    resources: Resources
    """What the race gave each stack, or would."""
    memory_bytes: float | None = None
    """The most that the stack held when it was measured."""
    source: str = "stackrace export"
    """What the files' heads say of where they come from."""
    distribution: str = "bookworm"
    """The code name of the Debian that it was measured on."""

    @property
    def front(self) -> Process:
        """The process that clients meet."""
        return self.processes[-1]

    @property
    def written(self) -> tuple[Path, ...]:
        """The folders that the app is known to write to."""
        return self.django.written if self.django else ()

    @property
    def served(self) -> Mapping[str, Path]:
        """The folders of files that the front sends itself, by URL prefix."""
        static = self.deployed.hosted.static
        return {prefix: folder for prefix, folder in static.items() if self.front.uses(folder)}

    @property
    def has_python(self) -> bool:
        """Whether Python runs the app; else it is plain files."""
        return self.stack.interface is not Interface.FILES

    def health_command(self, *, patient: bool = True) -> tuple[str, ...]:
        """Return the command that ends with 0 where the page is answered.

        While the stack starts it is ``patient``, and content with any answer that is no server error: a page that
        was deleted, or a host that the app does not know yet, must not take the whole site down. A front end has
        started in the end with any answer at all: what it forwards to may be down, and it must be there when that
        comes back.
        """
        health, target = self.health, self.target
        url = f"http://{target.asked_at}{health.path}"
        said = (("Host", health.host), *health.headers)
        headers = tuple(word for name, value in said for word in ("--header", f"{name}: {value}"))
        if self.has_python:
            anyway = ("--any",) if self.front.site.upstream else ()
            wait = ("--wait", "60", "--below", "500", *anyway) if patient else ()
            return (str(target.python), str(target.files / SCRIPT), *wait, *headers, url)
        again = ("--retry", "60", "--retry-delay", "1", "--retry-connrefused") if patient else ()
        # plain files: without --fail any answer is one
        strict = () if patient else ("--fail",)
        return ("/usr/bin/curl", *strict, "--silent", "--output", "/dev/null", *again, *headers, url)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeployedApp:
    """An app on its target."""

    hosted: Hosted
    files: Mapping[str, str]
    """What the export adds for it, by path below the exported folder: the module that binds ``application``."""
    beside: Mapping[Path, Path]
    """Folders outside of the project that the front serves: where they belong on the target, and where they are."""


def deployed_app(
    app: App,
    stack: Stack,
    catalogue: Catalogue,
    target: Target,
    *,
    facts: PythonFacts | None,
    proxied: bool,
    lasting: Collection[Path] = (),
) -> DeployedApp:
    """Return ``app`` as the last hop of ``stack`` sees it on ``target``; ``facts`` are those of its interpreter.

    ``proxied`` tells whether it was raced with what a TLS proxy in front would say. ``lasting`` are folders that
    the app's settings name: outside of the project, they have the same path on every machine. Raises InputError for
    an app that neither Python runs nor is plain files.
    """
    if stack.interface is Interface.RACK:
        raise InputError(
            f"{app.name} is a Rack app, and only Python apps and plain files can be exported; "
            f"`stackrace up {stack.path}` shows its configuration"
        )
    beside: dict[Path, Path] = {}
    static = {
        prefix: placed(folder, app, target) or (folder if folder in lasting else _beside(folder, target, beside))
        for prefix, folder in app.static.items()
    }
    hosted = Hosted(interface=stack.interface, root=target.app, static=static)
    if facts is None:
        return DeployedApp(hosted=hosted, files={}, beside=beside)
    entry = target.entry(stack.interface)
    runtime = PythonRuntime(
        module=entry.stem,
        entry=entry,
        python=target.python,
        home=target.venv,
        python_path=(entry.parent, target.app),
        site_packages=(target.venv / "lib" / "python{}.{}".format(*facts.minor) / "site-packages",),
        versions=facts.distributions,
    )
    front = stack.processes[0]
    meets_clients = len(stack.processes) == 1 and not any(
        catalogue.entries[hop.server].strips_forwarded_headers for hop in front
    )
    source = deployed_source(
        replace(app, root=target.app),
        stack.interface,
        proxied=proxied,
        proxies=target.proxies if meets_clients else None,
    )
    path = str(entry.relative_to(target.files))
    return DeployedApp(hosted=replace(hosted, runtime=runtime), files={path: source}, beside=beside)


def placed(folder: Path, app: App, target: Target) -> Path | None:
    """Return where a ``folder`` of the project lies on the target; None for one outside of it."""
    root, folder = app.root.absolute(), folder.absolute()
    return target.app / folder.relative_to(root) if folder.is_relative_to(root) else None


def _beside(folder: Path, target: Target, beside: dict[Path, Path]) -> Path:
    place = target.base / f"static{len(beside) + 1}"
    beside[place] = folder.absolute()
    return place
