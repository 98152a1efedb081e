"""README.md: what lies in the exported folder, and how it is deployed by hand."""

from __future__ import annotations

from collections.abc import Iterator

from .docker import install_commands
from .wanted import Export

__all__ = ["environment_example", "readme"]

_FILES = {
    "systemd/": "a service for each process, a target for all of them, a slice for what they may use",
    "Dockerfile": "one image for all processes",
    "compose.yaml": "the same processes as services",
    "Procfile": "the same commands by name, for honcho and its kin",
    "logrotate": "logs turned by the day",
    "requirements.txt": "the servers' PyPI packages in the versions that were measured",
    "requirements-app.txt": "all that the app's environment had: the project does not say what it needs",
    "constraints.txt": "every version that was measured",
    "packages.txt": "Debian's packages in the versions that were measured",
    "entry/": "the module that binds the app for its server",
    "health.py": "asks for a page and says whether it is right",
    ".env.example": "the names of the app's variables",
    "EVIDENCE.md": "why this stack: what was measured, and how far it can be believed",
}


def readme(export: Export, files: list[str]) -> str:
    """Return the text; ``files`` are the others, by path below the folder."""
    return "\n".join(_lines(export, files)) + "\n"


def environment_example(export: Export) -> str:
    """Return .env.example: names without values, since any of them may be a secret."""
    names = "".join(f"{name}=\n" for name in export.variables)
    what = (
        f"# The app's variables. Copy this file to {export.target.variables}, fill it in, and let only root and\n"
        "# the service read it. Their values in the race are not here: any of them may be a secret.\n"
    )
    return what + (names or "# The app was measured without any.\n")


def _lines(export: Export, files: list[str]) -> Iterator[str]:
    target = export.target
    yield f"# {target.name} on {export.stack}"
    yield ""
    yield f"Made by {export.source}. [EVIDENCE.md](EVIDENCE.md) says why this stack."
    yield ""
    yield "## Deploy by hand"
    yield ""
    yield f"The files expect the project in `{target.app}` and this folder in `{target.files}`. Copy both there, as root:"
    yield ""
    yield from _commands(export)
    yield ""
    yield f"It answers at {export.target.asked_at} for the host {export.health.host}; `journalctl --unit '{target.name}-*'` shows why if"
    yield f"it does not. `systemctl stop {target.name}.target` lets requests end and stops it."
    yield ""
    yield from _notes(export)
    yield ""
    yield "## Deploy with Docker"
    yield ""
    yield f"The folder that holds `app` and `deploy` is the build's context:"
    yield ""
    yield f"    docker compose --file deploy/compose.yaml up --build --detach"
    yield ""
    yield "## Files"
    yield ""
    own = {f"{process.name}/": f"{process.title}'s own configuration" for process in export.processes}
    for name, about in {**own, **_FILES}.items():
        if any(path == name or (name.endswith("/") and path.startswith(name)) for path in files):
            yield f"- `{name}`: {about}"


def _commands(export: Export) -> Iterator[str]:
    target, packages = export.target, export.packages
    python = f"python{packages.minor}"
    system = [*packages.debian]
    if export.has_python:
        system += ["python3", "python3-venv"] if packages.embedded else [f"{python}", f"{python}-venv"]
    else:
        system += ["curl"]
    yield f"    apt-get install --yes {' '.join(system)}; useradd --system --home-dir {target.base} --shell /usr/sbin/nologin {target.user}"
    if export.has_python:
        made, installed = install_commands(export, python)
        yield f"    {made} && {installed}"
    services = f"{target.files}/systemd"
    yield f"    systemctl link {services}/* && systemctl enable --now {target.name}.target"


def _notes(export: Export) -> Iterator[str]:
    target, packages = export.target, export.packages
    yield "Then look at these:"
    yield ""
    if export.variables:
        yield f"- `{target.variables}` must hold the app's variables before it starts: see `.env.example`."
    if packages.debian:
        names = ", ".join(packages.debian)
        yield f"- Debian starts its own service of some packages ({names}): `systemctl disable --now` it if you do not use it."
    if export.has_python:
        yield f"- What the app writes (uploads, SQLite) must belong to `{target.user}`; nothing else needs to."
        if export.app.static:
            yield "- Collect the static files first, as your project does (`manage.py collectstatic`)."
    for place, folder in export.deployed.beside.items():
        yield f"- `{folder}` lies outside of the project; copy it to `{place}`."
    yield (
        f"- There is no TLS here, as in the race. Put it in front, and name who says X-Forwarded-* with "
        f"--trusted-proxy; now that is {', '.join(target.proxies) or 'nobody'}."
    )
    yield f"- Copy `logrotate` to `/etc/logrotate.d/{target.name}`."
