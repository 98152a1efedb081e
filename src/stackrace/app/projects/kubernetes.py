"""Read the commands that Kubernetes pods start, with the ConfigMaps of the project.

Source: Kubernetes' reference of ``PodSpec``: ``command`` replaces an image's ENTRYPOINT, ``args`` its CMD,
and ``$(NAME)`` in either is a variable.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...stacks.native_files import Omission, Weight
from ..project_files import Table, deployment_folders, line_of, listed, loaded_all, table_in
from .deployment_command import LIMITED, OPEN, DeploymentCommand, instances_of, text_of
from .images import assumed_image, container_commands

_KINDS = frozenset({"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Pod"})
_MENTIONED = re.compile(
    r"^[ \t]*(?:-[ \t]*)?kind:[ \t]*[\"']?(Deployment|StatefulSet|DaemonSet|ReplicaSet|Pod|ConfigMap|List)\b", re.M
)
_TEMPLATED = "{{"
_VARIABLE = re.compile(r"\$(\$|\(([A-Za-z_][\w.-]*)\))")
_SECRET = "it stands in a secret, which is not read"


def is_manifest(path: Path) -> bool:
    """Tell whether a file describes Kubernetes objects."""
    return path.suffix in (".yml", ".yaml") and bool(re.search(r"^apiVersion:", text_of(path), re.MULTILINE))


def manifests(root: Path, least: re.Pattern[str] = _MENTIONED) -> Iterator[tuple[Path, str]]:
    """Yield the project's YAML files that match ``least`` (default: Kubernetes objects), with their text."""
    for folder, _, names in deployment_folders(root):
        for path in (folder / name for name in names if name.endswith((".yml", ".yaml"))):
            if least.search(text := text_of(path)):
                yield path, text


def templates(root: Path) -> Iterator[tuple[Path, re.Match[str]]]:
    """Yield the Helm templates of objects that start containers, each with the match of its kind."""
    for path, text in manifests(root):
        kind = _MENTIONED.search(text)
        if _TEMPLATED in text and kind and kind[1] in _KINDS:
            yield path, kind


def kubernetes_commands(files: Sequence[Path], root: Path) -> Iterator[DeploymentCommand]:
    """Yield the commands of containers in ``files``, or in all files if empty; templates are left out."""
    known = [(path, each) for path, text in manifests(root) for each in _objects(text)]
    maps = {
        _name(each): data
        for _, each in known
        if each.get("kind") == "ConfigMap" and isinstance(data := each.get("data"), Table)
    }
    for path, each in known:
        if str(each.get("kind")) in _KINDS and (not files or path in files):
            for container in _containers(each):
                yield from _of_container(path, each, container, maps, root)


def _objects(text: str) -> Iterator[Table]:
    try:
        documents = [] if _TEMPLATED in text else loaded_all(text)
    except (ValueError, RecursionError):
        return
    for document in documents:
        items = table_in(document).get("items")
        yield from (each for each in (items if isinstance(items, list) else [document]) if isinstance(each, Table))


def _name(node: Mapping[Any, Any]) -> str:
    return str(table_in(node, "metadata").get("name", ""))


def _containers(node: Table) -> list[Table]:
    match node.get("spec"):
        case {"template": {"spec": {"containers": list(found)}}} | {"containers": list(found)}:
            # a container without an image is a patch of another file's container
            return [each for each in found if isinstance(each, Table) and each.get("image")]
    return []


def _of_container(
    path: Path, node: Table, container: Table, maps: Mapping[str, Table], root: Path
) -> Iterator[DeploymentCommand]:
    environment, omissions = _environment(path, container, maps)
    entrypoint, words = (_words(container.get(key), environment) for key in ("command", "args"))
    line = next((container.lines[key] for key in ("command", "args") if key in container.lines), 0)
    limits = table_in(container, "resources", "limits")
    held = [
        Omission(file=path, line=line_of(limits, key), what=f"{key}: {value}", why=LIMITED)
        for key, value in limits.items()
    ]
    at = path, container.lines.get("image", 0)
    name, has_words = str(container.get("name", "")), bool(entrypoint or words)
    image = assumed_image(str(container["image"]), name, root, at, path.parent, has_words=has_words)
    command = DeploymentCommand(
        file=path,
        line=line,
        environment=environment,
        folder=str(container.get("workingDir") or image.folder),
        service=f"{_name(node)} {container.get('name', '')}",
        instances=instances_of(node["spec"].get("replicas")),
        document=path,
        documents=(path,),
        omissions=(*omissions, *held),
    )
    yield from container_commands(command, image, entrypoint, words)


def _environment(path: Path, container: Table, maps: Mapping[str, Table]) -> tuple[dict[str, str], list[Omission]]:
    known: dict[str, str] = {}
    omissions: list[Omission] = []

    def omit(node: Table, what: str, why: str, weight: Weight = Weight.VARIABLES) -> None:
        line = min(node.lines.values(), default=0)
        omissions.append(Omission(file=path, line=line, what=what, why=why, weight=weight))

    for each in (*listed(container.get("envFrom")), *listed(container.get("env"))):
        match each:
            case {"configMapRef": {"name": name}} if str(name) in maps:
                known |= {f"{each.get('prefix') or ''}{key}": str(value) for key, value in maps[str(name)].items()}
            case {"configMapRef": {"name": name}}:
                omit(each, f"configMapRef {name}", "there is no such ConfigMap in the project")
            case {"secretRef": {"name": name}}:
                omit(each, f"secretRef {name}", _SECRET)
            case {"name": variable, "value": value}:
                known[str(variable)] = _put_in(str(value), known)
            case {"name": variable, "valueFrom": {"configMapKeyRef": {"name": name, "key": key}}} if str(
                key
            ) in maps.get(str(name), ()):
                known[str(variable)] = str(maps[str(name)][str(key)])
            case {"name": variable, "valueFrom": Table() as source}:
                known[str(variable)] = OPEN
                why = _SECRET if "secretKeyRef" in source else "the project does not say it"
                omit(each, str(variable), why, Weight.PLAIN)
            case {"name": variable}:
                known.pop(str(variable), None)
    return known, omissions


def _put_in(text: str, known: Mapping[str, str]) -> str:
    return _VARIABLE.sub(lambda found: "$" if found[1] == "$" else known.get(found[2], found[0]), text)


def _words(value: object, known: Mapping[str, str]) -> tuple[str, ...] | None:
    return tuple(_put_in(str(word), known) for word in value) if isinstance(value, list) else None
