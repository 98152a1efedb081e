"""What README.md says of the app itself: its database and files before the start, and its next version."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from .compose import composed
from .docker import install_commands
from .layout import Process
from .wanted import Django, Export

__all__ = ["docker_commands", "files", "managed", "next_notes", "next_version"]


def managed(export: Export) -> Iterator[str]:
    """Yield the commands that bring the app's database and static files up to date, as its user."""
    if not export.has_python:
        return
    target, django = export.target, export.django
    optional = "" if export.variables else "-"
    run = (
        f"systemd-run --quiet --collect --wait --pipe --uid={target.user} --gid={target.user} "
        f"--working-directory={target.app} --property=EnvironmentFile={optional}{target.variables}"
    )
    if django is None:
        yield "# What the app needs before it starts, such as migrations, with its variables and as its user:"
        yield f"# {run} COMMAND"
        return
    yield "# The database's tables and the static files, with the app's variables and as its user"
    yield f"manage() {{ {run} \\"
    yield f'    {target.python} {_manage(django)} "$@" --settings={django.settings}; }}'
    yield from (f"manage {task}" for task in _tasks(django))


def _manage(django: Django) -> str:
    return "manage.py" if django.has_manage else "-m django"


def _tasks(django: Django) -> Iterator[str]:
    yield "migrate --no-input"
    if django.static_root is not None:
        yield "collectstatic --no-input"


def files(export: Export) -> Iterator[str]:
    """Say who sends static files and uploads, and what to add where nobody does; a sentence or two each."""
    served, django = export.served, export.django
    for prefix, folder in served.items():
        yield f"{export.front.title} sends `{prefix}` from `{folder}`."
    told = set(served)
    if django is not None:
        told |= {django.static_url, django.media_url}
        yield from _static(export, django)
        if django.media_url and django.media_url not in served:
            yield f"Nothing sends uploads (`{django.media_url}`, `{django.media_root}`). {_front(export)}"
    for prefix in export.app.static.keys() - told:
        yield f"{export.front.title} does not send `{prefix}`, so the app must. {_front(export)}"


def _static(export: Export, django: Django) -> Iterator[str]:
    url = django.static_url
    if url in export.served or not url:
        return
    if not url.startswith("/"):
        yield f"Static files are asked for at `{url}`, which is another host's: put them there."
    elif django.sends_static:
        yield f"The app sends `{url}` itself, by WhiteNoise."
    elif django.static_root is None:
        yield (
            f"Nothing sends `{url}`: the settings name no STATIC_ROOT. Name a folder and export again, or have the "
            "app send its files (WhiteNoise)."
        )
    else:
        yield f"Nothing sends `{url}`. Have the app send its files (WhiteNoise). Or: {_front(export)}"


def _front(export: Export) -> str:
    behind = export.stack.path if len(export.stack.processes) == 1 else str(export.stack.processes[-1][0].server)
    return f"Put a front end that sends files before it: `stackrace export nginx/http/{behind} --to DIR`."


def next_version(export: Export) -> Iterator[str]:
    """Yield the commands that deploy the next version of the app where an earlier one runs."""
    target = export.target
    yield "# The new version over the old one: NEW holds the code alone, no database and no uploads"
    yield f"cp --recursive NEW/. {target.app}/"
    if export.has_python:
        _, *installed = install_commands(export, "")
        yield "# Its packages"
        yield from installed
        yield from managed(export)
    hosts = [process for process in export.processes if not process.site.upstream]
    units = [f"{target.unit(process.name)}.service" for process in hosts]
    if not export.has_python:
        yield "# Plain files need no more"
    elif _renews(hosts[0]):
        yield "# The new version takes over; requests go on"
        yield f"systemctl reload {' '.join(units)}"
    else:
        yield "# The new version takes over"
        yield from (f"systemctl restart {unit}" for unit in units)


def _renews(process: Process) -> bool:
    return process.recipe.reload is not None and process.recipe.reload.renews_app


def next_notes(export: Export) -> Iterator[str]:
    """Say what happens meanwhile, and what else may have changed."""
    host = export.processes[0]
    if export.has_python and not _renews(host):
        why = (
            f"{host.title} loads the app before it makes its workers, so a reload would keep the old version."
            if host.recipe.reload
            else f"{host.title} takes a new version only by a restart."
        )
        copies = sum(not process.site.upstream for process in export.processes)
        meanwhile = (
            "The other copies answer meanwhile."
            if copies > 1
            else f"Until it is up again, {export.front.title} answers with an error."
            if export.front is not host
            else "Until it is up again, connections are refused."
        )
        yield f"{why} Requests that it works on end first, those that come later wait or fail. {meanwhile}"
    if export.has_python and _renews(host) and host.recipe.reload and host.recipe.reload.loses:
        yield f"At its reload {host.title} {host.recipe.reload.loses}."
    reloads = [f"{export.target.unit(p.name)}.service" for p in export.processes if p.recipe.reload]
    if reloads:
        yield f"After a change of a server's own configuration: `systemctl reload {' '.join(reloads)}`."
    yield (
        f"After another export: copy it to `{export.target.files}`, then "
        f"`systemctl daemon-reload && systemctl restart {export.target.name}.target`."
    )


def docker_commands(export: Export) -> Iterator[str]:
    """Yield the commands that deploy the containers, and their next version."""
    docker, variables = composed(export), export.target.variables.name
    if export.has_python:
        yield f"test -e {variables} || install --mode=600 {export.target.files.name}/.env.example {variables}"
        yield f"editor {variables}"
    yield f"{docker} build"
    if (django := export.django) is not None:
        run = f"{docker} run --rm {export.processes[0].name} {export.target.python} {_manage(django)}"
        yield from (f"{run} {task} --settings={shlex.quote(django.settings)}" for task in _tasks(django))
    yield f"{docker} up --detach"
