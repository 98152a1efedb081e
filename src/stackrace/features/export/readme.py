"""README.md: the contents of the exported folder, and how to deploy it by hand."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence

from ...app.environment import settings_module
from ...app.examiner.messages import DjangoFacts
from .containers import composed, install_commands
from .export import HOST, Export
from .layout import Process

_UV = "UV_PYTHON_INSTALL_DIR=/opt/python /opt/uv/bin/uv"
_PYTHONS = {"bullseye": "3.9", "bookworm": "3.11", "trixie": "3.13"}
_FILES = {
    "systemd/": "a service for each process, a target for all of them, a slice for what they may use",
    "Dockerfile": "one image for all processes",
    "compose.yaml": "the same processes as services",
    "Procfile": "the same commands by name, for honcho and its kin",
    "logrotate": "logs turned by the day",
    "requirements.txt": "the servers' PyPI packages in the versions that the export found",
    "requirements-app.txt": "the app's packages",
    "constraints.txt": "every version that the export found",
    "packages.txt": "Debian's packages in the versions that the export found",
    "entry/": "the module that binds the app for its server",
    "health.py": "asks for a page and says whether it is right",
    ".env.example": "the names of the app's variables",
    "EVIDENCE.md": "why this stack, and how far that can be believed",
}


def readme(export: Export, files: Sequence[str]) -> str:
    """Return the text of README.md; ``files`` are the other files, by path below the folder."""
    target = export.target
    text = f"""\
# {target.name} on {export.stack}

Made by {export.source}. [EVIDENCE.md](EVIDENCE.md) says why this stack.

## Deploy by hand

The files expect the project in `{target.app}` and this folder in `{target.files}`. Copy both there.
Then, as root, in this order:

{_each("    ", _commands(export))}

It answers at {target.asked_at} for the host {export.host}. If it does not, these say why:
`journalctl --unit '{target.name}-*'` and the logs below `/var/log/{target.name}`.
`systemctl stop {target.name}.target` lets requests end and stops it.

{_each("- ", _notes(export))}

## Deploy the next version

{_each("    ", _next_version(export))}

{_each("- ", _next_notes(export))}

## Deploy with Docker

The build's context is the folder that holds `app` and `deploy`. There:

{_each("    ", _docker_commands(export))}

The same commands deploy the next version. Requests under way end first; for a moment nothing answers.

{_each("- ", _docker_notes(export))}

## Files

{_each("- ", _listed(export, files))}
"""
    return re.sub(r"\n{3,}", "\n\n", text)


def environment_example(export: Export) -> str:
    """Return .env.example: names without values, since any value may be a secret."""
    names = "".join(f"{name}=\n" for name in export.variables) or "# The app had none when it was exported.\n"
    return f"""\
# The app's variables. Copy this file to {export.target.variables}, fill it in, let only root read it.
# Their values are not here: any of them may be a secret.
{names}# The Host of health checks. The app accepted {export.host} here. If it accepts others there (ALLOWED_HOSTS),
# give one of those.
#{HOST}={export.host}
"""


def _each(start: str, lines: Iterable[str]) -> str:
    return "\n".join(f"{start}{line}" for line in lines)


def _commands(export: Export) -> Iterator[str]:
    target, user = export.target, export.target.user
    yield "# Packages, and a user that is nobody's account"
    yield f"apt-get update && apt-get install --yes {' '.join(export.packages.system(python=export.has_python))}"
    yield f"id {user} >/dev/null 2>&1 || useradd --system --home-dir {target.base} --shell /usr/sbin/nologin {user}"
    if export.has_python:
        yield from _python(export)
        yield "# The app's variables, secrets among them: only root reads the file"
        yield f"test -e {target.variables} || install --mode=600 {target.files}/.env.example {target.variables}"
        yield f"editor {target.variables}"
    own = [folder for process in export.processes for folder in process.folders]
    written = [folder for folder in own if folder.is_relative_to(target.files)]
    if folders := " ".join(dict.fromkeys(map(str, (*written, *export.written.values())))):
        yield "# What the app and its servers write to; add the folder of a SQLite database"
        yield f"install --directory --owner={user} --group={user} {folders}"
    yield from _managed(export)
    if any(process.log_files for process in export.processes):
        yield "# Logs are turned by the day"
        yield f"cp {target.files}/logrotate /etc/logrotate.d/{target.name}"
    yield "# Start it, now and with the machine"
    yield f"systemctl link {target.files}/systemd/* && systemctl enable --now {target.name}.target"


def _python(export: Export) -> Iterator[str]:
    packages = export.packages
    yield "# The Python environment"
    own = packages.embedded or _PYTHONS.get(export.distribution) == packages.minor
    if not own:
        # where the service can read it: not in root's home
        yield "python3 -m venv /opt/uv && /opt/uv/bin/pip install uv && \\"
        yield f"    {_UV} python install {packages.minor}"
    python = "python3 -m venv" if own else f"{_UV} venv --seed --python {packages.minor}"
    made, *installed = install_commands(export, python)
    yield f"{made} && \\"
    yield " && \\\n".join(f"    {each}" for each in installed)


def _managed(export: Export) -> Iterator[str]:
    if not export.has_python:
        return
    target = export.target
    optional = "" if export.variables else "-"
    run = (
        f"systemd-run --quiet --collect --wait --pipe --uid={target.user} --gid={target.user} "
        f"--working-directory={target.app} --property=EnvironmentFile={optional}{target.variables}"
    )
    if export.django is None:
        yield "# What the app needs before it starts, such as migrations, with its variables and as its user:"
        yield f"# {run} COMMAND"
        return
    yield "# The database's tables and the static files, with the app's variables and as its user"
    yield f"manage() {{ {run} \\"
    yield f'    {target.python} {export.manage} "$@" --settings={settings_module(export.app)}; }}'
    yield from (f"manage {task}" for task in _tasks(export.django))


def _tasks(django: DjangoFacts) -> tuple[str, ...]:
    return ("migrate --no-input", *(("collectstatic --no-input",) if django.collected else ()))


def _notes(export: Export) -> Iterator[str]:
    target, packages, front, user = export.target, export.packages, export.front, export.target.user
    if packages.debian:
        yield (
            f"Debian starts services of its own for some packages ({', '.join(packages.debian)}). Stop those that "
            "you do not use, by `systemctl disable --now` with their names."
        )
    yield from _web_files(export)
    if export.has_python:
        yield f"Whatever else the app writes (SQLite and its folder, say) must belong to `{user}` before it starts."
        yield f"The commands are for Debian {export.distribution}. The app's Python is {packages.python}."
    if target.base.is_relative_to("/home") or target.base.is_relative_to("/root"):
        yield (
            f"Home folders are closed to other users on many machines: `{user}` must be able to enter all "
            f"folders above `{target.base}` (`chmod o+x`)."
        )
    for place, folder in export.shared_folders.items():
        yield f"`{folder}` lies outside of the project; copy it to `{place}`."
    if any(entry.drops_requests_on_stop for entry in front.entries):
        yield (
            f"{front.title} cuts off the requests that it works on when it is stopped. A front end before "
            "it, which is stopped first, lets them end."
        )
    yield f"There is no TLS here, as in the race. Put a TLS proxy in front. {_believed(export)}"


def _web_files(export: Export) -> Iterator[str]:
    """Yield which server sends static files and uploads, and what to add if none does; a sentence or two each."""
    django, front, title = export.django, export.front, export.front.title
    served = {url: folder for url, folder in export.hosted.static.items() if front.uses(folder)}
    behind = export.stack.path if len(export.stack.processes) == 1 else str(export.stack.processes[-1][0].server)
    way_out = f"Put a front end that sends files before it: `stackrace export nginx/http/{behind} --to DIR`."
    for prefix, folder in served.items():
        yield f"{title} sends `{prefix}` from `{folder}`."
    prefixes = set(served)
    if django is not None:
        prefixes |= {django.static_url, django.media_url}
        if django.static_url and django.static_url not in served:
            yield _static(django, way_out)
        if django.media_url and django.media_url not in served:
            yield f"Nothing sends uploads (`{django.media_url}`, `{django.media_root}`). {way_out}"
    for prefix in export.app.static.keys() - prefixes:
        yield f"{title} does not send `{prefix}`, so the app must. {way_out}"


def _static(django: DjangoFacts, way_out: str) -> str:
    url = django.static_url
    if not url.startswith("/"):
        return f"Static files are asked for at `{url}`, which is another host's: put them there."
    if django.sends_static:
        return f"The app sends `{url}` itself, by WhiteNoise."
    if django.collected is None:
        return (
            f"Nothing sends `{url}`: the settings name no STATIC_ROOT. Name a folder and export again, or have the "
            "app send its files (WhiteNoise)."
        )
    return f"Nothing sends `{url}`. Have the app send its files (WhiteNoise). Or: {way_out}"


def _believed(export: Export) -> str:
    front = export.front
    alone = f"with a firewall or with `--listen 127.0.0.1:{export.target.port}`"
    if any(entry.passes_forwarded_headers for entry in front.entries) and front.site.upstream:
        return (
            f"{front.title} cannot tell that proxy from other clients and hands on what anybody says in "
            f"X-Forwarded-*: let nobody but the proxy reach its port, {alone}."
        )
    proxies = ", ".join(export.target.proxies)
    if any(front.site.forwards in entry.appends_to_forwarded_for for entry in front.entries):
        return (
            f"The scheme in X-Forwarded-Proto is trusted from {proxies} only; export with `--trusted-proxy` for "
            f"another. {front.title} keeps what anybody says in X-Forwarded-For and appends who connected: let the "
            f"app count from its end, or let nobody but the proxy reach its port, {alone}."
        )
    if front.site.file is not None and front.site.upstream:
        return (
            f"The scheme in X-Forwarded-Proto is trusted from {proxies} only; export with `--trusted-proxy` for "
            "another. What else X-Forwarded-* says goes on as your file for it says."
        )
    return f"X-Forwarded-* is trusted from {proxies} only; export with `--trusted-proxy` for another."


def _next_version(export: Export) -> Iterator[str]:
    target = export.target
    yield "# The new version over the old one: NEW holds the code alone, no database and no uploads"
    yield f"cp --recursive NEW/. {target.app}/"
    if not export.has_python:
        yield "# Plain files need no more"
        return
    _, *installed = install_commands(export, "")
    yield "# Its packages"
    yield from installed
    yield from _managed(export)
    hosts = [process for process in export.processes if not process.site.upstream]
    units = [process.unit for process in hosts]
    if _renews(hosts[0]):
        yield "# The new version takes over; requests go on"
        yield f"systemctl reload {' '.join(units)}"
    else:
        yield "# The new version takes over"
        yield from (f"systemctl restart {unit}" for unit in units)


def _renews(process: Process) -> bool:
    return process.recipe.reload is not None and process.recipe.reload.renews_app


def _next_notes(export: Export) -> Iterator[str]:
    host, target = export.processes[0], export.target
    if export.has_python and not _renews(host):
        yield _restarted(export, host)
    for process in {each.name: each for each in (host, export.front)}.values():
        reload = process.recipe.reload
        if reload and reload.loses:
            yield f"At its reload {process.title} {reload.loses}."
        if reload and reload.touches:
            yield (
                f"{process.title} cannot reload its own configuration without a loss: restart {process.unit} for "
                "that, at a quiet hour. Its reload takes a new version of the app only."
            )
    reloads = [each.unit for each in export.processes if each.recipe.reload and each.recipe.reload.by]
    if reloads:
        yield f"After a change of a server's own configuration: `systemctl reload {' '.join(reloads)}`."
    yield (
        f"After another export: copy it to `{target.files}`, then "
        f"`systemctl daemon-reload && systemctl restart {target.name}.target`."
    )


def _restarted(export: Export, host: Process) -> str:
    why = (
        f"{host.title} loads the app before it makes its workers, so a reload would keep the old version."
        if host.recipe.reload
        else f"{host.title} takes a new version only by a restart."
    )
    meanwhile = "Until it is up again, connections are refused."
    if sum(not process.site.upstream for process in export.processes) > 1:
        meanwhile = "The other copies answer meanwhile."
    elif export.front is not host:
        meanwhile = f"Until it is up again, {export.front.title} answers with an error."
    return f"{why} Requests that it works on end first, those that come later wait or fail. {meanwhile}"


def _docker_commands(export: Export) -> Iterator[str]:
    docker, variables = composed(export), export.target.variables.name
    if export.has_python:
        yield f"test -e {variables} || install --mode=600 {export.target.files.name}/.env.example {variables}"
        yield f"editor {variables}"
    yield f"{docker} build"
    if export.django is not None:
        run = f"{docker} run --rm {export.processes[0].name} {export.target.python} {export.manage}"
        for task in _tasks(export.django):
            yield f"{run} {task} --settings={shlex.quote(settings_module(export.app))}"
    yield f"{docker} up --detach"


def _docker_notes(export: Export) -> Iterator[str]:
    target = export.target
    if target.host == "127.0.0.1":
        yield (
            "The front listens on loopback, where nobody outside of a container reaches it: export with "
            "`--listen 0.0.0.0:8000`."
        )
    yield (
        "A container sees every client, and a TLS proxy, at an address of Docker's network: export with "
        "`--trusted-proxy` and the proxy's address there."
    )
    if export.has_python:
        volumes = " and ".join(f"`{folder}`" for folder in export.written.values())
        kept = f"{volumes} {'are volumes' if len(export.written) > 1 else 'is a volume'}. " if volumes else ""
        yield (
            f"{kept}All else of the app's folder is root's and read-only for the app. Whatever else it writes "
            "(SQLite, say) needs a volume that belongs to user 10001. A database in SQLite is not copied into the "
            "image."
        )
        yield (
            f"The health check asks for the host {export.host}, which the app accepted here. If it accepts "
            f"another there (ALLOWED_HOSTS), set {HOST} in `{target.variables.name}`."
        )
    if compiled := ", ".join(export.packages.compiled):
        yield f"{compiled} must be compiled, so the image installs a compiler and headers."


def _listed(export: Export, files: Sequence[str]) -> Iterator[str]:
    own = {f"{process.name}/": f"{process.title}'s own configuration" for process in export.processes}
    for name, about in {**own, **_FILES}.items():
        if any(path == name or (name.endswith("/") and path.startswith(name)) for path in files):
            yield f"`{name}`: {about}"
