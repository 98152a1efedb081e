"""The rooms of the house, and which may know which."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

import stackrace
from stackrace.stacks.servers import catalogue

PACKAGE = Path(stackrace.__file__).parent

REPOSITORY = Path(__file__).parents[2]

FLOORS = [
    {"base"},
    {"stats", "stacks"},
    {"measure"},
    {"app"},
    {"validity"},
    {"deploy"},
    {"race"},
    {"report"},
    {"store"},
    {"api"},
    {"cli"},
]
"""From the ground up: a room of the core imports only from floors below its own. Features stand above."""

FEATURES = sorted(path.name for path in (PACKAGE / "features").iterdir() if (path / "__init__.py").is_file())

SCRIPTS = {"app/bundled", "app/examiner", "features/comparisons/bundled"}
"""Run by the app's own interpreter, so not part of our import graph."""


SILENT = {"stats", "measure", "validity", "deploy", "race", "api"}
"""Rooms that compute; what they have to say others show."""


def floor_of(room):
    return next(number for number, rooms in enumerate(FLOORS) if room in rooms)


def room_of(parts):
    """Return the room of a module, by the parts of its path: a feature is one of its own."""
    return "/".join(parts[: 2 if parts[0] == "features" else 1])


def modules():
    for path in sorted(PACKAGE.rglob("*.py")):
        relative = path.relative_to(PACKAGE)
        if not any(relative.as_posix().startswith(script) for script in SCRIPTS):
            yield relative


@cache
def nodes(path):
    return tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


@cache
def imports(path):
    """Return the dotted names that a file imports, at its top or in a function, each as far as it is written."""
    inside = ["stackrace", *path.relative_to(PACKAGE).parts] if path.is_relative_to(PACKAGE) else []
    names = []
    for node in nodes(path):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = [*(inside[: len(inside) - node.level] if node.level else ()), *filter(None, [node.module])]
            names += [".".join([*base, alias.name]) for alias in node.names]
    return tuple(names)


def imported_rooms(relative):
    dotted = [name.split(".")[1:] for name in imports(PACKAGE / relative) if name.startswith("stackrace.")]
    return {room_of(parts) for parts in dotted if (PACKAGE / room_of(parts)).is_dir()}


def test_imports_point_downwards_only():
    upwards = [
        f"{relative} imports {imported}"
        for relative in modules()
        if len(relative.parts) > 1 and relative.parts[0] != "features"
        for imported in imported_rooms(relative) - {relative.parts[0], "features"}
        if not imported.startswith("features/") and floor_of(imported) >= floor_of(relative.parts[0])
    ]
    assert not upwards


def test_nobody_knows_a_feature():
    """Neither the core, nor another feature."""
    known = [
        f"{relative} {imported.removeprefix('features/')}"
        for relative in modules()
        for imported in imported_rooms(relative) - {room_of(relative.parts), "features"}
        if imported.startswith("features/")
    ]
    assert not known


def name_of(path):
    parts = ("stackrace", *path.relative_to(PACKAGE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


NAMES = {name_of(path): path for path in PACKAGE.rglob("*.py")}


FOR_TYPES = {"stackrace"}
"""Its imports for types alone lead upwards: to the names of the package."""


def imports_of(name):
    """Yield the modules of ours that ``name`` imports: at its top, in a function, for types only."""
    path = NAMES[name]
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for_types = {
        inner
        for node in nodes(path)
        if name in FOR_TYPES and isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in nodes(path):
        if node in for_types:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in NAMES)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            target = ".".join([*above, *filter(None, [node.module])])
            for alias in node.names:
                whole = f"{target}.{alias.name}"
                yield from [module for module in (whole, target) if module in NAMES][:1]


@pytest.mark.parametrize(
    ("packages", "rooms"),
    [
        (
            ("numpy", "scipy"),
            {"stats", *(f"features/{name}" for name in ("capacity", "comparisons", "regression", "trend", "tune"))},
        ),
        (
            ("pydantic", "pydantic_core"),
            {
                "base",
                "race",
                "stacks",
                *(f"features/{name}" for name in ("cluster", "comparisons", "current", "tune")),
            },
        ),
        (("django",), {"store", "features/web"}),
        (("rich",), {"report", "cli", *(f"features/{name}" for name in FEATURES)}),
        (("click",), {"cli", *(f"features/{name}" for name in FEATURES)}),
        (("dask", "distributed"), {"features/cluster"}),
    ],
)
def test_each_heavy_library_has_its_room(packages, rooms):
    importers = {
        room_of(relative.parts)
        for relative in modules()
        if any(name.split(".")[0] in packages for name in imports(PACKAGE / relative))
    }
    assert importers <= rooms


def test_nobody_imports_the_command_line():
    """Inside of the package no room can: all others lie below."""
    outside = [path for folder in ("benchmarks", "examples") for path in (REPOSITORY / folder).rglob("*.py")]
    assert outside
    assert not [path for path in outside if any(name.startswith("stackrace.cli") for name in imports(path))]


def test_of_the_modules_at_the_top_only_the_entry_point_knows_the_command_line():
    tops = [path.stem for path in PACKAGE.glob("*.py") if {"cli"} & set(imported_rooms(path.relative_to(PACKAGE)))]
    assert tops == ["__main__"]
    assert not [module for module, _ in stackrace._HOMES.values() if module.startswith("cli")]


def test_no_modules_import_each_other_in_a_circle():
    graph = {name: set(imports_of(name)) - {name} for name in NAMES}
    while leaves := {name for name, imported in graph.items() if not imported & graph.keys()}:
        graph = {name: imported for name, imported in graph.items() if name not in leaves}
    while roots := graph.keys() - set().union(*graph.values()):
        graph = {name: imported for name, imported in graph.items() if name not in roots}
    assert not graph, "these import each other: " + ", ".join(sorted(graph))


NAMELESS = ("validity/**", "deploy/**", "race", "race/results", "race/request", "stacks")
"""Folders that receive servers: what is particular to one of them stands in its own folder."""

EXAMPLES = {"native_options.py", "setting.py", "stack.py"}
"""Modules that list protocols, or show stacks in docstrings."""

NAMES_OF_SERVERS = {word.lower() for entry in catalogue() for word in (entry.spec.name, entry.spec.title)}


@pytest.mark.parametrize("room", NAMELESS)
def test_no_server_is_named_where_servers_are_received(room):
    """Neither in code, nor in strings, comments or docstrings; a unit is also what a figure is counted in."""
    names = "|".join(map(re.escape, NAMES_OF_SERVERS - {"unit"}))
    named = re.compile(rf"\b({names})\b|[\"'`]unit\b", re.IGNORECASE)
    paths = [path for path in PACKAGE.glob(f"{room}/*.py") if path.name not in EXAMPLES]
    texts = {path.name: path.read_text(encoding="utf-8") for path in paths}
    assert texts
    assert not [f"{name}: {hit[0]}" for name, text in texts.items() for hit in named.finditer(text)]


READERS = ("api", "app", "measure/engine", "stacks", "race")
READERS += ("features/current", "features/export", "features/init", "features/recordings", "features/regression")
"""Rooms that read files of users and their projects, which may be anything, and of any size."""

READ_THEIR_OWN = {
    "app/bundle.py",
    "features/current/observe.py",  # /proc, on machines that have nothing of ours
    "race/preparation/installing.py",
    "race/preparation/leftovers.py",
}
"""Modules that read what we brought or wrote."""


def reads_anything(call):
    """Tell whether a call reads a file otherwise than by ``model.files``; constants name files of ours."""
    match call.func:
        case ast.Name("open"):
            return True
        case ast.Attribute(place, "read_text" | "read_bytes" | "open"):
            mode = ast.unparse(call.args[0]) if call.func.attr == "open" and call.args else "'r'"
            is_ours = isinstance(place, ast.Name) and (place.id.isupper() or place.id == "files")
            return mode in ("'r'", "'rb'", "'rt'") and not is_ours and "__file__" not in ast.unparse(place)
    return False


@pytest.mark.parametrize("room", READERS)
def test_files_of_users_are_read_in_one_way(room):
    names = {path.relative_to(PACKAGE).as_posix() for path in (PACKAGE / room).rglob("*.py")} - READ_THEIR_OWN
    names -= {name for name in names if name.startswith(tuple(SCRIPTS))}
    calls = [(name, node) for name in names for node in nodes(PACKAGE / name) if isinstance(node, ast.Call)]
    assert not [f"{name}, line {call.lineno}: {ast.unparse(call)}" for name, call in calls if reads_anything(call)]


def test_git_is_never_run():
    """Repositories are read by libgit2, which runs nothing that their settings name."""
    lists = [(each, node) for each in modules() for node in nodes(PACKAGE / each)]
    assert not [
        each.as_posix()
        for each, node in lists
        if isinstance(node, ast.List | ast.Tuple) and [ast.unparse(first) for first in node.elts[:1]] == ["'git'"]
    ]


def test_only_the_engines_folder_knows_the_engine():
    named = re.compile(r"\b_engine\b")
    users = {
        each.parent.as_posix() for each in modules() if named.search((PACKAGE / each).read_text(encoding="utf-8"))
    }
    assert users <= {"measure/engine", "features/recordings"}


def test_rooms_that_compute_print_nothing():
    for relative in modules():
        if relative.parts[0] in SILENT:
            calls = [node.func for node in nodes(PACKAGE / relative) if isinstance(node, ast.Call)]
            assert not [call for call in calls if isinstance(call, ast.Name) and call.id == "print"], relative
