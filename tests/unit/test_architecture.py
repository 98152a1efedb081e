"""The rooms of the house, and which may know which."""

import ast
from pathlib import Path

import pytest

import stackrace

PACKAGE = Path(stackrace.__file__).parent

FLOORS = [
    {"model"},
    {"codec"},
    {"stats", "spec", "servers", "services", "apps", "probe", "load", "checks"},
    {"deploy"},
    {"race", "doctor"},
    {"setup"},
    {"store", "report", "historic", "publish"},
    {"web", "api"},
    {"cli"},
]
"""From the ground up: a room imports only from floors below its own."""

SCRIPTS = {"apps/bundled", "apps/examiner"}
"""Run by the app's own interpreter, so not part of our import graph."""


SILENT = {"model", "stats", "probe", "load", "checks", "deploy", "race", "doctor", "setup", "api"}
"""Rooms that compute; what they have to say others show."""


def floor_of(room):
    return next(number for number, rooms in enumerate(FLOORS) if room in rooms)


def modules():
    for path in sorted(PACKAGE.rglob("*.py")):
        relative = path.relative_to(PACKAGE)
        if not any(relative.as_posix().startswith(script) for script in SCRIPTS):
            yield relative


def imported_rooms(relative):
    tree = ast.parse((PACKAGE / relative).read_text(encoding="utf-8"))
    depth = len(relative.parts)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [node.module or ""]
        elif isinstance(node, ast.ImportFrom):
            package = ["stackrace", *relative.parts[: depth - node.level]]
            base = ".".join([*package, *(node.module or "").split(".")]).rstrip(".")
            names = [base] if node.module else [f"{base}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            parts = name.split(".")
            if parts[0] == "stackrace" and len(parts) > 1 and (PACKAGE / parts[1]).is_dir():
                yield parts[1]


@pytest.mark.parametrize("relative", list(modules()), ids=str)
def test_imports_point_downwards_only(relative):
    if len(relative.parts) == 1:
        return
    room = relative.parts[0]
    for imported in imported_rooms(relative):
        assert imported == room or floor_of(imported) < floor_of(room), f"{room} imports {imported}"


def importers_of(*packages):
    for relative in modules():
        tree = ast.parse((PACKAGE / relative).read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                names = [node.module or ""]
            if any(name.split(".")[0] in packages for name in names):
                yield relative.parts[0]


@pytest.mark.parametrize(
    ("packages", "rooms"),
    [
        (("numpy", "scipy"), {"stats"}),
        (("pydantic", "pydantic_core"), {"codec", "spec", "historic"}),
        (("django",), {"store", "web"}),
        (("click",), {"cli"}),
        (("rich",), {"report", "cli"}),
    ],
)
def test_each_heavy_library_has_its_room(packages, rooms):
    assert set(importers_of(*packages)) <= rooms


def test_only_the_load_room_knows_the_engine():
    users = {
        relative.parts[0] for relative in modules() if "_engine" in (PACKAGE / relative).read_text(encoding="utf-8")
    }
    assert users <= {"load"}


def test_a_race_prints_nothing():
    for relative in modules():
        if relative.parts[0] in {
            "race",
            "deploy",
            "load",
            "stats",
            "checks",
            "probe",
            "model",
            "doctor",
            "setup",
            "api",
        }:
            tree = ast.parse((PACKAGE / relative).read_text(encoding="utf-8"))
            calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
            assert not [call for call in calls if isinstance(call, ast.Name) and call.id == "print"], relative
