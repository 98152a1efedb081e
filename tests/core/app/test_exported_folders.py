"""Exported files in a project are no further app of it."""

from stackrace.app.project_files import MARK
from stackrace.app.projects.detection import detect

APP = "from flask import Flask\n\napp = Flask(__name__)\n"


def test_only_the_projects_own_app_is_found(tmp_path):
    (tmp_path / "shop.py").write_text(APP)
    entry = tmp_path / "deploy/entry"
    entry.mkdir(parents=True)
    (entry / "deployed_wsgi.py").write_text("import shop\n\napplication = shop.app\n")
    (tmp_path / "deploy/Procfile").write_text("web: python -m gunicorn deployed_wsgi:application\n")
    (tmp_path / "deploy" / MARK).write_text("")
    assert detect(tmp_path).entry.target == "shop:app"


def test_a_folder_with_nothing_else_holds_no_app(tmp_path):
    (tmp_path / "deploy/entry").mkdir(parents=True)
    (tmp_path / "deploy/entry/deployed_wsgi.py").write_text(APP)
    (tmp_path / "deploy" / MARK).write_text("")
    assert detect(tmp_path) is None
