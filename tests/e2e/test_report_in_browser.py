"""The HTML report in a real browser: it draws, complains about nothing and asks nobody for anything."""

import os
import shutil
import subprocess

import pytest
from tests.factories import make_race, make_standing

from stackrace.report.exporter import Format, render

CHROMIUM = shutil.which("chromium")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--enable-logging=stderr",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--v=0",
)  # fmt: skip


@pytest.fixture
def page(tmp_path):
    race = make_race(stacks=10, blocks=4, failures=["waitress:threads=8"])
    path = tmp_path / "report.html"
    path.write_text(render(race, make_standing(race, ties=3), Format.HTML), encoding="utf-8")
    return path


def browse(page, tmp_path, *more):
    return subprocess.run(
        [CHROMIUM, *FLAGS, f"--user-data-dir={tmp_path / 'profile'}", *more, page.as_uri()],
        capture_output=True,
        text=True,
        timeout=1800,
        env=os.environ | {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)},
    )


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
def test_the_browser_keeps_every_chart_and_logs_no_complaint(page, tmp_path):
    done = browse(page, tmp_path, "--dump-dom")
    assert done.returncode == 0
    assert done.stdout.count("<svg") == page.read_text(encoding="utf-8").count("<svg")
    assert "CONSOLE" not in done.stderr


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
def test_the_report_prints(page, tmp_path):
    target = tmp_path / "report.pdf"
    done = browse(page, tmp_path, f"--print-to-pdf={target}")
    assert done.returncode == 0
    assert target.read_bytes().startswith(b"%PDF")
