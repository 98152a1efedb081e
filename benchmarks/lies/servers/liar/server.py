"""liar: a server that misbehaves in one way at a time, and is honest without a lie."""

import re
from pathlib import Path

from stackrace.stacks.servers import Recipe, Server, Site
from stackrace.stacks.setting import Interface, Protocol, Setting
from stackrace.stacks.stack import ServerSpec

FOLDER = Path(__file__).parent
PARTS = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.py") if path.name != "server.py"}
CLASSES = [lie for text in PARTS.values() for lie in re.findall(r"^class (\w+)\(Honest\)", text, re.MULTILINE)]
LIES = {re.sub(r"(?<!^)(?=[A-Z])", "-", lie).lower(): lie for lie in CLASSES}
"""The lies' classes by their setting: WrongBody is told by ``wrong-body``."""


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
                choices=tuple(LIES),
                help="Which lie to tell.",
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
                LIES[str(site.settings["lie"])],
                str(site.settings["workers"]),
            ),
            files=PARTS,
            environment=site.app.import_environment,
            stop_timeout_s=1.0,
        )


SERVER = Liar()
