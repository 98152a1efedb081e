"""``stackrace record``: a browser's visit to a real app becomes a session that is loaded."""

import json

from tests.integration.csrf_site import running_site, visit


def test_a_visit_with_a_login_and_forms_is_replayed_by_other_visitors(tmp_path, stackrace):
    with running_site(tmp_path) as site:
        browser = visit(site)
        browser.save(tmp_path / "exported.har")
        done = stackrace("record", "exported.har", "--out", "visit.har", "--json", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        summary = json.loads(done.stdout)
        assert (summary["requests"], summary["with_tokens"], summary["origin"]) == (8, 5, f"http://{site}")
        done = stackrace(
            "load", f"http://{site}", "--session", "visit.har", "--cookies", "--think", "none",
            "-c", "2", "-n", "32", "--json", cwd=tmp_path,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["ok"] == 32


def test_a_file_that_is_there_is_not_replaced(tmp_path, stackrace):
    (tmp_path / "session.har").write_text("mine")
    done = stackrace("record", "exported.har", cwd=tmp_path)
    assert done.returncode == 2
    assert "--out session.har exists; name another file" in done.stderr
    assert (tmp_path / "session.har").read_text() == "mine"
