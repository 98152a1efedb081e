"""From an app that is set up to the export of one of its stacks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import distributions
from pathlib import Path

from ...app.environment import settings_module
from ...base.errors import InputError
from ...base.http_syntax import by_prefix
from ...base.process import run
from ...deploy.environments import site_packages
from ...deploy.running_stack import change_facts
from ...measure.workload import AnswerOrigin, Workload
from ...race.preparation.deployment import Deployment
from ...stacks.servers import PythonRuntime
from ...stacks.servers.contract import Entry
from ...stacks.stack import Stack
from .addresses import known_proxies, listened_at
from .asked import asked_of
from .hosting import deployed_app, placed
from .layout import laid_out
from .packages import Packages
from .subject import Subject
from .target import RESERVED_USERS, Target
from .wanted import Django, Export, Health

__all__ = ["TargetWishes", "changes_of", "made", "refuse_open", "refuse_proxies", "target_of"]

_OURS = {"PYTHONPYCACHEPREFIX", "PYTHONDONTWRITEBYTECODE", "DJANGO_SETTINGS_MODULE"}
"""Variables that a race sets, or that the entry module sets itself."""
_RESTRICTS = re.compile("allow|deny|satisfy|auth_basic|auth_basic_user_file|auth_request")
"""Directives of nginx's that a race goes without."""
_OS_RELEASE = Path("/etc/os-release")


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetWishes:
    """What the user says about the machine; None is decided here."""

    base: Path | None = None
    user: str | None = None
    listen: str = "0.0.0.0:8000"
    proxies: tuple[str, ...] = ("127.0.0.1",)


def target_of(wishes: TargetWishes, app_name: str) -> Target:
    """Return the target; raises InputError for an address or a folder that nobody could use."""
    base = wishes.base
    name = _name(base.name if base is not None else app_name)
    base = base or Path("/srv", name)
    if not base.is_absolute() or not re.fullmatch(r"[A-Za-z0-9_./-]+", str(base)) or len(base.parts) < 3:
        raise InputError(
            f"--app-dir {base} must be an absolute path of the characters a-z, A-Z, 0-9, _, ., / and -, below "
            "another folder, such as /srv/shop"
        )
    user = wishes.user or (f"{name}-app" if name in RESERVED_USERS else name)
    if wishes.user in RESERVED_USERS - {"root"}:
        raise InputError(
            f"--user {user} is a user of Debian's or of one of its packages; give the app one of its own, such as "
            f"{name}-app"
        )
    if user == "root" or not re.fullmatch(r"[a-z_][a-z0-9_-]{0,31}", user):
        raise InputError(f"--user {user!r} must be an unprivileged user's name, such as {name}; root is none")
    host, port = listened_at(wishes.listen)
    return Target(name=name, base=base, user=user, host=host, port=port, proxies=known_proxies(wishes.proxies))


def _name(text: str) -> str:
    """Return ``text`` as units, folders and users may be called."""
    name = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:24].strip("-")
    return name if re.match("[a-z]", name) else f"app-{name}".strip("-")


def made(deployment: Deployment, subject: Subject, wishes: TargetWishes) -> Export:
    """Return the export of the only stack of ``deployment``."""
    (stack,) = deployment.stacks
    examined = deployment.examined
    entries = [deployment.launcher.catalogue.entries[hop.server] for hop in stack.hops]
    static = _of_project(deployment, add=subject.request.static is None, later=not entries[0].needs_static_folders)
    project = replace(examined.project, static=static)
    roots = (examined.project.root, examined.app.root)
    target = replace(
        target_of(wishes, project.name),
        projects=tuple(dict.fromkeys((*(root.absolute() for root in roots), *(root.resolve() for root in roots)))),
    )
    refuse_open(stack)
    refuse_proxies(entries[0], target)
    facts = examined.interpreter
    workload = deployment.workloads[0]
    deployed = deployed_app(
        project,
        stack,
        deployment.launcher.catalogue,
        target,
        minor=None if facts is None else facts.minor,
        versions={} if facts is None else facts.distributions,
        proxied=any(request.has("x-forwarded-proto") for request in workload.requests),
        lasting=[_theirs(folder, deployment) for folder in _folders(deployment).values()],
    )
    processes = laid_out(
        stack,
        catalogue=deployment.launcher.catalogue,
        app=deployed.hosted,
        target=target,
        cores=max(len(deployment.cores.stack_cores), 1),
    )
    declared = set(examined.project.environment) - _OURS
    return Export(
        stack=stack,
        app=project,
        target=target,
        deployed=deployed,
        processes=processes,
        packages=_packages(deployment, stack, entries),
        variables=tuple(sorted(declared)),
        health=_health(workload),
        django=_django(deployment, target),
        resources=deployment.cores,
        memory_bytes=_memory(subject),
        source="stackrace export" + ("" if subject.race is None else f" from race {subject.race.id}"),
        distribution=_distribution(),
    )


def refuse_proxies(front: Entry, target: Target) -> None:
    """Raise InputError for proxies of which the front cannot be told."""
    if front.trusts_one_proxy and (len(target.proxies) != 1 or "/" in target.proxies[0]):
        raise InputError(
            f"{front.spec.title} trusts one proxy, by its address, not {', '.join(target.proxies)}: give one "
            f"--trusted-proxy, or put a front end before it, such as nginx/http/{front.spec.name}"
        )


def changes_of(stack: Stack) -> tuple[str, ...]:
    """Say what had to be changed in configuration files of the user's, and what is missing, a sentence each."""
    changed = [
        f"{fact.key} of your file for {fact.hop} ({fact.theirs}) gave way: {fact.concern} is this deployment's."
        for hop in stack.hops
        for fact in change_facts(hop)
    ]
    missing = [
        f"{gap.what} of your file for {hop.server} is left out: {gap.why}."
        for hop in stack.hops
        for gap in (hop.file.reading.not_taken if hop.file else ())
    ]
    return (*changed, *missing)


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


def _django(deployment: Deployment, target: Target) -> Django | None:
    facts, project = deployment.examined.django, deployment.examined.project
    if facts is None:
        return None

    def there(folder: Path | None) -> Path | None:
        folder = folder and _theirs(folder, deployment)
        return folder and (placed(folder, project, target) or folder)

    return Django(
        settings=settings_module(project),
        has_manage=(project.root / "manage.py").is_file(),
        static_url=facts.static_url,
        static_root=there(facts.collected),
        sends_static=facts.sends_static,
        media_url=facts.media_url,
        media_root=there(facts.media_root),
    )


def _health(workload: Workload) -> Health:
    """Choose a page that any visitor may ask for."""
    pages = [
        request
        for request, answer in zip(workload.requests, workload.answers, strict=False)
        if request.method == "GET"
        and answer.status is not None
        and answer.status < 400
        and answer.origin is AnswerOrigin.APP
    ] or list(workload.requests[:1])
    page = next((page for page in pages if not page.embedded), pages[0])
    said = tuple(pair for pair in page.headers if pair[0].lower().startswith("x-forwarded-"))
    return Health(path=page.path, host=workload.host, headers=said)


def _packages(deployment: Deployment, stack: Stack, entries: Sequence[Entry]) -> Packages:
    names = dict.fromkeys(name for entry in entries for name in entry.needs.apt)
    debian = {name: _debian_version(name) for name in names}
    facts = deployment.examined.interpreter
    if facts is None:
        return Packages(debian=debian)
    runtime = deployment.launcher.host_for(stack).runtime
    assert isinstance(runtime, PythonRuntime)
    asked = asked_of(deployment.examined.project.root)
    return Packages(
        python=facts.version,
        embedded=any(entry.needs.embeds for entry in entries),
        servers=_installed(site_packages(runtime.home)),
        app=facts.distributions,
        asked=asked.file,
        is_whole=asked.is_whole,
        is_hashed=asked.is_hashed,
        lock=asked.lock,
        locked=asked.locked,
        debian=debian,
    )


def _installed(folder: Path) -> dict[str, str]:
    found = ((each.metadata["Name"], each.version) for each in distributions(path=[str(folder)]))
    return {name: version for name, version in found if name}


def _debian_version(package: str) -> str:
    try:
        result = run(["dpkg-query", "--show", "--showformat=${Version}", package])
    except OSError:
        return ""
    return result.output.strip() if result.code == 0 else ""


def _distribution() -> str:
    try:
        text = _OS_RELEASE.read_text(encoding="utf-8")
    except OSError:
        return "bookworm"
    release = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
    is_debian = release.get("ID") == "debian" and release.get("VERSION_CODENAME")
    return release["VERSION_CODENAME"] if is_debian else "bookworm"


def _memory(subject: Subject) -> float | None:
    if subject.standing is None:
        return None
    rows = [row for row in subject.standing.rows if row.stack == subject.stack]
    return float(sum(rows[0].memory_bytes.values())) if rows else None
