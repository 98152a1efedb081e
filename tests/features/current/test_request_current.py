"""What flags and race files ask of the current stack."""

import json

import pytest

from stackrace.api.resuming import request_document, request_from
from stackrace.base.errors import InputError, SpecError
from stackrace.cli.request_flags import RequestFlags
from stackrace.features.current.current_options import CurrentRequest
from stackrace.race.request.race_file import read_race_file
from stackrace.race.request.request import RaceRequest


def read(folder, text):
    (folder / "race.toml").write_text(f"[race]\n{text}")
    return read_race_file(folder / "race.toml", lambda stack: None)


def sought(request):
    part = request.parts.get(CurrentRequest)
    return None if part is None else part.current


def test_a_file_is_named_below_the_race_files_folder_or_the_working_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "races").mkdir()
    asked = read(tmp_path / "races", 'current = "deploy/compose.yml"')
    assert sought(asked) == tmp_path / "races" / "deploy" / "compose.yml"
    assert sought(RequestFlags({"current": tmp_path / "Procfile"}).over(asked)) == tmp_path / "Procfile"
    assert sought(RequestFlags({"no_current": True}).over(asked)) is False
    assert request_from(json.loads(json.dumps(request_document(asked)))) == asked


def test_it_may_be_left_out_or_asked_for(tmp_path):
    assert [sought(read(tmp_path, f"current = {said}")) for said in ("true", "false")] == [True, False]
    assert sought(RaceRequest(folder=tmp_path)) is None


@pytest.mark.parametrize("said", ['""', "3", "[]"])
def test_what_names_no_file_is_refused(tmp_path, said):
    with pytest.raises(SpecError, match=r"race\.current: names no deployment file; write it like"):
        read(tmp_path, f"current = {said}")


def test_both_flags_are_refused(tmp_path):
    with pytest.raises(InputError, match="give --current or --no-current, not both"):
        RequestFlags({"current": tmp_path, "no_current": True}).over(RaceRequest(folder=tmp_path))
