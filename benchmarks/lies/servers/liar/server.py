"""liar: a server that misbehaves in one way at a time, and is honest without a lie."""

import re
from pathlib import Path

from stackrace.model.stack import Interface, Protocol, ServerSpec, Setting
from stackrace.servers import Recipe, Server, Site

FOLDER = Path(__file__).parent
PARTS = ("liar.py", "honest.py", "lies.py")
LIES = re.findall(r"^class (\w+)\(Honest\)", (FOLDER / "lies.py").read_text(encoding="utf-8"), re.MULTILINE)


def _named(lie: str) -> str:
    """Spell a class as a setting: ``WrongBody`` is ``wrong-body``. lies.py does the same."""
    return re.sub(r"(?<!^)(?=[A-Z])", "-", lie).lower()


class Liar(Server):
    """The app's own Python runs it."""

    spec = ServerSpec(
        name="liar",
        title="a server that lies",
        listens=frozenset({Protocol.HTTP}),
        hosts=frozenset({Interface.WSGI}),
        settings=(
            Setting(
                name="lie",
                default="truth",
                choices=tuple(_named(lie) for lie in LIES),
                help="Which lie to tell: a class of lies.py.",
            ),
            Setting(name="workers", default=1, maximum=16, help="Processes that answer, so it says."),
        ),
    )

    def requirements(self, settings):
        """Nothing beyond the standard library."""
        return ()

    def recipe(self, site: Site) -> Recipe:
        """Everything it needs to know stands in the command."""
        return Recipe(
            command=(
                str(site.app.python),
                str(site.directory / "liar.py"),
                site.app.module,
                str(site.listen.port),
                str(site.settings["lie"]),
                str(site.settings["workers"]),
            ),
            files={name: (FOLDER / name).read_text(encoding="utf-8") for name in PARTS},
            environment=site.app.import_environment,
            stop_timeout_s=1.0,
        )


SERVER = Liar()
