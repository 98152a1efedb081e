"""How a recorded race, check or tuning is shown in every form, and what is kept of simulated ones."""

from __future__ import annotations

import json
import time

from tests.core.race.simulated import plan_for
from tests.frozen import product
from tests.frozen.golden import as_document, as_table, assert_golden, assert_page

PRINTED = {
    "screen.txt": ((), str),
    "details.txt.gz": (("--details",), str),
    "document.json.gz": (("--json",), as_document),
    "slices.csv.gz": (("--csv",), as_table),
    "report.md.gz": (("--markdown",), str),
}


def assert_printed(name, form, store):
    """Compare what ``stackrace report`` prints."""
    flags, normalised = PRINTED[form]
    printed = product.verb("report", product.race(name).id, *flags, store=store)
    assert_golden(f"{name}/{form}", normalised(printed))


def assert_drawn(name, store, folder):
    """Compare the page."""
    product.verb("report", product.race(name).id, "--html", folder / "page.html", store=store)
    assert_page(name, folder / "page.html")


def assert_ended(name, store, folder):
    """Compare how the verb ends that made it."""
    said = product.end_of(product.race(name), store=store, html=folder / "page.html")
    beside_json = product.end_of(product.race(name), store=store, html=folder / "page.html", as_json=True)
    text = f"{said.out}{said.end}\nwith --json:\n{beside_json.end}"
    assert_golden(f"{name}/end.txt", text, {str(folder): "FOLDER"})


class Clock:
    """Time that goes on by some seconds with every event."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def told_live(sink, race, monkeypatch, capsys):
    """Return what ``sink`` tells of ``race``."""
    monkeypatch.setattr(time, "monotonic", clock := Clock())
    capsys.readouterr()
    with sink:
        for event in product.blocks_of(race):
            clock.now += 3.0
            sink(product.at(event, clock.now))
    return capsys.readouterr().err


def assert_told_live(name, monkeypatch, capsys):
    """Compare what a race tells of itself where stderr is no terminal."""
    race = product.race(name)
    plan = plan_for(race.stacks, repeats=race.repeats, budget_s=race.budget_s or None, loads=race.loads)
    assert_golden(f"{name}/live.txt", told_live(product.live(plan), race, monkeypatch, capsys))


def as_golden(name, content):
    """Compare what was decided with the golden file of ``name``."""
    assert_golden(f"decisions/{name}.json", as_document(json.dumps(content)).replace("\n  ", " "))


def story(ended):
    """Return what came of a race: who was launched in each block, its end, and its answer."""
    blocks = {}
    for launch in ended.launches:
        blocks.setdefault(launch.block, []).append(f"{launch.stack}{'' if launch.failure is None else ' failed'}")
    standing = product.answered(ended)
    return {
        "blocks": [" ".join(blocks[number]) for number in sorted(blocks)],
        "ending": ended.ending,
        "elapsed_s": ended.elapsed_s,
        "answer": [standing.answer.kind, *standing.answer.stacks],
        "tiers": {row.stack: row.tier for row in standing.rows},
        "withdrawn": [each.stack for each in standing.withdrawals],
        "slices": sum(len(launch.slices) for launch in ended.launches),
    }
