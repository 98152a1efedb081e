"""What flags and race files ask of a cluster."""

import json
from pathlib import Path

import pytest

from stackrace.api.resuming import request_document, request_from
from stackrace.base.errors import InputError, SpecError
from stackrace.cli.request_flags import RequestFlags
from stackrace.features.cluster.cluster_options import ClusterRequest
from stackrace.race.preparation.prepared import is_elsewhere
from stackrace.race.request.race_file import read_race_file
from stackrace.race.request.request import RaceRequest


def read(folder, text):
    (folder / "race.toml").write_text(f"[race]\n{text}")
    return read_race_file(folder / "race.toml", lambda stack: None)


def test_where_the_project_lies_on_hosts_is_a_whole_path(tmp_path):
    with pytest.raises(InputError, match="--cluster-project app: hosts have another folder"):
        RequestFlags({"cluster_project": Path("app")}).over(RaceRequest(folder=tmp_path))
    with pytest.raises(SpecError, match=r"race\.cluster_project: String should match pattern '\^/'"):
        read(tmp_path, 'cluster_project = "app"')


def test_a_file_says_where_and_a_flag_says_otherwise(tmp_path):
    asked = read(tmp_path, 'cluster_project = "/srv/app"')
    assert asked.parts.get(ClusterRequest) == ClusterRequest(cluster_project=Path("/srv/app"))
    assert not is_elsewhere(asked)
    over = RequestFlags({"cluster": "tcp://10.0.0.1:8786"}).over(asked)
    assert over.parts.get(ClusterRequest) == ClusterRequest(
        cluster="tcp://10.0.0.1:8786", cluster_project=Path("/srv/app")
    )
    assert is_elsewhere(over)
    assert request_from(json.loads(json.dumps(request_document(over)))) == over
