"""Exports of an app that need not exist."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from stackrace.app.app import App, Entry, EntryKind
from stackrace.app.examiner.messages import DjangoFacts, PythonFacts
from stackrace.features.export.export import Export, hosted_app
from stackrace.features.export.export_files import exported_files
from stackrace.features.export.export_target import Target
from stackrace.features.export.layout import laid_out
from stackrace.features.export.packages import Packages
from stackrace.measure.resources import Resources
from stackrace.measure.workload import Request
from stackrace.stacks.servers import catalogue
from stackrace.stacks.stack_path import parse_stack

PROJECT = Path("/home/ann/shop")
PYTHON = PythonFacts(
    version="3.11.2", python=Path("/usr/bin/python3"), base=Path("/usr/bin/python3"), site_packages=()
)
TARGET = Target(name="shop", base=Path("/srv/shop"), user="shop", host="0.0.0.0", port=8000, projects=(PROJECT,))

APP = TARGET.app
DJANGO = DjangoFacts(
    allowed_hosts=("shop.example",),
    static_url="/static/",
    static_root=None,
    https_header="",
    routes=(),
    collected=APP / "staticfiles",
    media_url="/media/",
    media_root=APP / "media",
)


def export_of(path, *, memory_bytes=None, static=None, target=TARGET, project=PROJECT, packages=None, **changes):
    """Return the export of the stack at ``path``, of a Django project with SQLite; ``packages`` change its own."""
    app = App(
        name="shop",
        root=project,
        entry=Entry(kind=EntryKind.DJANGO, target="shop.settings"),
        python=Path("/usr/bin/python3"),
        static={"/static/": project / "staticfiles", "/media/": project / "media"} if static is None else static,
        environment={"SECRET_KEY": "hunter2", "DATABASE_URL": "postgresql://ann:hunter2@db/shop"},
    )
    servers = catalogue()
    target = replace(target, projects=(project,))
    stack = parse_stack(path, servers.specs, app.interfaces, project)
    hosted = hosted_app(app, stack, target, PYTHON)
    entries = [servers.entries[hop.server] for hop in stack.hops]
    export = Export(
        stack=stack,
        app=app,
        target=target,
        hosted=hosted,
        processes=laid_out(stack, catalogue=servers, app=hosted, target=target, cores=2),
        packages=replace(
            Packages(
                python="3.11.2",
                embedded=any(entry.needs.embeds for entry in entries),
                servers={"gunicorn": "23.0.0"},
                app={"Django": "5.2.1", "pip": "25.0"},
                debian={name: "1.2-3" for entry in entries for name in entry.needs.apt},
            ),
            **(packages or {}),
        ),
        variables=("DATABASE_URL", "SECRET_KEY"),
        page=Request(path="/items/?page=1"),
        host="shop.example",
        django=DJANGO,
        resources=Resources(stack_cores=(0,), generator_cores=(1,), memory_bytes=memory_bytes),
        memory_bytes=80 * 2**20,
    )
    return replace(export, **changes)


def files_of(path, **how):
    """Return the files of the export of the stack at ``path``; see ``export_of``."""
    return exported_files(export_of(path, **how))
