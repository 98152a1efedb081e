"""README.md: what lies in the exported folder, and how it is deployed by hand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

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


def readme(export: Export, files: Sequence[str]) -> str:
    """Return the text; ``files`` are the others, by path below the folder."""
    target = export.target
    text = f"""\
# {target.name} on {export.stack}

Made by {export.source}. [EVIDENCE.md](EVIDENCE.md) says why this stack.

## Deploy by hand

The files expect the project in `{target.app}` and this folder in `{target.files}`. Copy both there. Then, as root:

{_block(_commands(export))}

It answers at {target.asked_at} for the host {export.health.host}. If it does not, these say why:
`journalctl --unit '{target.name}-*'` and the logs below `/var/log/{target.name}`.
`systemctl stop {target.name}.target` lets requests end and stops it.

{_items(_notes(export))}

## Deploy with Docker

The build's context is the folder that holds `app` and `deploy`. There:

    docker compose --file deploy/compose.yaml up --build --detach
{_loopback(export)}
## Files

{_items(_listed(export, files))}
"""
    return text.replace("\n\n\n", "\n\n")


def environment_example(export: Export) -> str:
    """Return .env.example: names without values, since any of them may be a secret."""
    names = "".join(f"{name}=\n" for name in export.variables)
    what = (
        f"# The app's variables. Copy this file to {export.target.variables}, fill it in, let only root read it.\n"
        "# Their values in the race are not here: any of them may be a secret.\n"
    )
    return what + (names or "# The app was measured without any.\n")


def _loopback(export: Export) -> str:
    if export.target.host in ("127.0.0.1", "localhost"):
        return (
            "\nThe front listens on loopback, where nobody outside of a container reaches it: export with "
            "`--listen 0.0.0.0:8000`.\n"
        )
    return ""


def _block(lines: Iterable[str]) -> str:
    return "\n".join(f"    {line}" for line in lines)


def _items(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _commands(export: Export) -> Iterator[str]:
    """Yield the three commands, long ones on several lines."""
    target, packages = export.target, export.packages
    python = f"python{packages.minor}"
    system = [*packages.debian]
    if export.has_python:
        system += ["python3", "python3-venv"] if packages.embedded else [python, f"{python}-venv"]
    else:
        system += ["curl"]
    yield f"apt-get install --yes {' '.join(system)} && \\"
    yield f"    useradd --system --home-dir {target.base} --shell /usr/sbin/nologin {target.user}"
    if export.has_python:
        made, installed = install_commands(export, python)
        yield f"{made} && \\"
        yield f"    {installed}"
    yield f"systemctl link {target.files}/systemd/* && systemctl enable --now {target.name}.target"


def _notes(export: Export) -> Iterator[str]:
    target, packages = export.target, export.packages
    python = f"python{packages.minor}"
    if export.variables:
        yield (
            f"`{target.variables}` must hold the app's variables before it starts; `.env.example` has their names. "
            f"Let only root read it: `chmod 600 {target.variables}`."
        )
    if packages.debian:
        yield (
            f"Debian starts services of its own for some packages ({', '.join(packages.debian)}). Stop those that "
            "you do not use: `systemctl disable --now nginx`, say."
        )
    if export.has_python:
        yield (
            f"What the app writes (uploads, SQLite and its folder) must belong to `{target.user}`; nothing else "
            "needs to."
        )
        if export.app.static:
            folders = ", ".join(f"`{folder}`" for folder in export.deployed.hosted.static.values())
            yield f"The front end sends the files in {folders}: collect them first, as your project does."
        yield (
            f"It was measured with Python {packages.python}. Where your system has no {python}, uv brings one: "
            f"`UV_PYTHON_INSTALL_DIR=/opt/python uv python install {packages.minor}`. In root's home the service "
            "could not read it."
        )
    for process in export.processes:
        for folder in process.folders:
            if folder.is_relative_to(target.files):
                yield f"`{folder}` must be made, and belong to `{target.user}`: {process.title} writes to it."
    for place, folder in export.deployed.beside.items():
        yield f"`{folder}` lies outside of the project; copy it to `{place}`."
    if any(entry.cuts for entry in export.front.entries):
        yield (
            f"{export.front.title} cuts off the requests that it works on when it is stopped. A front end before "
            "it, which is stopped first, lets them end."
        )
    believed = ", ".join(target.proxies) or "nobody"
    yield (
        f"There is no TLS here, as in the race. Put a TLS proxy in front. {believed} may say X-Forwarded-*; export "
        "with `--trusted-proxy` for another."
    )
    if any(process.log_files for process in export.processes):
        yield f"Copy `logrotate` to `/etc/logrotate.d/{target.name}`."


def _listed(export: Export, files: Sequence[str]) -> Iterator[str]:
    own = {f"{process.name}/": f"{process.title}'s own configuration" for process in export.processes}
    for name, about in {**own, **_FILES}.items():
        if any(path == name or (name.endswith("/") and path.startswith(name)) for path in files):
            yield f"`{name}`: {about}"
