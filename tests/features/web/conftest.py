"""Results of every kind, each as it was recorded, in a store and a folder of data of their own."""

from __future__ import annotations

import pytest
from tests.features.web.serving import served
from tests.frozen import product

from stackrace.features.capacity import capacity_report, stored
from stackrace.features.capacity.trials import CapacityResult
from stackrace.report.exporter import Format, written

RACES = ("race-answered", "race-void", "race-runs", "race-several", "tuning", "check-failed")


@pytest.fixture(scope="session")
def kinds(tmp_path_factory):
    """The URL of a store with results of every kind; other results are in XDG_DATA_HOME."""
    folder = tmp_path_factory.mktemp("kinds")
    (folder / "data" / "stackrace").mkdir(parents=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(folder / "data"))
        product.keep_rerun("kept-lighttpd-2008", folder / "data")
        found = product.read(CapacityResult, "capacity-found")
        stored.keep(written(capacity_report._KIND, found, Format.HTML))
        races = [product.race(name) for name in (*RACES, *product.recorded("rerun-lighttpd-2008"))]
        yield product.store_of(folder / "races.sqlite3", [*races, *product.races("trend")])


@pytest.fixture(scope="session")
def site(kinds):
    """The site over them, which only reads."""
    with served(kinds) as site:
        yield site


def address_of(name: str) -> str:
    """Return the path of a recorded race on the site."""
    return f"races/{product.race(name).id}/"
