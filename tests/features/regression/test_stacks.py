"""The stack that both sides of a check are raced on."""

import sys
from pathlib import Path

import pytest

from stackrace.app.app import Entry, EntryKind
from stackrace.base.errors import InputError
from stackrace.features.regression import interpreters
from stackrace.features.regression.interpreters import _version_of, on_stacks
from stackrace.features.regression.model import Contender
from stackrace.features.regression.variants import Variant, Variants
from stackrace.race.preparation.chosen_app import guarded_project
from stackrace.race.request.request import RaceRequest
from stackrace.stacks.stack import Side

ENTRY = Entry(kind=EntryKind.ASGI, target="shop:app")


@pytest.fixture
def trees(tmp_path, monkeypatch):
    monkeypatch.setattr(interpreters, "_version_of", lambda request, project: sys.version_info[:2])
    folders = {Side.BASE: tmp_path / "base", Side.HEAD: tmp_path / "head"}
    for folder in folders.values():
        folder.mkdir()
        (folder / "shop.py").write_text("")
    return folders


def raced(trees, **own):
    """Return the path of each side's stack, and the notes; ``own`` are the stacks that were given."""
    sides = {
        side: Variant(
            request=RaceRequest(folder=folder, entry=ENTRY, stacks=own.get(str(side))),
            contender=Contender(label=""),
        )
        for side, folder in trees.items()
    }
    both = on_stacks(Variants(sides=sides, moved=(trees[Side.HEAD], trees[Side.BASE])), None)
    return *(both.sides[side].request.stacks[0] for side in (Side.BASE, Side.HEAD)), both.notes


def test_a_server_that_a_change_brings_is_both_sides_server(trees):
    (trees[Side.HEAD] / "Procfile").write_text("web: uvicorn shop:app\n")
    base, head, notes = raced(trees)
    assert base == head and base.startswith("uvicorn:")
    assert notes == ()


def test_settings_that_a_change_brings_are_the_heads_alone(trees):
    (trees[Side.BASE] / "Procfile").write_text("web: uvicorn --timeout-keep-alive 9 shop:app\n")
    (trees[Side.HEAD] / "Procfile").write_text("web: uvicorn --timeout-keep-alive 8 shop:app\n")
    base, head, notes = raced(trees)
    assert "keep_alive=9" in base and "keep_alive=8" in head
    assert notes == ()


def test_another_server_of_the_bases_is_said_and_not_raced(trees):
    (trees[Side.BASE] / "Procfile").write_text("web: hypercorn shop:app\n")
    (trees[Side.HEAD] / "Procfile").write_text("web: uvicorn shop:app\n")
    base, head, (note,) = raced(trees)
    assert base == head and base.startswith("uvicorn:")
    assert "hypercorn" in note and "--base-stack and --head-stack" in note


def test_a_configuration_file_that_the_base_lacks_is_left_out_and_said(trees):
    (trees[Side.HEAD] / "gunicorn.conf.py").write_text("workers = 3\n")
    (trees[Side.HEAD] / "Procfile").write_text(
        "web: gunicorn -c gunicorn.conf.py -k uvicorn.workers.UvicornWorker shop:app\n"
    )
    base, head, (note,) = raced(trees)
    assert "config=gunicorn.conf.py" in head
    assert base.startswith("gunicorn") and "config" not in base
    assert note.startswith("The base lacks gunicorn.conf.py")


def test_what_is_given_wins(trees):
    (trees[Side.HEAD] / "Procfile").write_text("web: uvicorn shop:app\n")
    both = {"base": ("daphne",), "head": ("daphne",)}
    assert raced(trees, **both) == ("daphne", "daphne", ())
    base, head, _ = raced(trees, head=("daphne",))
    assert base.startswith("uvicorn:") and head == "daphne"
    with pytest.raises(InputError, match="one stack"):
        raced(trees, base=("daphne", "uvicorn"))


def test_the_version_is_that_of_the_interpreter_that_is_given(tmp_path):
    (tmp_path / "shop.py").write_text("")
    request = RaceRequest(folder=tmp_path, entry=ENTRY, python=Path(sys.executable))
    with guarded_project(request) as project:
        assert _version_of(request, project) == sys.version_info[:2]
        files = Entry(kind=EntryKind.FILES, target="public")
        assert _version_of(RaceRequest(folder=tmp_path, entry=files), project) is None
