"""What every entry of the catalogue keeps to, whoever wrote it."""

from __future__ import annotations

import pickle
import re
from collections import Counter
from pathlib import Path

import pytest

from stackrace.stacks import servers
from stackrace.stacks.servers import Guest, Server, catalogue, outside
from stackrace.stacks.setting import Protocol, Socket

ENTRIES = list(catalogue())
SERVERS = [entry for entry in ENTRIES if isinstance(entry, Server)]
GUESTS = [entry for entry in ENTRIES if isinstance(entry, Guest)]
FOLDER = Path(servers.__file__).parent


def named(entry):
    return entry.spec.name


@pytest.mark.parametrize("entry", ENTRIES, ids=named)
def test_every_entry_is_what_is_asked_of_others(entry):
    assert outside._problem_of(entry) == ""
    assert entry.spec.title and type(entry).__doc__
    assert bool(entry.spec.inside) == isinstance(entry, Guest) != isinstance(entry, Server)


FILES = {
    "server.py": "what it can do, and how it is started",
    "options.py": "the table of its options, where reading files by it is long",
    "launcher.py": "a program that starts it, for a server without one",
    "handler.py": "what calls the app inside it",
    "inspector.py": "a program that prints what it makes of its configuration",
    # nginx's configurations are read whole
    "directives.py": "its configuration as a tree",
    "site_file.py": "a configuration of the user's, made ready to be raced",
}


def test_every_folder_has_the_same_files():
    folders = {file.parent for file in FOLDER.glob("*/server.py")}
    assert len(folders) == len(ENTRIES)
    assert {file.name for folder in folders for file in folder.glob("*.py")} == FILES.keys()


@pytest.mark.parametrize("entry", ENTRIES, ids=named)
def test_what_is_known_not_to_work_is_said_in_whole_sentences(entry):
    for fault in entry.faults:
        assert fault.text[0].isupper() and fault.text.endswith("."), fault.text


@pytest.mark.parametrize("entry", [entry for entry in ENTRIES if entry.spec.native], ids=named)
def test_every_name_of_an_option_stands_in_one_row_of_its_table(entry):
    names = Counter(name for row in entry.spec.native.rows for name in row.names.split())
    assert [name for name, count in names.items() if count > 1] == []
    assert all(row.names or row.setting or row.key for row in entry.spec.native.rows)


@pytest.mark.parametrize("entry", ENTRIES, ids=named)
def test_every_spec_can_be_sent_to_another_machine_by_plain_pickle(entry):
    assert pickle.loads(pickle.dumps(entry.spec)).name == entry.spec.name


@pytest.mark.parametrize("entry", ENTRIES, ids=named)
def test_what_a_setting_says_of_its_own_conditions_is_so(entry):
    known = {setting.name: setting for setting in entry.spec.settings}
    for setting in entry.spec.settings:
        for name, values in setting.only.items():
            assert set(values) <= set(known[name].choices)
            assert f"{name}={values[0]}" in setting.help
        words = re.findall(r"(\w+)=(\w+)[^.;:]* only", setting.help)
        assert {name for name, _ in words} <= {*setting.only}


@pytest.mark.parametrize("entry", ENTRIES, ids=named)
def test_every_setting_is_explained(entry):
    for setting in entry.spec.settings:
        assert setting.help.endswith(".") and len(setting.help) > 20
        assert set(setting.implies) <= set(setting.choices)
        assert set(setting.implies.values()) <= entry.spec.hosts


@pytest.mark.parametrize("entry", ENTRIES, ids=named)
def test_every_entry_says_where_it_comes_from(entry):
    settings = {setting.name: setting.default for setting in entry.spec.settings}
    assert entry.requirements(settings) or bool(entry.needs.apt) != bool(entry.needs.elsewhere)
    assert not entry.needs.binary or entry.needs.version


def test_processes_and_workers_have_the_same_default_everywhere():
    counts = {
        f"{entry.spec.name}:{setting.name}": setting.default
        for entry in ENTRIES
        for setting in entry.spec.settings
        if setting.name in ("processes", "workers")
    }
    assert set(counts.values()) == {2}, counts


def listeners():
    for server in SERVERS:
        for protocol in sorted(server.spec.listens):
            for socket in server.spec.sockets:
                yield pytest.param(server, protocol, socket, id=f"{server.spec.name}-{protocol}-{socket}")


@pytest.mark.parametrize(("server", "protocol", "socket"), list(listeners()))
def test_a_recipe_renders_for_every_way_to_listen(server, protocol, socket, make_site, next_hop):
    for forwarded, sockets in server.spec.forwards.items() or [(None, (Socket.TCP,))]:
        for kind in sockets:
            upstream = next_hop(forwarded, kind, 2 if server.spec.balances else 1) if forwarded else ()
            site = make_site(server.spec.name, listen=next_hop(protocol, socket, 4)[3], upstream=upstream)
            recipe = server.recipe(site)
            everything = " ".join((*recipe.command, *recipe.files.values()))
            assert site.listen.address in everything or str(site.listen.port) in everything
            assert all(endpoint.address.split(":")[-1] in everything for endpoint in upstream)
            assert not any(Path(name).is_absolute() or ".." in name for name in recipe.files)
            assert recipe == server.recipe(site), "a recipe must be pure"


@pytest.mark.parametrize("guest", GUESTS, ids=named)
def test_a_guest_renders_within_each_of_its_servers(guest, make_site):
    for outer in guest.spec.inside:
        recipe = catalogue().server(outer).recipe(make_site(outer, guest=guest.spec.name))
        assert any("stackrace_entry" in text for text in recipe.files.values())


@pytest.mark.parametrize("entry", SERVERS, ids=named)
def test_every_choice_of_every_setting_renders(entry, make_site, next_hop):
    protocol = sorted(entry.spec.listens)[0]
    upstream = next_hop(Protocol.HTTP) if entry.spec.forwards else ()
    for setting in entry.spec.settings:
        values = setting.choices or ((False, True) if isinstance(setting.default, bool) else (setting.minimum,))
        for value in values:
            site = make_site(
                entry.spec.name,
                listen=next_hop(protocol, Socket.TCP)[0],
                upstream=upstream,
                **{setting.name: value},
            )
            assert entry.recipe(site).command


@pytest.mark.parametrize("template", sorted(FOLDER.glob("*/*.j2")), ids=lambda path: path.name)
def test_a_template_is_short_and_opens_with_its_manual(template):
    lines = template.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 40
    assert lines[0].lstrip().startswith("#")
    assert "{% set" not in "\n".join(lines) and "{% macro" not in "\n".join(lines)
