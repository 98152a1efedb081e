"""Set-ups as public projects have them, each reduced to what was once read wrongly, or not at all."""

import pytest

from stackrace.app.app import Entry, EntryKind
from stackrace.stacks.native_files import Weight

from .setups import SPECS, current_deployment, read, write

CONF = "workers = 3\n"
BUILT = "FROM python AS made\nCOPY . /app\n"
PROXY = "server {{ location / {{ proxy_pass http://{}:80; }} }}\n"
WORKER = (
    'from uvicorn_worker import UvicornWorker as Base\n\nclass Quiet(Base):\n    CONFIG_KWARGS = {"http": "h11"}\n'
)
DEEP = "docker/files/usr/local/etc/gunicorn/shop.py"
ELSE = "it stands before {}, another service of compose.yml"
DERIVED = "it is raced as uvicorn_worker.UvicornWorker, which it derives from: what it changes is missing"
OPEN = "only running it would tell its value"
ALONE = "a race starts the server by itself, without this program"

READ = {
    "a script that first copies and removes what only the image has": (
        {
            "Dockerfile": 'FROM python\nCOPY . /a\nENTRYPOINT ["/a/entry.sh"]\nCMD ["gunicorn", "-w3", "a:b"]\n',
            "entry.sh": "#!/bin/sh\nset -e\ncp /built /a\nmv /d /b\nrm /c\nchmod 755 /e\nexec \"$@\"\n",
        },
        "gunicorn:workers=3", {}),
    "nginx's main file that includes the site": (
        {
            "Dockerfile": "FROM python\nCOPY start.sh /start.sh\nCMD /start.sh\n",
            "start.sh": "#!/bin/sh\nnginx\ngunicorn -w 3 -b 127.0.0.1:8000 a:b\n",
            "nginx/nginx.conf": "events {}\nhttp { gzip on; include /etc/nginx/sites-enabled/*; }\n",
            "nginx/sites-enabled/shop": "server { location / { proxy_pass http://127.0.0.1:8000; } }\n",
        },
        'nginx:config="nginx/nginx.conf"/http/gunicorn:workers=3,socket=tcp', {}),
    "uWSGI's own file with the project's name": (
        {"shop-uwsgi.ini": "[uwsgi]\nmodule = a:b\nprocesses = 3\nharakiri = 50\n"},
        "uwsgi:config=shop-uwsgi.ini", {}),
    "a configuration file where the image copies it, in a folder that has more": (
        {
            "Dockerfile": f"FROM python\nCOPY {DEEP} /etc/\nCOPY b.py /etc/\nCMD gunicorn -c /etc/shop.py a:b\n",
            DEEP: CONF,
            "b.py": "",
        },
        f'gunicorn:config="{DEEP}"',
        {}),
    "a worker class of the project's own": (
        {"Procfile": "web: gunicorn -k shop.workers.Quiet shop.asgi", "shop/workers.py": WORKER},
        "gunicorn:workers=1,class=uvicorn,keep_alive=2", {"--worker-class shop.workers.Quiet": DERIVED}),
    "one in gunicorn's file": (
        {
            "Procfile": "web: gunicorn shop.asgi",
            "gunicorn.conf.py": 'worker_class = "shop.workers.Quiet"\nthreads = 6\n',
            "shop/workers.py": WORKER,
        },
        "gunicorn:class=uvicorn,config=gunicorn.conf.py", {"class = shop.workers.Quiet": DERIVED}),
    "an image of somebody else's beside what the project builds": (
        {
            "compose.yml": "services:\n  dev: {build: ., command: manage.py runserver}\n  api: {image: y/api}\n",
            "Dockerfile": f"{BUILT}CMD gunicorn a:b -w 3\n",
        },
        "gunicorn:workers=3", {}),
    "a front end that knows it by the name of its container": (
        {
            "compose.yml": "services:\n  web: {container_name: shop, build: ., command: gunicorn a:b -w 3}\n",
            "nginx.conf": PROXY.format("shop"),
        },
        'nginx:config=nginx.conf/http/gunicorn:workers=3,socket=tcp', {}),
    "a front end of another service, which it links to": (
        {
            "compose.yml": "services:\n  web: {build: ., command: gunicorn a:b -w 3}\n  chat-1: {image: prosody}\n"
            '  nginx: {image: nginx, links: ["chat-1:chat"]}\n',
            "nginx.conf": PROXY.format("chat"),
        },
        "gunicorn:workers=3", {"nginx": ELSE.format("chat-1")}),
    "a program that starts several": (
        {"Dockerfile": 'FROM python\nCMD ["monofy", "make", "&&", "gunicorn", "a:b", "-w", "3", "|||", "work"]\n'},
        "gunicorn:workers=3", {"monofy": ALONE}),
    "the project's own program": (
        {
            "Dockerfile": "FROM python\nCMD uv run shop --port $PORT\n",
            "pyproject.toml": '[project.scripts]\nshop = "shop.cli:main"\n',
            "shop/cli.py": 'import uvicorn\n\ndef main():\n    uvicorn.run("shop:app", workers=3, host=HOST)\n',
        },
        "uvicorn:workers=3,keep_alive=5", {}),
    "variables as a package has them": (
        {
            "shop.service": "[Service]\nEnvironmentFile=/etc/sysconfig/shop\n"
            'ExecStart=sh -c "gunicorn-3 ${OPTS} -w ${N} a:b"\n',
            "shop.sysconfig": 'OPTS=""\nN="3"\n',
        },
        "gunicorn:workers=3", {}),
    "variables of a unit's line for a shell, which no file says": (
        {"shop.service": '[Service]\nEnvironmentFile=/etc/shop\nExecStart=sh -c "gunicorn -w 3 -t ${T} a:b"\n'},
        "gunicorn:workers=3",
        {"--timeout $T": OPEN, "EnvironmentFile=/etc/shop": "there is no such file in the project"}),
    "an argument of the build that no file says": (
        {
            "compose.yml": 'services: {w: {build: {context: ., args: ["GUNICORN_CMD_ARGS=${G}"]}}}\n',
            "Dockerfile": "FROM python\nARG GUNICORN_CMD_ARGS\nENV GUNICORN_CMD_ARGS=${GUNICORN_CMD_ARGS}\n"
            'CMD ["gunicorn", "a:b"]\n',
        },
        "gunicorn:workers=1", {"GUNICORN_CMD_ARGS": OPEN}),
    "a Dockerfile for production, and a script that it calls from its folder": (
        {
            "Dockerfile-prod": 'FROM python\nWORKDIR /srv\nCOPY scripts/prod/start.sh /srv/\nCMD ["./start.sh"]\n',
            "scripts/prod/start.sh": "#!/bin/sh\ngunicorn a:b -w 12 &\nwait\n",
            "scripts/dev/start.sh": "#!/bin/sh\npython manage.py runserver\n",
        },
        "gunicorn:workers=12", {}),
    "a Dockerfile whose image is built in the folder above": (
        {
            "docker/web/Dockerfile": "FROM python\nWORKDIR /srv\nCOPY shop.py .\nCOPY . .\n"
            'ENTRYPOINT ["/bin/sh", "/srv/docker/web/start.sh"]\n',
            "docker/web/start.sh": "#!/bin/sh\nexec gunicorn a:b -w 3\n",
            "shop.py": "",
        },
        "gunicorn:workers=3", {}),
    "a script beside programs of its folder": (
        {
            "Procfile": "web: bin/start.sh\n",
            "bin/start.sh": "#!/bin/sh\ngunicorn a:b -w 3 &\nbin/run &\nwait\n",
        },
        "gunicorn:workers=3", {}),
    "a configuration file by another name": (
        {"shop/docker_gunicorn_configuration.py": CONF},
        'gunicorn:config="shop/docker_gunicorn_configuration.py"', {}),
    "a stage of heroku.yml": (
        {
            "heroku.yml": "build: {docker: {web: {dockerfile: Dockerfile, target: prod}}}\n"
            "setup: {config: {N: '3'}}\n",
            "Dockerfile": "FROM python AS prod\nCMD gunicorn a:b -w $N\nFROM prod AS dev\nCMD bash\n",
        },
        "gunicorn:workers=3", {}),
    "a process of heroku.yml": (
        {
            "heroku.yml": "build: {docker: {django: Dockerfile}}\nrun:\n"
            "  worker: {image: django, command: [celery]}\n"
            "  web: {image: django, command: [./manage.py check, gunicorn a:b]}\n",
            "Dockerfile": "FROM python\nENV WEB_CONCURRENCY=3\nCMD bash\n",
        },
        "gunicorn:workers=3", {}),
    "a unit among a package's files, with an nginx that containers have": (
        {
            "contrib/common/systemd/shop.service": "[Service]\nExecStart=/opt/shop/bin/gunicorn -w 3 a:b\n",
            "compose.yml": "services: {web: {build: ., command: manage.py runserver}}\n",
            "contrib/shop.conf.nginx": PROXY.format("web"),
            "contrib/docker/shop.conf.nginx": PROXY.format("web"),
        },
        "gunicorn:workers=3", {"nginx": ELSE.format("web")}),
    "a unit that others have contributed, and a compose file": (
        {
            "contrib/systemd/shop.service": "[Service]\nExecStart=/opt/shop/bin/gunicorn -w 9 a:b\n",
            "compose.yml": "services: {web: {build: ., command: gunicorn -w 3 a:b}}\n",
        },
        "gunicorn:workers=3", {}),
    "a server that a module starts which a package's program imports": (
        {
            "Procfile": "web: python -m shop",
            "shop/__main__.py": "from .main import main\n\nmain()\n",
            "shop/main.py": 'import uvicorn\n\ndef main():\n    uvicorn.run("a:b", workers=3)\n',
        },
        "uvicorn:workers=3,keep_alive=5", {}),
    "a file that uWSGI's file includes": (
        {"Procfile": "web: uwsgi uwsgi.ini", "uwsgi.ini": "[uwsgi]\ninclude = base.ini\nhttp = :80\n"},
        "uwsgi:config=uwsgi.ini", {"include = base.ini": "this other file cannot be read, and may say anything"}),
    "a server's file beside a program of the project's own": (
        {
            "pyproject.toml": '[project.scripts]\nshop = "shop:main"\n',
            "shop.service": "[Service]\nExecStart=/usr/local/bin/shop serve\n",
            "etc/uwsgi.ini": "[uwsgi]\nhttp = :80\nprocesses = 3\n",
        },
        'uwsgi:config="etc/uwsgi.ini"', {"the command": "nothing in the project says what shop starts"}),
    "a dyno of Heroku's": (
        {"Procfile": "web: gunicorn a:b\n", "app.json": '{"env": {"A": {"value": "b"}}}'},
        "gunicorn:workers=1", {"WEB_CONCURRENCY": OPEN}),
    "an image of which only the service says what it starts": (
        {
            "compose.yml": "services: {web: {image: shop/web, command: ./run.sh}}\n",
            "Dockerfile": "FROM python\nWORKDIR /srv\nCOPY scripts/start.sh ./run.sh\n",
            "scripts/start.sh": "#!/bin/sh\nexec gunicorn a:b -w 3\n",
        },
        "gunicorn:workers=3",
        {"image shop/web": "it is taken for the image of Dockerfile, though nothing in the project says so"}),
    "a front end of the container that supervisor runs in": (
        {
            "compose.yml": "services: {app: {image: shop/app}, db: {image: postgres}}\n",
            "nginx.conf": PROXY.format("app"),
            "Dockerfile": 'FROM python\nCMD ["supervisord", "-c", "/etc/supervisord.conf"]\n',
            "docker/supervisord.conf": "[program:web]\ncommand=gunicorn a:b -w 3\n",
        },
        "nginx:config=nginx.conf/http/gunicorn:workers=3,socket=tcp", {}),
    "a program around the server that a variable may name": (
        {
            "Procfile": "web: ./start.sh\n",
            "start.sh": '#!/bin/bash\nif [[ "$A" ]]; then W="$A "; else W=""; fi\n${W}$B gunicorn -w 3 a:b\n',
        },
        "gunicorn:workers=3", {}),
    "a folder that a variable may name": (
        {
            "Dockerfile": "FROM python\nCOPY wait.sh start.sh /\nCMD /start.sh\n",
            "start.sh": "#!/bin/sh\nset -e\n${PLACE}/wait.sh\nexec gunicorn -w 3 a:b\n",
            "wait.sh": "#!/bin/sh\n",
        },
        "gunicorn:workers=3", {}),
    "a script in a folder to which another stage adds something": (
        {
            "Dockerfile": "FROM node AS js\nFROM python\nWORKDIR /srv\nCOPY . /srv\n"
            'COPY --from=js --parents /srv/./node_modules/ .\nCMD ["/bin/bash", "docker/start.sh"]\n',
            "docker/start.sh": "#!/bin/bash\nexec gunicorn -w 3 a:b\n",
        },
        "gunicorn:workers=3", {}),
    "a number of workers that only the environment says": (
        {
            "Procfile": "web: gunicorn a:b\n",
            "gunicorn.conf.py": 'from os import environ\nworkers = environ["N"]\n',
        },
        "gunicorn:config=gunicorn.conf.py", {"workers = environ['N']": OPEN}),
    "a socket for a front end, and http beside it for probes": (
        {
            "compose.yml": "services: {web: {build: .}, proxy: {image: nginx}}\n",
            "Dockerfile": "FROM python\nCMD uwsgi --socket :90 --http :81 --http-keepalive --processes 3 -w a:b\n",
        },
        "nginx/uwsgi/uwsgi:processes=3,http=router,keep_alive=1,auto_chunked=off",
        {"nginx": "its configuration is not read; it is raced as the catalogue has it"}),
    "two sites of nginx's, of which one has the server's socket": (
        {
            "Dockerfile": "FROM python\nCOPY start.sh /start.sh\nCMD /start.sh\n",
            "start.sh": "#!/bin/sh\nnginx\ngunicorn -w 3 -b unix:/tmp/a.sock a:b\n",
            "nginx/a.conf": PROXY.format("old"),
            "http.d/site.conf.template": PROXY.format("unix:/tmp/a.sock").replace("sock:80", "sock"),
        },
        'nginx:config="http.d/site.conf.template"/http/gunicorn:workers=3', {}),
    "a script that names no shell": (
        {"Procfile": "web: bin/run.sh\n", "bin/run.sh": "set -o pipefail\n[[ 1 == 1 ]] && gunicorn -w 3 a:b\n"},
        "gunicorn:workers=3", {}),
    "a script of Alpine's sh": (
        {
            "Dockerfile": 'FROM python\nCOPY start.sh /\nENTRYPOINT ["/start.sh"]\nCMD ["gunicorn"]\n',
            "start.sh": '#!/bin/sh\nset -o errexit\nset -o pipefail\ncmd="$@"\nexec $cmd -w 3 a:b\n',
        },
        "gunicorn:workers=3", {}),
    "a script in the folder of the image that a pod has": (
        {
            "deploy/pod.yaml": "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - {name: api, image: shop}\n",
            "shop/Containerfile": 'FROM python\nCOPY . /app\nWORKDIR /app\nCMD ["sh", "bin/start.sh"]\n',
            "shop/bin/start.sh": "#!/bin/sh\nexec gunicorn -w 3 a:b\n",
        },
        "gunicorn:workers=3",
        {"image shop": "it is taken for the image of Containerfile, though nothing in the project says so"}),
    "options in a variable of supervisor's": (
        {"supervisord.conf": "[program:web]\ncommand = granian --workers 3 %(ENV_MORE_ARGS)s a:b\n"},
        "granian:workers=3", {"${MORE_ARGS?}": OPEN}),
    "gunicorn's own file, copied to where the image starts it": (
        {
            "Dockerfile": "FROM python\nWORKDIR /a\nCOPY s /a\nCOPY docker/gunicorn.conf.py .\nCMD gunicorn a:b\n",
            "docker/gunicorn.conf.py": CONF,
        },
        'gunicorn:config="docker/gunicorn.conf.py"', {}),
    "the same by a pattern": (
        {
            "Dockerfile": "FROM python\nWORKDIR /app\nCOPY docker/*.py /app/\nCMD gunicorn a:b\n",
            "docker/gunicorn.conf.py": CONF,
        },
        'gunicorn:config="docker/gunicorn.conf.py"', {}),
    "a supervisor in an image": (
        {
            "Dockerfile": 'FROM python\nENTRYPOINT ["/start.sh"]\nCMD ["supervisord", "-c", "/etc/s.conf"]\n',
            "supervisord.conf": "[program:web]\ncommand = gunicorn -w 3 a:b\n",
        },
        "gunicorn:workers=3", {}),
    "a login shell, and an image with an empty list of words": (
        {
            "Dockerfile": 'FROM python\nCOPY start.sh /\nENTRYPOINT ["/start.sh"]\nCMD []\n',
            "start.sh": '#!/bin/sh\nexec sh -lc "work & gunicorn -w 3 a:b"\n',
        },
        "gunicorn:workers=3", {}),
    "a server's file, and an image that starts nobody knows what": (
        {"uwsgi.ini": "[uwsgi]\nmodule = a:b\n", "Dockerfile": 'FROM base\nCOPY . /app\nCMD ["/start.sh"]\n'},
        "uwsgi:config=uwsgi.ini", {"the command": "nothing in the project says what start.sh starts"}),
    "nginx before a server on another port": (
        {
            "compose.yml": "services: {web: {build: .}}\n",
            "Dockerfile": "FROM python\nCMD gunicorn -b 0.0.0.0:8080 a:b\n",
            "nginx/covers.conf": "server { location / { proxy_pass http://covers:7075; } }\n",
        },
        "gunicorn:workers=1", {"nginx": "it leads to covers:7075, and Gunicorn listens on 8080"}),
    "a program that starts several, and replaces variables": (
        {"Dockerfile": 'FROM python\nCMD ["several", "make", "&&", "gunicorn", "--bind=:$PORT", "a:b", "|||"]\n'},
        "gunicorn:workers=1", {"several": ALONE}),
    "another image that starts a program of its own": (
        {"web/Procfile": "web: gunicorn -w 2 a:b\n", "Dockerfile": 'FROM python\nENTRYPOINT ["shop"]\n'},
        "gunicorn:workers=2", {"the command": "nothing in the project says what shop starts"}),
    "a platform's front end beside one in containers": (
        {
            "Procfile": "web: bin/start-nginx bundle exec uwsgi uwsgi.ini\n",
            "uwsgi.ini": "[uwsgi]\nhttp-socket = :$(PORT)\nmodule = a:b\nprocesses = 4\n",
            "compose.yml": "services: {web: {build: .}, proxy: {image: nginx, volumes: [./n:/etc/nginx/conf.d]}}\n",
            "Dockerfile": "FROM python\nCMD gunicorn a:b\n",
            "n/local.conf": "upstream up { server web:8000; }\nserver { location / { proxy_pass http://up; } }\n",
        },
        "nginx/http/uwsgi:config=uwsgi.ini",
        {"nginx": "its configuration is not read; it is raced as the catalogue has it"}),
}  # fmt: skip


@pytest.mark.parametrize("case", READ)
def test_it_is_read_as_its_files_say(tmp_path, case):
    files, stack, gaps = READ[case]
    found = read(tmp_path, files)
    assert (found.stack, {gap.what: gap.why for gap in found.gaps}) == (stack, gaps)


UNREAD = {
    "a script that wants to be told what to start": (
        {
            "Dockerfile": 'FROM python\nCOPY . /app\nENTRYPOINT ["/app/entry.sh"]\n',
            "entry.sh": '#!/bin/sh\ncase "$1" in\nweb) exec gunicorn a:b ;;\n*) echo "Unknown command" ;;\nesac\n',
        },
        "it names a server, and starts none with these words and variables",
    ),
    "a script that only the image has": (
        {"Dockerfile": 'FROM python\nCMD ["bash", "./bin/shop", "run"]\n'},
        "nothing in the project says what shop starts",
    ),
    "a program that nobody knows": (
        {"Dockerfile": 'FROM python\nCMD ["shop", "serve"]\n'},
        "nothing in the project says what shop starts",
    ),
    "code that starts a server in its own way": (
        {
            "Dockerfile": 'FROM python\nCMD ["python", "-m", "shop"]\n',
            "shop/__main__.py": "from gunicorn.app.base import BaseApplication\n",
        },
        "shop/__main__.py starts a server in a way of its own",
    ),
    "code that starts a server in its own way, in a module that the program imports": (
        {
            "Dockerfile": 'FROM python\nENV DATA = "/opt/"\nCOPY . .\nCMD ["./start.sh"]\n',
            "start.sh": "#!/bin/sh\nexec python -m shop\n",
            "shop/__init__.py": "",
            "shop/__main__.py": "from shop.main import main\n\nmain()\n",
            "shop/main.py": "import logging\nfrom gunicorn.app.base import BaseApplication\n",
        },
        "shop/main.py:2 starts a server in a way of its own",
    ),
    "code that starts a server which no command line has": (
        {
            "Dockerfile": 'FROM python\nCMD ["python", "-m", "shop.control.start"]\n',
            "shop/control/start.py": f"from {'.' * 99} import a\n"
            "from ..web import pages\nfrom shop.http import serve\n",
            "shop/web/pages.py": "import flask\nfrom ..http import app\n",
            "shop/http/serve.py": "def serve():\n    from eventlet import wsgi\n",
        },
        "shop/http/serve.py:2 starts a server in a way of its own",
    ),
    "a target of make's that is called as a server": (
        {"supervisord.conf": "[program:web]\ncommand = make gunicorn\n"},
        "Stackrace does not read what make gunicorn starts",
    ),
    "a target of a makefile that is no other file's": (
        {"Makefile": "dev:\n\tuvicorn --reload a:b\nrun:\n\t@$(BIN)/gunicorn -w 3 a:b\n"},
        "gunicorn: Stackrace reads no makefiles: give --current a script with this command",
    ),
    "the project's own program in a line for a shell": (
        {
            "pyproject.toml": '[project.scripts]\nshop = "shop.cli:main"\n',
            "Dockerfile": "FROM python\nCMD shop migrate && shop start --port $PORT\n",
        },
        "nothing in the project says what shop starts",
    ),
    "one of a program's commands, where another reloads": (
        {
            "pyproject.toml": '[project.scripts]\nshop = "shop.cli:main"\n',
            "Dockerfile": 'FROM python\nENTRYPOINT ["shop"]\nCMD ["server", "start", "a:b"]\n',
            "shop/cli.py": "import uvicorn\n\ndef develop():\n    uvicorn.run('a:b', reload=True)\n",
        },
        "shop/cli.py starts a server in a way of its own",
    ),
    "a script that ends before": (
        {
            "Dockerfile": "FROM python\nCOPY start.sh /start.sh\nCMD /start.sh\n",
            "start.sh": '#!/bin/sh\n[ -f /run/key ] || { echo "no key" >&2; exit 3; }\nexec gunicorn a:b\n',
        },
        "it ends with 3 here, and starts nothing: no key",
    ),
    "a worker class that cannot be raced": (
        {"gunicorn_config.py": 'worker_class = "eventlet"\nworkers = 4\n'},
        "Gunicorn's class 'eventlet' is unknown to Stackrace (sync, gthread, gevent, asgi, uvicorn, uvicorn-h11)",
    ),
}


@pytest.mark.parametrize("case", UNREAD)
def test_what_cannot_be_read_is_said(tmp_path, case):
    files, problem = UNREAD[case]
    found = read(tmp_path, files)
    assert (found.stack, found.problem, found.effective) == ("", problem, ())


@pytest.mark.parametrize("program", ["celery", "node", "nginx", "pytest"])
def test_an_image_that_serves_no_app_is_no_deployment(tmp_path, program):
    assert (
        current_deployment(write(tmp_path, {"Dockerfile": f'FROM python\nCMD ["{program}", "x"]\n'}), SPECS) is None
    )


def test_a_size_that_a_file_computes_is_not_said_unless_the_server_could_be_asked(tmp_path):
    conf = 'import not_there\nworker_class = "gthread"\nthreads = min(not_there.cores(), 12)\n'
    found = read(tmp_path, {"Procfile": "web: gunicorn a:b", "gunicorn.conf.py": conf})
    assert (found.stack, found.effective, found.at_once) == ("gunicorn:config=gunicorn.conf.py", (), 0)


def test_a_server_whose_file_names_the_app_is_another_deployment(tmp_path):
    files = {
        "Procfile": "web: gunicorn shop.wsgi\n",
        "Dockerfile": "FROM python\nCMD python manage.py migrate && uwsgi uwsgi.ini\n",
        "uwsgi.ini": "[uwsgi]\nmodule = shop.wsgi\n",
    }
    entry = Entry(kind=EntryKind.WSGI, target="shop.wsgi:application")
    found = current_deployment(write(tmp_path, files), SPECS, entry=entry)
    assert found is not None
    assert (found.location, found.others) == ("Procfile:1", ("Dockerfile:2",))


def test_an_app_of_another_name_is_assumed_to_be_the_races(tmp_path):
    files = {"side/Dockerfile": "FROM python\nCMD uvicorn api.main:app\n"}
    for target, gaps in (("shop.settings", [("api.main", Weight.ASSUMED)]), ("api.main:app", [])):
        entry = Entry(kind=EntryKind.DJANGO if gaps else EntryKind.ASGI, target=target)
        found = current_deployment(write(tmp_path, files), SPECS, entry=entry)
        assert found is not None
        assert [(gap.what, gap.weight) for gap in found.gaps] == gaps


def test_a_call_over_several_lines_is_found_where_it_begins(tmp_path):
    call = 'exec gunicorn \\\n    -w "${N:-3}" \\\n    a:b'
    script = f'#!/bin/sh\nif [ "$1" ]; then\n  {call}\nfi\nexec gunicorn -w 3 -t 9 c:d\n'
    files = {"Dockerfile": 'FROM python\nCOPY s.sh /\nENTRYPOINT ["/s.sh"]\nCMD ["web"]\n', "s.sh": script}
    assert read(tmp_path, files).location == "s.sh:3"


def test_an_image_is_placed_where_its_command_begins(tmp_path):
    dockerfile = (
        'FROM python\nENTRYPOINT ["tini", "--"]\nCMD [ \\\n  "gunicorn", \\\n  "--workers=3", \\\n  "a:b" \\\n]\n'
    )
    found = read(tmp_path, {"Dockerfile": dockerfile})
    assert (found.stack, found.location) == ("gunicorn:workers=3", "Dockerfile:3")
