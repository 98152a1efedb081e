import ast
from keyword import kwlist
from shlex import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackrace.app.app import EntryKind, entry_of, parse_target
from stackrace.base.errors import InputError

names = st.from_regex(r"[a-z_][a-z0-9_]{0,8}", fullmatch=True).filter(lambda name: name not in ("py", *kwlist))
dotted = st.lists(names, min_size=1, max_size=3).map(".".join)
literals = st.one_of(st.integers(), st.booleans(), st.none(), st.text(max_size=5))


@given(dotted)
def test_a_dotted_name_is_a_settings_module(module):
    assert entry_of(EntryKind.DJANGO, module).target == module


@given(dotted, dotted, st.one_of(st.none(), st.lists(literals, max_size=3)))
def test_a_target_reads_back_as_it_was_written(module, name, arguments):
    call = "" if arguments is None else "(" + ", ".join(map(repr, arguments)) + ")"
    target = parse_target(EntryKind.WSGI, f"{module}:{name}{call}")
    assert (target.module, target.name) == (module, name)
    assert (target.arguments is None) == (arguments is None)
    if arguments:
        assert ast.literal_eval(f"[{target.arguments}]") == arguments
    assert parse_target(EntryKind.WSGI, str(target)) == target


def test_a_factory_may_take_literal_keyword_arguments():
    assert parse_target(EntryKind.ASGI, "pkg:create_app(debug=False)").arguments == "debug=False"


@pytest.mark.parametrize(
    ("kind", "target"),
    [(EntryKind.RACK, "config.ru"), (EntryKind.RACK, "shop/config.ru"), (EntryKind.FILES, "public/")],
)
def test_a_rackup_file_and_a_folder_are_paths(kind, target):
    assert entry_of(kind, f" {target} ").target == target


@pytest.mark.parametrize(
    ("kind", "target", "right"),
    [
        (EntryKind.RACK, "", "config.ru"),
        (EntryKind.FILES, "a\0b", "public/"),
        (EntryKind.DJANGO, "mysite/settings.py", "mysite.settings"),
        (EntryKind.DJANGO, "", "mysite.settings"),
        (EntryKind.DJANGO, "my-site.settings", "mysite.settings"),
        (EntryKind.WSGI, "notes", "notes:app"),
        (EntryKind.WSGI, "./notes.py", "notes:app"),
        (EntryKind.WSGI, "notes/web.py:create_app", "notes.web:create_app"),
        (EntryKind.WSGI, "notes.py:app", "notes:app"),
        (EntryKind.DJANGO, "settings.py", "settings"),
        (EntryKind.WSGI, "notes:", "notes:app"),
        (EntryKind.WSGI, "notes:create(open('x'))", "notes:create()"),
        (EntryKind.WSGI, "notes:app + 1", "notes:app"),
        (EntryKind.WSGI, "notes:a()()", "notes:app"),
        (EntryKind.WSGI, "import:app", "package.module:app"),
        (EntryKind.ASGI, "notes:class", "notes:app"),
    ],
)
def test_a_wrong_spelling_is_refused_with_a_right_one(kind, target, right):
    with pytest.raises(InputError) as raised:
        entry_of(kind, target)
    assert f'{kind} = "{right}"' in raised.value.message
    assert f"--{kind} {quote(right)}" in raised.value.message
