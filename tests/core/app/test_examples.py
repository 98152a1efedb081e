from pathlib import Path

import pytest

from stackrace.app.app import EntryKind, entry_of
from stackrace.app.bundle import bundled
from stackrace.app.projects.detection import detect
from stackrace.race.request.race_file import read_race_file
from stackrace.stacks.servers import catalogue
from stackrace.stacks.stack_path import parse_stack

EXAMPLES = Path(__file__).parents[3] / "examples"
RACE_FILES = sorted(EXAMPLES.glob("*/race.toml"))


@pytest.mark.parametrize("path", RACE_FILES, ids=lambda path: path.parent.name)
def test_every_race_file_is_right_to_the_last_stack(path):
    request = read_race_file(path, lambda stack: None)
    entry = bundled(request.bundled).entry if request.bundled else request.entry
    assert entry == entry_of(entry.kind, entry.target)
    specs = catalogue().extended(request.servers).specs
    for stack in request.stacks:
        parse_stack(stack, specs, entry.interfaces)


def test_the_rack_example_is_found_without_its_race_file():
    project = detect(EXAMPLES / "rack_hello", {})
    assert (project.root.name, project.entry) == ("rack_hello", entry_of(EntryKind.RACK, "config.ru"))


def test_the_bookshop_is_found_without_its_race_file():
    project = detect(EXAMPLES / "bookshop", {})
    assert project.entry == entry_of(EntryKind.DJANGO, "bookshop.settings")


def test_the_bookshop_shares_nothing_with_the_bundled_app():
    ours = {folder.name for folder in bundled().root.iterdir() if folder.is_dir()}
    assert not ours & {folder.name for folder in (EXAMPLES / "bookshop").iterdir() if folder.is_dir()}
