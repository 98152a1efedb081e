"""Rack applications, really examined by Ruby and really launched."""

import shutil
import subprocess
from pathlib import Path

import pytest
from tests.unprotected import examine

from stackrace.app.app import App, EntryKind, entry_of
from stackrace.app.golden import golden
from stackrace.app.interpreter import find_ruby
from stackrace.base.errors import AppError, MissingError
from stackrace.deploy.running_stack import facts_of
from stackrace.deploy.shutdown import stop
from stackrace.measure.workload import Request, Sameness
from stackrace.race.preparation.set_up import set_up
from stackrace.race.request.request import RaceRequest
from stackrace.stacks.servers import catalogue

EXAMPLE = Path(__file__).parents[2] / "examples" / "rack_hello"
STACKS = [
    "puma",
    "puma:workers=0,threads=2",
    "nginx/http/puma",
    "nginx/http/puma:socket=tcp,instances=2",
    "apache+passenger",
    "nginx/http/apache+passenger:spawn_method=direct,high_performance=on",
]

pytestmark = pytest.mark.skipif(shutil.which("ruby") is None, reason="no Ruby: stackrace install puma brings one")


@pytest.fixture
def rack(tmp_path):
    """Return a maker of apps from the text of their config.ru."""

    def make(text, **changes):
        (tmp_path / "config.ru").write_text(text)
        entry = entry_of(EntryKind.RACK, "config.ru")
        return App(**{"name": "scratch", "root": tmp_path, "entry": entry, "ruby": find_ruby(tmp_path)} | changes)

    return make


def refused(app, *paths, **options):
    with pytest.raises(AppError) as raised:
        golden(examine(app, [Request(path=path) for path in paths], **options))
    return raised.value


def answer(body, status=200, headers="{}"):
    return f"run ->(env) {{ [{status}, {headers}, [{body}]] }}\n"


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "pieces", ["Enumerator.new { |to| loop { to << 'x' * 65_536 } }", "->(to) { loop { to.write('x' * 65_536) } }"]
)
def test_a_page_without_end_is_refused(rack, pieces):
    said = refused(rack(f"run ->(env) {{ [200, {{}}, {pieces}] }}\n"), "/").message
    assert said.startswith("/ gives an answer that does not end: it was still being sent after")


def test_a_page_beyond_the_bound_is_refused_by_its_size(rack):
    said = refused(rack(answer("*['x' * 1_048_576] * 40")), "/").message
    assert said.startswith("/ gives an answer that is larger than 32 MiB: it has 40 MiB;")


def test_the_example_answers_in_process():
    app = App(name="x", root=EXAMPLE, entry=entry_of(EntryKind.RACK, "config.ru"), ruby=find_ruby(EXAMPLE))
    found = examine(app, [Request(path="/"), Request(path="/time")])
    hello, clock = golden(found).answers
    assert (hello.body, hello.content_type, hello.sameness) == (b"Hello from Rack\n", "text/plain", Sameness.BODY)
    assert clock.sameness is Sameness.PARTS
    assert found.python is None


def test_a_file_that_an_app_holds_open_for_writing_is_reported(rack, tmp_path):
    text = f"LOG = File.open('{tmp_path}/app.log', 'a')\nREAD = File.open('config.ru')\n" + answer('"x"')
    assert examine(rack(text)).written == (tmp_path / "app.log",)


def test_the_app_gets_what_the_user_sends(rack):
    body = '[env["REQUEST_METHOD"], env["PATH_INFO"], env["QUERY_STRING"], env["HTTP_HOST"], env["HTTP_X_A"], ENV["RACK_ENV"], env["rack.input"].read].join(" ")'  # noqa: E501
    request = Request(path="/a%20b?c=d", method="POST", headers=(("X-A", "1"), ("X-A", "2")), body=b"sent")
    (found,) = golden(examine(rack(answer(body)), [request], host="shop.example.com")).answers
    assert found.body == b"POST /a%20b c=d shop.example.com 1,2 production sent"


def test_a_config_that_raises_shows_the_apps_own_traceback(rack, tmp_path):
    error = refused(rack('def broken\n  raise KeyError, "the shelf is empty"\nend\nbroken\nrun nil\n'), "/")
    assert error.message == "config.ru: loading it failed: KeyError: the shelf is empty"
    assert f"{tmp_path}/config.ru:2" in error.detail
    assert "rack.rb" not in error.detail


def test_a_page_that_raises_shows_the_apps_own_traceback(rack, tmp_path):
    error = refused(rack('run ->(env) { raise KeyError, "the shelf is empty" }\n'), "/")
    assert error.message == "/ answers 500: KeyError: the shelf is empty"
    assert f"{tmp_path}/config.ru:1" in error.detail


def test_an_exception_that_a_framework_turned_into_an_answer_is_shown_too(rack):
    text = """
        run lambda { |env|
          begin
            raise KeyError, "the shelf is empty"
          rescue KeyError => error
            env["action_dispatch.exception"] = error
            [500, {}, ["sorry"]]
          end
        }
    """
    assert refused(rack(text), "/").message == "/ answers 500: KeyError: the shelf is empty"


@pytest.mark.parametrize("end", ["exit(3)", "abort('no config')", "exit!(3)"])
def test_an_app_that_ends_its_process_is_an_error(rack, end):
    assert "loading it" in refused(rack(f"{end}\n"), "/").message


@pytest.mark.exhaustive
def test_a_hang_tells_where(rack):
    error = refused(rack("Queue.new.pop\n" + answer("''")), "/", timeout_s=10.0)
    assert "loading it did not end in time" in error.message
    assert "config.ru:1" in error.detail


def test_a_syntax_error_is_told(rack):
    assert "SyntaxError" in refused(rack("run ->(env {\n"), "/").message


def test_a_missing_file_or_rack_is_told(rack, tmp_path):
    missing = rack("", entry=entry_of(EntryKind.RACK, "other.ru"))
    assert f"No such file or directory - {tmp_path}/other.ru" in refused(missing, "/").message
    bare = tmp_path / "ruby"
    bare.write_text(f'#!/bin/sh\nexec {find_ruby(tmp_path)} --disable-gems "$@"\n')
    bare.chmod(0o755)
    without = rack(answer("''"), ruby=bare, environment={"RUBYLIB": ""})
    error = refused(without, "/")
    if "cannot load such file -- rack" in error.message:  # Debian's Ruby finds its Rack without gems too
        assert "stackrace install puma" in error.message


def test_an_interpreter_that_cannot_start_names_the_key(rack):
    assert "([app] ruby)" in refused(rack("", ruby=Path("/nowhere/ruby")), "/").message


def test_the_start_page_may_redirect_once(rack):
    text = """
        there = { "location" => "/books?page=1" }
        run ->(env) { env["PATH_INFO"] == "/" ? [302, there, []] : [200, {}, ["books"]] }
    """
    found = examine(rack(text))
    assert golden(found).requests == (Request(path="/books?page=1"),)
    assert "redirects to /books?page=1" in refused(rack(text), "/").message


def test_printing_and_changing_folders_do_no_harm(rack):
    text = 'puts "{}"; warn "stage nonsense"; $stdout.close; Dir.chdir("/")\n' + answer('"fine"')
    assert golden(examine(rack(text))).answers[0].body == b"fine"


def test_nothing_of_the_examiner_stands_in_the_apps_way(rack):
    body = "[defined?(Reply), defined?(REPORT), Object.new.respond_to?(:stage, true)].inspect"
    assert golden(examine(rack(answer(body)))).answers[0].body == b"[nil, nil, false]"


def test_a_body_may_be_anything_that_can_be_gone_through(rack):
    text = "class Body\n  def each\n    yield 'a'\n    yield 'b'\n  end\nend\nrun ->(env) { [200, {}, Body.new] }\n"
    assert golden(examine(rack(text))).answers[0].body == b"ab"


@pytest.fixture(scope="module")
def stage():
    request = RaceRequest(
        folder=EXAMPLE, entry=entry_of(EntryKind.RACK, "config.ru"), urls=("/", "/time"), stacks=tuple(STACKS)
    )
    try:
        with set_up(request) as made:
            yield made
    except MissingError as error:
        pytest.skip(error.message)


@pytest.mark.parametrize("path", STACKS)
def test_a_stack_launches_answers_rightly_and_leaves_nothing(path, stage):
    stack = next(stack for stack in stage.stacks if stack.path == path)
    running = stage.launcher.launch(stack, timeout_s=60)
    facts = facts_of(running, catalogue())
    assert all(facts.versions[hop.server] for hop in stack.hops), facts.versions
    assert facts.versions["ruby"][0].isdigit()
    assert "python" not in facts.versions
    assert stop(stage.guard, [running]) == {}
    assert not running.directory.exists()
    for _, pid in running.parts:
        assert stage.guard.status([pid])[pid].alive == ()


@pytest.mark.exhaustive
def test_an_app_with_a_bundle_runs_with_the_gems_of_its_own(tmp_path):
    (tmp_path / "Gemfile").write_text('source "https://rubygems.org"\ngem "puma"\ngem "rack"\n')
    (tmp_path / "config.ru").write_text(answer("$LOADED_FEATURES.any?(/bundler/).to_s"))
    bundle = shutil.which("bundle") or shutil.which("bundle3.1")
    locked = bundle and subprocess.run([bundle, "lock", "--local"], cwd=tmp_path, capture_output=True, check=False)
    if not locked or locked.returncode:
        pytest.skip("Bundler cannot lock the installed gems here")
    with set_up(RaceRequest(folder=tmp_path, urls=("/",), stacks=("puma", "apache+passenger")), str) as made:
        assert made.examined.workloads[0].answers[0].body == b"true"
        for stack in made.stacks:
            assert stop(made.guard, [made.launcher.launch(stack, timeout_s=60)]) == {}


def test_a_public_folder_is_served_by_apache_before_the_app(tmp_path):
    (tmp_path / "public").mkdir()
    (tmp_path / "public" / "cached.html").write_text("from the file")
    (tmp_path / "config.ru").write_text(answer("'from the file'"))
    request = RaceRequest(folder=tmp_path, urls=("/cached.html", "/"), stacks=("apache+passenger",))
    try:
        with set_up(request) as made:
            running = made.launcher.launch(made.stacks[0], timeout_s=60)
            config = Path(running.directory, "0", "apache.conf").read_text()
            assert f'DocumentRoot "{tmp_path}/public"' in config
            assert stop(made.guard, [running]) == {}
    except MissingError as error:
        pytest.skip(error.message)
