"""The two requests of a check."""

from pathlib import Path

import pytest

from stackrace.base.errors import InputError
from stackrace.features.regression.variants import VariantRequest, variants
from stackrace.race.request.request import RaceRequest
from stackrace.stacks.stack import Side

NOTHING = {Side.BASE: VariantRequest(), Side.HEAD: VariantRequest()}


def test_the_base_is_the_same_request_in_another_folder(work):
    work.write("api/settings.py")
    work.commit()
    work.write("api/views.py")
    work.commit()
    request = RaceRequest(
        folder=work.folder / "api", static={"/static/": work.folder / "static"}, session=Path("/elsewhere.har"),
        protect=(Path("/var/lib/shop"), work.folder / "media"),
    )  # fmt: skip
    with variants(request, "HEAD~1", NOTHING) as both:
        base, head = both.sides[Side.BASE], both.sides[Side.HEAD]
        tree = both.moved[1]
        assert base.request.folder == tree / "api"
        assert base.request.static == {"/static/": tree / "static"}
        assert base.request.protect == (Path("/var/lib/shop"), tree / "media")
        assert base.request.session == request.session
        assert head.request == request
        assert base.contender.label == "HEAD~1"
        assert base.contender.revision == work.git("rev-parse", "HEAD~1")
        assert (head.contender.revision, head.contender.changed) == (work.git("rev-parse", "HEAD"), 0)
    assert not tree.exists()


def test_a_dirty_work_tree_is_raced_as_it_stands_and_that_is_said(work):
    work.write("app.py", "version = 3\n")
    with variants(RaceRequest(folder=work.folder), None, NOTHING) as both:
        assert both.sides[Side.HEAD].contender.changed == 1
        assert both.sides[Side.BASE].contender.label == "HEAD"


@pytest.mark.exhaustive
def test_sides_that_want_other_packages_are_alike_where_nothing_else_differs(work):
    work.commit(requirements_txt="flask==3.1.2\n")
    work.write("requirements.txt", "flask==3.0.3\n")
    request = RaceRequest(folder=work.folder)
    with variants(request, None, NOTHING) as both:
        assert both.alike
    given = {**NOTHING, Side.HEAD: VariantRequest(environment={"FEATURE": "on"})}
    with variants(request, "HEAD", given) as both:
        assert not both.alike
    work.write("new.py", "")
    with variants(request, "HEAD", NOTHING) as both:
        assert not both.alike


def test_a_commit_is_not_compared_with_itself(work):
    with (
        pytest.raises(InputError, match="nothing to compare: the work tree is HEAD"),
        variants(RaceRequest(folder=work.folder), "HEAD", NOTHING),
    ):
        pass


def test_a_base_without_the_apps_folder_is_refused(work):
    work.write("api/app.py")
    work.commit()
    with (
        pytest.raises(InputError, match="has no folder api"),
        variants(RaceRequest(folder=work.folder / "api"), "HEAD~1", NOTHING),
    ):
        pass


@pytest.mark.parametrize(
    ("own", "field"),
    [
        (VariantRequest(python=Path("python3.13")), "python"),
        (VariantRequest(settings="shop.fast"), "entry"),
        (VariantRequest(stack="uwsgi"), "stacks"),
        (VariantRequest(environment={"FAST": "1"}), "environment"),
    ],
)
def test_what_one_side_has_of_its_own_is_compared_in_one_tree(tmp_path, own, field):
    request = RaceRequest(folder=tmp_path)
    with variants(request, None, {Side.BASE: VariantRequest(), Side.HEAD: own}) as both:
        assert both.moved is None
        base, head = (both.sides[side].request for side in (Side.BASE, Side.HEAD))
        assert base == request
        assert getattr(head, field) != getattr(base, field)
        assert both.sides[Side.BASE].contender.label == "as it is"
        assert both.sides[Side.HEAD].contender.label in ("python3.13", "shop.fast", "uwsgi", "its own FAST")


def test_alike_sides_of_one_tree_are_refused(tmp_path):
    alike = VariantRequest(stack="uwsgi")
    with (
        pytest.raises(InputError, match="given alike"),
        variants(RaceRequest(folder=tmp_path), None, {Side.BASE: alike, Side.HEAD: alike}),
    ):
        pass
