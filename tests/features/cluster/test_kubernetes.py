"""The cluster for Dask's operator in `examples/kubernetes` is one that the operator and `dask worker` take.

Source: dask-kubernetes, operator/customresources/templates.yaml; docs of Kubernetes, PodSpec and ServiceSpec.
"""

from __future__ import annotations

from pathlib import Path

import jsonschema
import pytest
import yaml
from distributed.cli import dask_scheduler, dask_worker

from stackrace.features.cluster.members import Role

FILE = Path(__file__).parents[3] / "examples" / "kubernetes" / "cluster.yaml"
DOCUMENTS = {document["metadata"]["name"]: document for document in yaml.safe_load_all(FILE.read_text())}


def record(required, **others):
    """Return the schema of an object that has all of ``required``, perhaps ``others``, and nothing else."""
    properties = {**required, **others}
    return {
        "type": "object", "required": list(required), "properties": properties, "additionalProperties": False,
    }  # fmt: skip


TEXT = {"type": "string"}
PORT = {"type": "integer", "minimum": 1, "maximum": 65535}
CONTAINER = record(
    {"name": TEXT, "image": TEXT, "args": {"type": "array", "items": TEXT}},
    ports={"type": "array", "items": record({"name": TEXT, "containerPort": PORT, "protocol": {"const": "TCP"}})},
    readinessProbe=record({"httpGet": record({"port": TEXT, "path": TEXT})}),
)
POD = record({"containers": {"type": "array", "minItems": 1, "items": CONTAINER}}, affinity={"type": "object"})
SERVICE_PORT = record({"name": TEXT, "protocol": {"const": "TCP"}, "port": PORT, "targetPort": TEXT})
SERVICE = record(
    {
        "type": {"const": "ClusterIP"},
        "selector": {"type": "object", "additionalProperties": TEXT},
        "ports": {"type": "array", "items": SERVICE_PORT},
    }
)
WORKER = record({"spec": POD}, replicas={"type": "integer", "minimum": 0})


def resource(kind, spec):
    return record(
        {
            "apiVersion": {"const": "kubernetes.dask.org/v1"},
            "kind": {"const": kind},
            "metadata": record({"name": TEXT}),
            "spec": spec,
        }
    )


KINDS = {
    "DaskCluster": resource(
        "DaskCluster", record({"scheduler": record({"spec": POD, "service": SERVICE}), "worker": WORKER})
    ),
    "DaskWorkerGroup": resource("DaskWorkerGroup", record({"cluster": TEXT, "worker": WORKER})),
}


def container(pod):
    (only,) = pod["spec"]["containers"]
    return only


WORKERS = {name: container(document["spec"]["worker"]) for name, document in DOCUMENTS.items()}


@pytest.mark.parametrize("document", DOCUMENTS.values(), ids=list(DOCUMENTS))
def test_each_resource_has_the_fields_of_its_kind(document):
    jsonschema.validate(document, KINDS[document["kind"]])


def test_each_group_of_workers_belongs_to_the_cluster():
    (cluster,) = [name for name, document in DOCUMENTS.items() if document["kind"] == "DaskCluster"]
    groups = [document for document in DOCUMENTS.values() if document["kind"] == "DaskWorkerGroup"]
    assert {group["spec"]["cluster"] for group in groups} == {cluster}
    for document in DOCUMENTS.values():
        rules = document["spec"]["worker"]["spec"]["affinity"]["podAntiAffinity"]
        (rule,) = rules["requiredDuringSchedulingIgnoredDuringExecution"]
        assert rule["labelSelector"]["matchLabels"] == {
            "dask.org/cluster-name": cluster, "dask.org/component": "worker",
        }  # fmt: skip


def test_the_service_leads_to_the_ports_of_the_scheduler_by_the_names_that_the_operator_looks_for():
    scheduler = DOCUMENTS["race"]["spec"]["scheduler"]
    here = {port["name"]: port["containerPort"] for port in container(scheduler)["ports"]}
    assert {port["targetPort"]: port["port"] for port in scheduler["service"]["ports"]} == here
    assert here == {"tcp-comm": 8786, "http-dashboard": 8787}
    assert scheduler["service"]["selector"] == {
        "dask.org/cluster-name": "race", "dask.org/component": "scheduler",
    }  # fmt: skip


@pytest.mark.parametrize("name", WORKERS)
def test_each_worker_is_started_as_dask_takes_it_with_a_part_that_stackrace_knows(name):
    program, verb, *words = WORKERS[name]["args"]
    assert (program, verb) == ("dask", "worker")
    # the name of each pod is put in by Kubernetes, the scheduler's address is a variable
    given = dask_worker.main.make_context("dask worker", words).params
    assert (given["name"], given["nanny"], given["nthreads"]) == ("$(DASK_WORKER_NAME)", False, 2)
    part, _, number = given["resources"].partition("=")
    assert Role(part) in Role
    assert int(number) == 1


def test_stacks_and_load_have_workers_of_their_own():
    parts = {word.partition("=")[0] for worker in WORKERS.values() for word in worker["args"] if "=" in word}
    assert parts == {Role.STACK, Role.ENGINE}


def test_the_scheduler_is_started_as_dask_takes_it():
    program, verb, *words = container(DOCUMENTS["race"]["spec"]["scheduler"])["args"]
    assert (program, verb) == ("dask", "scheduler")
    dask_scheduler.main.make_context("dask scheduler", words)
