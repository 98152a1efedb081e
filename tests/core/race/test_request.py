from pathlib import Path

from stackrace.race.request.request import RaceRequest


def test_a_relative_folder_is_the_same_one_wherever_the_apps_processes_work():
    assert RaceRequest(folder=Path("shop")).folder == Path.cwd() / "shop"
