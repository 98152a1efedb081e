"""What systemd, Kubernetes and hosting platforms start, with all that overrides it."""

import pytest

from .setups import read

UNIT = "[Service]\nEnvironment=A=1 W=2\nExecStart=/srv/venv/bin/gunicorn a:b -w ${W}\n"
PODS = """apiVersion: v1
kind: ConfigMap
metadata: {name: shop}
data: {WEB_CONCURRENCY: "5"}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: shop}
spec:
  replicas: 1
  template:
    spec:
      containers:
      - name: web
        image: registry/shop
        %s
"""

STARTED = {
    "a drop-in's command": (
        {"w.service": UNIT, "w.service.d/10-live.conf": "[Service]\nExecStart=\nExecStart=gunicorn a:b -w 9\n"},
        "workers=9", "w.service.d/10-live.conf:3"),
    "a drop-in's variable": (
        {"w.service": UNIT, "w.service.d/a.conf": "[Service]\nEnvironment=W=9\n"}, "workers=9", "w.service:3"),
    "drop-ins in order": (
        {"w.service": UNIT, "w.service.d/20.conf": "[Service]\nEnvironment=W=9\n",
         "w.service.d/10.conf": "[Service]\nEnvironment=W=5\n"}, "workers=9", "w.service:3"),
    "variables that are taken back": (
        {"w.service": UNIT.replace("gunicorn a:b -w ${W}", "gunicorn a:b -w 3"),
         "w.service.d/a.conf": "[Service]\nEnvironment=\nEnvironment=WEB_CONCURRENCY=4\n"},
        "workers=3", "w.service:3"),
    "a file of variables goes before the unit's own": (
        {"w.service": UNIT + "EnvironmentFile=/srv/shop/w.env\n", "w.env": "W=7\n"}, "workers=7", "w.service:3"),
    "a template with specifiers": (
        {"w@.service": "[Service]\nExecStart=@%h/venv/bin/gunicorn %p a:b -b unix:/run/%i.sock -w 3\n"},
        "workers=3", "w@.service:2"),
    "a container": (
        {"k8s/all.yaml": PODS % 'command: [gunicorn, "a:b"]\n        args: ["-w", "3"]'},
        "workers=3", "k8s/all.yaml:16"),
    "variables in a container's words": (
        {"k8s/all.yaml": PODS % 'args: [gunicorn, "a:b", "-w", "$(N)"]\n        env: [{name: N, value: "4"}]'},
        "workers=4", "k8s/all.yaml:16"),
    "a ConfigMap": (
        {"k8s/all.yaml": PODS % 'args: [gunicorn, "a:b"]\n        envFrom: [{configMapRef: {name: shop}}]'},
        "workers=5", "k8s/all.yaml:16"),
    "a key of a ConfigMap": (
        {"k8s/all.yaml": PODS % 'args: [gunicorn, "a:b"]\n        env:\n        - name: WEB_CONCURRENCY\n          '
         "valueFrom: {configMapKeyRef: {name: shop, key: WEB_CONCURRENCY}}"}, "workers=5", "k8s/all.yaml:16"),
    "fly's variables": (
        {"fly.toml": "[env]\nWEB_CONCURRENCY = 6\n", "Dockerfile": "ENV WEB_CONCURRENCY=2\nCMD gunicorn a:b\n"},
        "workers=6", "Dockerfile:2"),
    "fly's processes": (
        {"fly.toml": '[env]\nWEB_CONCURRENCY = 6\n[processes]\nweb = "gunicorn a:b"\n', "Dockerfile": "CMD x\n"},
        "workers=6", "fly.toml:4"),
    "a Procfile with app.json": (
        {"Procfile": "web: gunicorn a:b\n", "app.json": '{"env": {"WEB_CONCURRENCY": {"value": "5"}}}'},
        "workers=5", "Procfile:1"),
}  # fmt: skip


@pytest.mark.parametrize("case", STARTED)
def test_what_overrides_a_start_counts(tmp_path, case):
    files, workers, place = STARTED[case]
    found = read(tmp_path, files)
    assert (found.stack, found.location) == (f"gunicorn:{workers}", place)
    assert not found.is_partial


PARTIAL = {
    "a file of variables of another machine": (
        {"w.service": UNIT.replace("${W}", "${V}") + "EnvironmentFile=-/etc/shop.env\n"},
        [("w.service", 4, "EnvironmentFile=-/etc/shop.env"), ("w.service", 3, "--workers ${V?}")]),
    "a secret": (
        {"k8s.yaml": PODS % 'args: [gunicorn, "a:b"]\n        envFrom: [{secretRef: {name: keys}}]'},
        [("k8s.yaml", 17, "secretRef keys")]),
    "a ConfigMap of elsewhere": (
        {"k8s.yaml": PODS % 'args: [gunicorn, "a:b"]\n        envFrom: [{configMapRef: {name: other}}]'},
        [("k8s.yaml", 17, "configMapRef other")]),
    "a group of variables": (
        {"render.yaml": "services:\n- type: web\n  startCommand: gunicorn a:b\n  envVars: [{fromGroup: g}]\n"},
        [("render.yaml", 3, "WEB_CONCURRENCY")]),
    "a value that a platform asks for": (
        {"render.yaml": "services:\n- type: web\n  startCommand: gunicorn a:b\n  envVars:\n"
         "  - {key: WEB_CONCURRENCY, sync: false}\n"}, [("render.yaml", 3, "WEB_CONCURRENCY")]),
}  # fmt: skip


@pytest.mark.parametrize("case", PARTIAL)
def test_what_may_say_how_many_workers_and_cannot_be_read_makes_it_partial(tmp_path, case):
    files, gaps = PARTIAL[case]
    found = read(tmp_path, files)
    assert sorted((gap.file, gap.line, gap.what) for gap in found.gaps) == sorted(gaps)
    assert found.is_partial


def test_limits_and_secrets_of_a_container_are_named_and_no_value_is(tmp_path):
    more = 'args: [gunicorn, "a:b", "-w", "3"]\n        env:\n        - name: SECRET_KEY\n          valueFrom:\n'
    more += "            secretKeyRef: {name: keys, key: k}\n        resources:\n          limits:\n"
    more += "            cpu: 500m"
    secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: keys}\nstringData: {k: very-secret-word}\n"
    found = read(tmp_path, {"k8s.yaml": PODS % more, "secret.yaml": secret})
    assert [(gap.line, gap.what) for gap in found.gaps] == [(18, "SECRET_KEY"), (23, "cpu: 500m")]
    assert not found.is_partial
    assert "very-secret-word" not in repr(found)
