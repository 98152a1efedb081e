"""What is the user's enters no configuration unquoted: through every template of every server."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stackrace.app.app import App, Entry, EntryKind
from stackrace.base.errors import InputError, LaunchError
from stackrace.base.http_syntax import _url_prefix
from stackrace.deploy.rendering import hosted
from stackrace.stacks.native_files import FileReading, NativeFile
from stackrace.stacks.servers import PLAIN, Recipe, Server, catalogue
from stackrace.stacks.servers.templates import Rendered, render
from stackrace.stacks.servers.uwsgi.options import theirs
from stackrace.stacks.setting import Interface, Socket

GUESTS = [entry.spec.name for entry in catalogue() if entry.spec.inside]
SERVERS = [entry for entry in catalogue() if isinstance(entry, Server)]
FRONTS = [
    *((entry.spec.name, protocol) for entry in SERVERS for protocol in sorted(entry.spec.forwards)),
    *((entry.spec.name, "") for entry in SERVERS if entry.spec.hosts),
]

NASTY = [
    "/fotös v1.2+,@a:b~/",
    '/x" { return 200 injected; } location "/y/',
    "/a' #${HOME} %d $(x) @(y)/",
    "/a\\b/",
    '/a\\"/',
    "/a\nb/",
]
ANY_TEXT = st.text(max_size=30) | st.text(alphabet="\"'\\$%{}();#@=*?[ /ab\n\t", max_size=12)

LEGAL = st.text(st.characters(categories=["L", "M", "N"], include_characters="-._~+@,:/"), max_size=20)

_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|[^\s"]+|\n', re.DOTALL)
_VERBATIM = re.compile(r'"(?:\\"|[^"])*"|[^\s"]+|\n')


def by_backslash(text: str) -> list[str]:
    """Take apart text where a backslash in quotes stands before a quote and before itself."""
    return [re.sub(r'\\(["\\])', r"\1", token) for token in _TOKEN.findall(text)]


def by_quote(text: str) -> list[str]:
    """Take apart text where a backslash in quotes means something before a quote only."""
    return [token.replace('\\"', '"') for token in _VERBATIM.findall(text)]


def by_json(text: str) -> list[str]:
    """Take apart text with JSON's strings."""
    return [
        '"' + json.loads(token, strict=False) + '"' if token[0] == '"' else token for token in _TOKEN.findall(text)
    ]


def by_line(text: str) -> list[str]:
    """Take apart text that has no quotes."""
    return text.splitlines()


PARSERS: dict[str, Callable[[str], list[str]]] = {
    "nginx": by_backslash,
    "apache": by_backslash,
    "mod_wsgi": by_backslash,
    "mod_python": by_backslash,
    "passenger": by_backslash,
    "lighttpd": by_quote,
    "caddy": by_quote,
    "h2o": by_json,
    "cherokee": by_line,
    "openlitespeed": by_line,
    "uwsgi": by_line,
}
"""How each server takes its configuration apart, as far as it matters here."""
VARIABLES = {"nginx": r"\$", "apache": r"\$\{", "caddy": r"[{}]", "uwsgi": r"%|\$\(|@\(", "openlitespeed": r"\$"}


def with_static(site, static, **changes):
    return replace(
        site, app=replace(site.app, static=static, **changes), settings={**site.settings, "static": True}
    )


def texts(recipe: Recipe) -> str:
    return "\n".join(text for name, text in sorted(recipe.files.items()) if not name.endswith(".py"))


@pytest.mark.parametrize(("name", "protocol"), FRONTS)
@given(text=LEGAL)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_prefix_that_is_taken_means_itself(name, protocol, text, make_site, next_hop):
    try:
        prefix = _url_prefix(f"/{text}/")
    except InputError:
        return
    site = make_site(name, upstream=next_hop(protocol, Socket.TCP) if protocol else ())
    server, folder = catalogue().server(name), Path("/srv/project/assets")
    usual = texts(server.recipe(with_static(site, {"/static/": folder})))
    odd = texts(server.recipe(with_static(site, {prefix: folder})))
    parser = PARSERS.get(name, by_line)
    if name == "caddy":
        odd = unquote(odd)
    assert parser(odd) == [exchanged(token, prefix) for token in parser(usual)]


@pytest.mark.parametrize("name", GUESTS)
@given(text=LEGAL)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_prefix_that_is_taken_means_itself_to_a_guest(name, text, make_site):
    try:
        prefix = _url_prefix(f"/{text}/")
    except InputError:
        return
    site, guest, folder = make_site(name), catalogue().guest(name), Path("/srv/project/assets")
    usual = guest.fragment(with_static(site, {"/static/": folder})).directives
    odd = guest.fragment(with_static(site, {prefix: folder})).directives
    assert by_backslash(odd) == [exchanged(token, prefix) for token in by_backslash(usual)]


@pytest.mark.parametrize("entry", list(catalogue()), ids=lambda entry: entry.spec.name)
@given(name=st.binary(min_size=1, max_size=40).map(lambda name: os.fsdecode(name.translate(None, b"/\0"))))
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_project_of_any_name_renders_in_every_server(entry, name, make_site, next_hop, tmp_path_factory):
    run, project = tmp_path_factory.mktemp("run"), tmp_path_factory.mktemp("odd") / f"{name}x"
    home = project / "home"
    for folder in (project / "static", project / "public", home / "lib" / "python3.11" / "site-packages"):
        folder.mkdir(parents=True)
    interface = min(entry.spec.hosts) if entry.spec.hosts else Interface.WSGI
    kind = EntryKind.WSGI if interface is Interface.ASGI else EntryKind(str(interface))
    app = App(
        name="odd",
        root=project,
        entry=Entry(kind=kind, target="config.ru" if kind is EntryKind.RACK else "m:a"),
        ruby=Path("/usr/bin/ruby") if kind is EntryKind.RACK else None,
        static={"/static/": project / "static"},
    )
    is_python = kind is EntryKind.WSGI
    host = hosted(
        app,
        Interface.WSGI if is_python else interface,
        home=home if is_python else None,
        folder=run,
        app_packages=(home,),
    )
    upstream = next_hop(sorted(entry.spec.forwards)[0], Socket.TCP) if entry.spec.forwards else ()
    site = replace(make_site(entry.spec.name, directory=run / "0", upstream=upstream), app=host)
    text = texts(entry.recipe(site)) if isinstance(entry, Server) else entry.fragment(site).directives
    assert PLAIN.fullmatch(f"{name}x") or f"{name}x" not in text.splitlines()


def exchanged(token: str, prefix: str) -> str:
    return token.replace("/static", prefix.rstrip("/"))


def test_beyond_ascii_a_prefix_is_written_as_its_server_strips_it(make_site):
    site = with_static(make_site("caddy"), {"/fotös+1/": Path("/srv")})
    assert 'handle_path "/fot%C3%B6s+1/*" {' in texts(catalogue().server("caddy").recipe(site))


@pytest.mark.parametrize("name", PARSERS)
@given(text=ANY_TEXT)
def test_what_is_quoted_is_one_word_that_means_itself(name, text):
    try:
        quoted = catalogue().entries[name].quoted(text)
    except LaunchError as error:
        assert repr(text) in error.message
        return
    in_quotes = PARSERS[name] is not by_line
    assert PARSERS[name](quoted) == ([f'"{text}"'] if in_quotes else [text] if text else [])
    assert name not in VARIABLES or not re.search(VARIABLES[name], text)


@pytest.mark.parametrize("entry", [entry for entry in catalogue() if entry.spec.name not in PARSERS])
def test_a_server_that_says_nothing_of_quotes_takes_plain_text_only(entry):
    assert entry.quoted("/srv/site-1.0_b") == "/srv/site-1.0_b"
    for text in ("a b", "a'b", "ä", "a\n", "$a", "%d"):
        with pytest.raises(LaunchError):
            entry.quoted(text)


@pytest.mark.parametrize(("name", "protocol"), FRONTS)
def test_a_folder_that_came_without_its_link_is_refused(name, protocol, make_site, next_hop):
    site = make_site(name, upstream=next_hop(protocol, Socket.TCP) if protocol else ())
    folder = Path('/srv/a b";$x{}')
    for odd in (with_static(site, {"/static/": folder}), with_static(site, {}, root=folder)):
        with suppress(LaunchError):
            text = texts(catalogue().server(name).recipe(odd))
            assert name == "unit" or str(folder) not in text.replace("\\", "")


@pytest.mark.parametrize("prefix", NASTY)
@pytest.mark.parametrize("name", [entry.spec.name for entry in SERVERS if entry.spec.name in PARSERS])
def test_the_servers_own_checker_reads_what_is_not_refused(
    name, prefix, tmp_path, make_site, next_hop, assert_checks
):
    server = catalogue().server(name)
    upstream = next_hop("http", Socket.TCP) if "http" in server.spec.forwards else ()
    site = with_static(make_site(name, directory=tmp_path / "site", upstream=upstream), {prefix: tmp_path})
    with suppress(LaunchError):
        recipe = server.recipe(site)
        if recipe.check:
            assert_checks(site, recipe)


def rendered(folder, text, **values):
    (folder / "a.conf.j2").write_text(text)
    return render((folder,), "a.conf.j2", json.dumps, **values)


@pytest.mark.parametrize(
    "value", ["a b", 'a"', "a'", "a;", "a\n", "$a", "%a", "#a", "{a", "ä", "a\\", ["a"], {"a": 1}]
)
def test_a_template_that_forgets_to_quote_does_not_render(value, tmp_path):
    with pytest.raises(LaunchError, match=r"a\.conf\.j2 cannot hold .* \| quoted"):
        rendered(tmp_path, "name {{ value }};", value=value)


def test_numbers_plain_text_and_other_templates_need_no_quotes(tmp_path):
    inner = Rendered('"a b";\n')
    text = rendered(
        tmp_path,
        "{{ n }} {{ p }} {{ inner | trim | indent(2) }} {{ s | quoted }}",
        n=1,
        p=tmp_path,
        inner=inner,
        s="a b",
    )
    assert text == f'1 {tmp_path} "a b"; "a b"'
    assert isinstance(text, Rendered)


def test_what_the_user_says_in_the_servers_own_language_stays_on_its_line(tmp_path):
    assert rendered(tmp_path, "{{ value | own }}", value="%d $x 'y'") == "%d $x 'y'"
    with pytest.raises(LaunchError, match="control character"):
        rendered(tmp_path, "{{ value | own }}", value="a\nb")


@pytest.mark.parametrize("name", ["a b.ini", "a%d.ini", "a\nhttp-socket = :80\n.ini"])
def test_a_configuration_file_that_names_its_own_odd_name_is_refused(name):
    file = NativeFile(path=Path("/srv", name), text="[uwsgi]\nprocname = %s\ntouch = %d", reading=FileReading())
    with pytest.raises(LaunchError, match="rename it"):
        theirs(file, ())
    assert theirs(replace(file, text="[uwsgi]\ntouch = %d"), ()) == "touch = /srv/"
