"""H2O: a front end that forwards HTTP and FastCGI and serves files itself."""

from __future__ import annotations

from ...native_files import Signs
from ...setting import Interface, Protocol
from ...stack import ServerSpec
from ..contract import Fault, Needs, Recipe, Server
from ..settings import ACCESS_LOG, ANY_SOCKET, UPSTREAM_KEEP_ALIVE, workers
from ..site import Site
from ..templates import in_yaml


class H2o(Server):
    """H2O with one ``h2o.yaml``; before version 2.3 it forwards to one upstream only, so it balances nothing."""

    spec = ServerSpec(
        name="h2o",
        title="H2O",
        signs=Signs(files=r"h2o.*\.(conf|ya?ml)(\..+)?", forwards=r"^\s*proxy\.reverse\.url:"),
        listens=frozenset({Protocol.HTTP}),
        forwards={Protocol.HTTP: ANY_SOCKET, Protocol.FASTCGI: ANY_SOCKET},
        balances=False,
        hosts=frozenset({Interface.FILES}),
        settings=(workers("Threads, each with its own event loop"), UPSTREAM_KEEP_ALIVE, ACCESS_LOG),
    )
    faults = (Fault(where="h2o/fastcgi", text="H2O 2.2 sends a body for HEAD. Race GET.", changes_request=True),)
    needs = Needs(apt=("h2o",), binary="h2o", version=("--version",))

    passes_forwarded_headers = True
    limits_bodies = True
    limits_answers = True

    def recipe(self, site: Site) -> Recipe:
        """Return a command that runs one process in the foreground; TERM ends it gracefully."""
        path = str(site.directory / "h2o.yaml")
        command = ("h2o", "-m", "worker", "-c", path)
        config = self.render("h2o.yaml.j2", site, upstream=site.upstream[0] if site.upstream else None)
        return Recipe(
            command=command,
            check=("h2o", "-t", "-c", path),
            files={"h2o.yaml": config, "logs/.keep": "", "tmp/.keep": ""},
        )

    def quoted(self, text: str) -> str:
        """Return ``text`` as a string of YAML."""
        return in_yaml(text)


SERVER = H2o()
