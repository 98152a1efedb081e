"""What an export writes and says is as it was."""

from __future__ import annotations

import pytest
from tests.frozen import product
from tests.frozen.golden import as_document, assert_golden


def written(folder):
    """Return all files of a folder in one text."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return "".join(f"==> {path.relative_to(folder)}\n{path.read_text(encoding='utf-8')}\n" for path in files)


@pytest.mark.parametrize("stack", ["gunicorn:workers=4", "apache+mod_wsgi:mode=daemon,processes=4,threads=1"])
def test_a_stack_that_nobody_measured_is_exported_as_it_was(stack, tmp_path):
    folder = tmp_path / "deploy"
    said = product.export(stack, None, None, folder)
    places = {str(folder): "FOLDER"}
    assert_golden(f"export-{stack.split(':')[0]}/screen.txt", said.out + said.end, places)
    assert_golden(f"export-{stack.split(':')[0]}/files.txt.gz", written(folder), places)


@pytest.mark.parametrize("proof", product.recorded("proof-"))
def test_a_race_speaks_for_its_export_as_it_did(proof, tmp_path):
    race, folder = product.race("race-several"), tmp_path / "deploy"
    said = product.export(race.stacks[0], race, proof, folder, "--prove")
    document = product.export(race.stacks[0], race, proof, folder, "--prove", "--json", "--force")
    places = {str(folder): "FOLDER"}
    assert_golden(f"export-{proof}/screen.txt", said.out + said.end, places)
    assert_golden(f"export-{proof}/document.json", as_document(document.out) + document.end, places)
    assert_golden(f"export-{proof}/evidence.md.gz", (folder / "EVIDENCE.md").read_text(encoding="utf-8"), places)
