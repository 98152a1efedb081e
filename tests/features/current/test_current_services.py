"""What a service of a compose file starts: its own words, its image's, and what stands beside them."""

import pytest

from stackrace.app.app import Entry, EntryKind
from stackrace.base.errors import InputError
from stackrace.stacks.native_files import Concern
from stackrace.stacks.stack_path import parse_stack

from .setups import ANY, SPECS, current_deployment, read, write

STAGES = """FROM python AS base
ENV WEB_CONCURRENCY=3
ENTRYPOINT ["gunicorn", "a:b"]
FROM base AS prod
CMD ["--threads", "4"]
FROM node AS assets
ENV WEB_CONCURRENCY=9
FROM base
CMD ["--timeout", "9"]
"""
BUILT = "services: {{w: {{build: ., {}}}}}\n"

SERVICES = {
    "an entry point and a command": (
        {"compose.yml": "services: {w: {entrypoint: gunicorn a:b, command: --workers 4}}"},
        "gunicorn:workers=4"),
    "a command in place of the image's": (
        {
            "compose.yml": BUILT.format("command: --workers 4"),
            "Dockerfile": 'ENTRYPOINT ["gunicorn", "a:b"]\nCMD ["--threads", "8"]\n',
        },
        "gunicorn:workers=4"),
    "an entry point without the image's command": (
        {
            "compose.yml": BUILT.format("entrypoint: gunicorn a:b"),
            "Dockerfile": 'ENTRYPOINT ["x"]\nCMD ["--threads", "8"]\n',
        },
        "gunicorn:workers=1"),
    "a line for a shell as entry point": (
        {"Dockerfile": "ENTRYPOINT gunicorn a:b\nCMD --workers 9\n"},
        "gunicorn:workers=1"),
    "a command before the entry point": (
        {"Dockerfile": 'CMD ["--workers", "4"]\nENTRYPOINT ["gunicorn", "a:b"]\n'},
        "gunicorn:workers=4"),
    "a stage": (
        {"compose.yml": "services: {w: {build: {context: ., target: prod}}}", "Dockerfile": STAGES},
        "gunicorn:workers=3,class=gthread,threads=4,keep_alive=2"),
    "the last stage": ({"Dockerfile": STAGES}, "gunicorn:workers=3,timeout=9"),
    "an argument of the build": (
        {"Dockerfile": "ARG N=3\nFROM x\nENV M=${N}\nCMD gunicorn a:b -w $M\n"},
        "gunicorn:workers=3"),
    "a file of variables before the image's": (
        {
            "compose.yml": BUILT.format("command: gunicorn a:b, env_file: w.env"),
            "Dockerfile": "FROM x\nENV WEB_CONCURRENCY=3\n",
            "w.env": "WEB_CONCURRENCY=5\n",
        },
        "gunicorn:workers=5"),
    "a variable with a default": (
        {"compose.yml": "w: {command: gunicorn a:b, environment: {WEB_CONCURRENCY: '${WEB_CONCURRENCY:-4}'}}"},
        "gunicorn:workers=4"),
    "a variable with a default for a script": (
        {
            "compose.yml": "services: {w: {build: ., environment: ['N=${N:-5}', 'M=${M:-5}']}}",
            ".env": "N=6\n",
            "Dockerfile": 'CMD ["/start.sh"]\n',
            "start.sh": "#!/bin/sh\nT=${M:-2}\nexec gunicorn a:b -w ${N:-2} --timeout $T\n",
        },
        "gunicorn:workers=6,timeout=5"),
    "which reach no process": (
        {"compose.yml": "services: {w: {command: gunicorn a:b}}", ".env": "WEB_CONCURRENCY=9\n"},
        "gunicorn:workers=1"),
    "a doubled sign": (
        {"compose.yml": "services: {w: {command: 'sh -c \"gunicorn a:b -w $$N\"', environment: {N: 3}}}"},
        "gunicorn:workers=3"),
    "a tag of compose's": (
        {"compose.yml": "services:\n  w:\n    ports: !reset []\n    command: !override gunicorn a:b -w 3\n"},
        "gunicorn:workers=3"),
    "options behind a script": (
        {
            "Dockerfile": 'ENTRYPOINT ["/start.sh"]\nCMD ["--workers", "4"]\n',
            "start.sh": '#!/bin/sh\nexec gunicorn a:b "$@"\n',
        },
        "gunicorn:workers=4"),
    "an image in a folder of its own": (
        {"container/dist.dockerfile": "ENV GRANIAN_WORKERS=3\nENTRYPOINT /srv/entry.sh\n",
         "container/entry.sh": "#!/bin/sh\ncase $X in\n  '') ;;\n  *) Y=2 ;;\nesac\nexec granian a:b\n"},
        "granian:workers=3"),
    "processes of fly.toml": (
        {"fly.toml": '[processes]\nworker = "gunicorn w:w -w 9"\napp = "gunicorn a:b -w 3"\n'},
        "gunicorn:workers=3"),
    "a test in a script": (
        {
            "Dockerfile": 'CMD ["/start.sh"]\n',
            "start.sh": '#!/bin/sh\nif [ "$1" = "gunicorn" ]; then\n  set -e\nfi\nexec gunicorn -w 3 a:b\n',
        },
        "gunicorn:workers=3"),
}  # fmt: skip


@pytest.mark.parametrize("case", SERVICES)
def test_a_service_starts(tmp_path, case):
    files, expected = SERVICES[case]
    found = read(tmp_path, files)
    assert found.stack == expected
    assert not found.gaps
    assert parse_stack(found.stack, SPECS, ANY, tmp_path)


GAPS = {
    "wrappers": (
        {"Procfile": "web: ddtrace-run newrelic-admin run-program gunicorn a:b\n"},
        [("Procfile", 1, "ddtrace-run"), ("Procfile", 1, "newrelic-admin")]),
    "limits": (
        {"compose.yml": "w:\n  command: gunicorn a:b\n  mem_limit: 512m\n  deploy:\n    resources:\n      limits:\n"
         "        cpus: '0.5'\n"},
        [("compose.yml", 3, "mem_limit: 512m"), ("compose.yml", 7, "cpus: 0.5")]),
    "variables of the process": (
        {"compose.yml": "w:\n  build: .\n  environment:\n    - PYTHONOPTIMIZE=2\n",
         "Dockerfile": "FROM x\nENV LD_PRELOAD=/j.so\nCMD gunicorn a:b\n"},
        [("Dockerfile", 2, "LD_PRELOAD"), ("compose.yml", 4, "PYTHONOPTIMIZE")]),
    "a variable that may be an option": (
        {"compose.yml": "w:\n  command: granian a:b\n  environment: {GRANIAN_WORKERS: 3, GRANIAN_X: 2}\n"},
        [("compose.yml", 2, "GRANIAN_X")]),
    "workers under a condition": (
        {"Dockerfile": 'CMD ["/start.sh"]\n',
         "start.sh": "#!/bin/sh\nexport WEB_CONCURRENCY=$(./cores)\nexec gunicorn a:b\n"},
        [("start.sh", 3, "WEB_CONCURRENCY")]),
}  # fmt: skip


@pytest.mark.parametrize("case", GAPS)
def test_what_stands_beside_it_is_missing_by_line(tmp_path, case):
    files, expected = GAPS[case]
    found = read(tmp_path, files)
    assert found.stack in ("gunicorn:workers=1", "granian:workers=3")
    assert [(gap.file, gap.line, gap.what) for gap in found.gaps] == expected


STAGES = {
    "the last one by its name": (
        "FROM x AS runtime\nCMD gunicorn a:b -w 3\nFROM runtime AS runtime-dev\nCMD gunicorn a:b -w 1\n", 1),
    "the last one by what it starts": (
        "FROM x AS base\nFROM base AS production\nCMD gunicorn a:b -w 3\n"
        "FROM base AS old\nCMD gunicorn a:b -w 9\nFROM base\nCMD gunicorn a:b --reload\n", 2),
    "the last one, without words of its own": (
        "FROM x AS app\nCMD gunicorn a:b -w 3\nFROM app AS test\nENV X=1\n", 1),
}  # fmt: skip


@pytest.mark.parametrize("case", STAGES)
@pytest.mark.parametrize("compose", [None, "services:\n  web:\n    image: shop.org/web\n"])
def test_a_stage_of_production_is_assumed_where_the_last_is_for_development(tmp_path, case, compose):
    text, line = STAGES[case]
    files = {"Dockerfile": text} | ({"compose.yml": compose} if compose else {})
    found = read(tmp_path, files)
    assert found.stack == "gunicorn:workers=3"
    gap = next(gap for gap in found.gaps if "stage" in gap.what)
    assert (gap.file, gap.line, gap.weight) == ("Dockerfile", line, "assumed")


def test_a_service_that_names_a_stage_has_that_one(tmp_path):
    text = "FROM x AS runtime\nCMD gunicorn a:b -w 3\nFROM runtime AS web-test\nCMD gunicorn a:b -w 4\n"
    compose = "services:\n  web:\n    build: {context: ., target: web-test}\n"
    found = read(tmp_path, {"Dockerfile": text, "compose.yml": compose})
    assert (found.stack, found.gaps) == ("gunicorn:workers=4", ())


def test_other_settings_of_django_are_named_with_the_line_to_write(tmp_path):
    write(tmp_path, {"compose.yml": "w:\n  command: gunicorn shop.wsgi\n  environment:\n"
                     "    DJANGO_SETTINGS_MODULE: shop.live\n"})  # fmt: skip
    for target, lines in (("shop.settings", [4]), ("shop.live", [])):
        found = read(tmp_path, {}, entry=Entry(kind=EntryKind.DJANGO, target=target))
        assert [gap.line for gap in found.gaps] == lines
        assert all('add [app] env = { DJANGO_SETTINGS_MODULE = "…" }' in gap.why for gap in found.gaps)


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("uwsgi.ini", "[uwsgi]\nmodule = shop.wsgi\nenv = DJANGO_SETTINGS_MODULE=shop.live\n"),
        ("gunicorn.conf.py", "wsgi_app = 'shop.wsgi'\nraw_env = ['DJANGO_SETTINGS_MODULE=shop.live']\n"),
    ],
)
def test_so_are_those_that_a_servers_own_file_sets(tmp_path, file, text):
    write(tmp_path, {file: text})
    for target, number in (("shop.settings", 1), ("shop.live", 0)):
        found = read(tmp_path, {}, entry=Entry(kind=EntryKind.DJANGO, target=target))
        assert [gap.what for gap in found.gaps] == ["DJANGO_SETTINGS_MODULE"] * number
        assert [change.concern for change in found.changes if "env" in change.key] == [Concern.VARIABLES]


def test_so_are_those_of_the_module_that_a_server_loads(tmp_path):
    named = 'import os\nos.environ.setdefault("DJANGO_SETTINGS_MODULE", "shop.live")\n'
    write(tmp_path, {"Procfile": "web: gunicorn shop.wsgi\n", "shop/wsgi.py": named})
    for target, ways in (("shop.settings", ["--django shop.live"]), ("shop.live", [])):
        found = read(tmp_path, {}, entry=Entry(kind=EntryKind.DJANGO, target=target))
        assert [way for way in ("--django shop.live",) for gap in found.gaps if way in gap.why] == ways


def test_variables_of_this_machine_are_not_read(tmp_path):
    elsewhere = write(tmp_path / "elsewhere", {"secret.env": "WEB_CONCURRENCY=7\n"}) / "secret.env"
    compose = f"services: {{w: {{command: gunicorn a:b, env_file: [{elsewhere}, ../elsewhere/secret.env]}}}}"
    found = read(tmp_path / "project", {"compose.yml": compose})
    assert found.stack == "gunicorn:workers=1"


def test_the_line_of_a_broken_document_is_told(tmp_path):
    write(tmp_path, {"compose.yml": "services:\n  w: [unclosed\nx: 1\n"})
    with pytest.raises(InputError, match=r"compose.yml starts no server .*line 3: .*another file with --current"):
        current_deployment(tmp_path, SPECS, tmp_path / "compose.yml")


def test_what_was_exported_is_not_what_is_run(tmp_path):
    site = "server { location / { proxy_pass http://127.0.0.1:8000; } }"
    found = read(
        tmp_path,
        {
            "compose.yml": "w: {command: gunicorn -w 2 a:b}",
            "deploy/.stackrace-export": "",
            "deploy/nginx.conf": site,
            "deploy/gunicorn.conf.py": "workers = 7\n",
            "deploy/compose.yml": "w: {command: gunicorn -w 5 a:b}",
        },
    )
    assert (found.stack, found.others) == ("gunicorn:workers=2", ())
    named = read(tmp_path, {}, tmp_path / "deploy" / "compose.yml")
    behind = 'gunicorn:workers=5,socket=tcp,config="deploy/gunicorn.conf.py"'
    assert named.stack == f'nginx:config="deploy/nginx.conf"/http/{behind}'


def test_a_server_that_code_starts_is_read(tmp_path):
    code = (
        "import uvicorn\nif __name__ == '__main__':\n    uvicorn.run(\n        'a:app', host='::', workers=4,\n"
        "        access_log=False, limit_concurrency=settings.LIMIT,\n    )\n"
    )
    found = read(tmp_path, {"Dockerfile": 'CMD ["python", "/app/api/main.py"]\n', "api/main.py": code})
    assert (found.stack, found.location) == ("uvicorn:workers=4,keep_alive=5", "api/main.py:3")
    assert [(gap.line, gap.what) for gap in found.gaps] == [(3, "--limit-concurrency $(settings.LIMIT)")]
    (tmp_path / "api/main.py").write_text("import uvicorn\nuvicorn.run('a:app', reload=True)\n")
    assert current_deployment(tmp_path, SPECS) is None


WORDS = {
    "options in a variable": (
        'EXTRA_ARGS="--timeout 9 --max-requests 5"',
        "$EXTRA_ARGS",
        ",max_requests=5,timeout=9",
        0,
    ),
    "options that nobody knows": ("", "$GUNICORN_OPTS", "", 1),
    "a name in a variable": ("KIND=timeout", '"--${KIND}" 9', ",timeout=9", 0),
    "the app in a variable": ("", "$APP_MODULE", "", 0),
}


@pytest.mark.parametrize("case", WORDS)
def test_words_in_variables_are_put_in(tmp_path, case):
    before, words, expected, gaps = WORDS[case]
    script = f"#!/bin/sh\n{before}\nexec gunicorn -w 3 {words} a:b\n"
    found = read(tmp_path, {"Dockerfile": 'CMD ["/s.sh"]\n', "s.sh": script})
    assert found.stack == f"gunicorn:workers=3{expected}"
    assert len(found.gaps) == gaps
