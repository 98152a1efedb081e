"""From an app that is set up to the export of one of its stacks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from ...app.environment import settings_module
from ...base.errors import InputError
from ...base.http_syntax import by_prefix
from ...deploy.preparing import OnPreparing, unheard
from ...deploy.running_stack import change_facts
from ...measure.workload import AnswerOrigin, Workload
from ...race.preparation.deployment import Deployment, set_up
from ...stacks.stack import Stack
from .equivalence import Proof
from .evidence import evidence, limits
from .export import Django, Export, Health, deployed_app, placed
from .files import exported_files, write_folder
from .layout import laid_out
from .packages import distribution, packages_of
from .subject import Subject
from .target import Target, TargetWishes, refuse_proxies, target_of

_OURS = {"PYTHONPYCACHEPREFIX", "PYTHONDONTWRITEBYTECODE", "DJANGO_SETTINGS_MODULE"}
"""Variables that a race sets, or that the entry module sets itself."""
_RESTRICTS = re.compile("allow|deny|satisfy|auth_basic|auth_basic_user_file|auth_request")
"""Directives of nginx's that a race goes without."""


def _made(deployment: Deployment, subject: Subject, wishes: TargetWishes) -> Export:
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
    workload = deployment.workloads[0]
    deployed = deployed_app(
        project,
        stack,
        deployment.launcher.catalogue,
        target,
        facts=examined.interpreter,
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
        packages=packages_of(deployment, stack, entries),
        variables=tuple(sorted(declared)),
        health=_health(workload),
        django=_django(deployment, target),
        resources=deployment.cores,
        memory_bytes=_memory(subject),
        source="stackrace export" + ("" if subject.race is None else f" from race {subject.race.id}"),
        distribution=distribution(),
    )


def _changes_of(stack: Stack) -> tuple[str, ...]:
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


def _memory(subject: Subject) -> float | None:
    if subject.standing is None:
        return None
    rows = [row for row in subject.standing.rows if row.stack == subject.stack]
    return float(sum(rows[0].memory_bytes.values())) if rows else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    """An export that can be written or proven while everything is set up."""

    subject: Subject
    deployment: Deployment
    export: Export

    def files(self, proof: Proof | None = None) -> dict[str, str]:
        """Return all files by their paths below the folder."""
        subject, front = self.subject, self.export.front
        text = evidence(
            self.export.stack.path,
            race=subject.race,
            standing=subject.standing,
            limits=limits(
                front.title,
                bodies=any(entry.limits_bodies for entry in front.entries),
                answers=any(entry.limits_answers for entry in front.entries),
                own=front.site.file is not None,
            ),
            changes=_changes_of(self.export.stack),
            proof=proof,
            notes=(*subject.notes, *self.deployment.notes),
        )
        return exported_files(self.export, text)

    def write(self, folder: Path, proof: Proof | None = None, *, force: bool) -> dict[str, str]:
        """Write them; see ``write_folder``."""
        files = self.files(proof)
        write_folder(folder, files, force=force)
        return files


@contextmanager
def rendered(subject: Subject, wishes: TargetWishes, on_preparing: OnPreparing = unheard) -> Iterator[Rendered]:
    """Set the app up as a race does, and yield the export of the one stack; nothing is left running afterwards."""
    # before anything is started
    target_of(wishes, "app")
    with set_up(subject.request, on_preparing) as deployment:
        yield Rendered(subject=subject, deployment=deployment, export=_made(deployment, subject, wishes))
