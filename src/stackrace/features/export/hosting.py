"""The app as its host sees it on the machine where it is deployed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from ...app.app import App
from ...app.entry import deployed_source
from ...base.errors import InputError
from ...stacks.servers import Catalogue, Hosted, PythonRuntime
from ...stacks.stack import Interface, Stack
from .target import Target

__all__ = ["DeployedApp", "deployed_app", "placed"]


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
    minor: tuple[int, int] | None,
    proxied: bool,
    versions: Mapping[str, str] = MappingProxyType({}),
    lasting: Collection[Path] = (),
) -> DeployedApp:
    """Return ``app`` as the last hop of ``stack`` sees it on ``target``; ``minor`` is its Python's version.

    ``versions`` are those of the packages in its environment, by name.
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
    if minor is None:
        return DeployedApp(hosted=hosted, files={}, beside=beside)
    entry = target.entry(stack.interface)
    runtime = PythonRuntime(
        module=entry.stem,
        entry=entry,
        python=target.python,
        home=target.venv,
        python_path=(entry.parent, target.app),
        site_packages=(target.venv / "lib" / f"python{minor[0]}.{minor[1]}" / "site-packages",),
        versions=versions,
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
