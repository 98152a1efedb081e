"""wsgiref: the standard library's own WSGI server, given a pool of threads."""

from pathlib import Path

from stackrace.stacks.servers import BACKLOG, Recipe, Server, Site
from stackrace.stacks.setting import Interface, Protocol, Setting
from stackrace.stacks.stack import ServerSpec

LAUNCHER = Path(__file__).with_name("launcher.py")


class Wsgiref(Server):
    """The app's own Python runs a launcher, which reads a small configuration file."""

    spec = ServerSpec(
        name="wsgiref",
        title="wsgiref of the standard library",
        listens=frozenset({Protocol.HTTP}),
        hosts=frozenset({Interface.WSGI}),
        settings=(
            Setting(
                name="threads",
                default=4,
                maximum=1024,
                help="Threads that run the app; raise it when requests wait for a database.",
            ),
        ),
    )

    def requirements(self, settings):
        """Nothing from PyPI: it is in every Python."""
        return ()

    def recipe(self, site: Site) -> Recipe:
        """Whatever is returned as files is written into the site's folder before the command runs."""
        return Recipe(
            command=(
                str(site.app.python),
                str(site.directory / "launcher.py"),
                str(site.directory / "wsgiref.ini"),
            ),
            files={
                "launcher.py": LAUNCHER.read_text(encoding="utf-8"),
                "wsgiref.ini": self.render("wsgiref.ini.j2", site, queue=BACKLOG),
            },
            environment=site.app.import_environment,
        )


SERVER = Wsgiref()
