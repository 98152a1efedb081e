"""Which values of a setting are tried."""

from stackrace.stacks.setting import Formula, Setting, Tunable


def test_numbers_grow_by_about_the_same_factor_up_to_what_the_cores_allow():
    assert Tunable(per_core=8).tried(2) == (1, 2, 3, 5, 9, 16)
    assert Tunable(per_core=8).tried(1) == (1, 2, 3, 5, 8)


def test_the_most_bounds_what_grows_with_the_cores():
    assert Tunable(per_core=8, most=20).tried(64)[-1] == 20


def test_named_values_are_tried_as_they_are():
    assert Tunable(values=("sync", "gthread")).tried(4) == ("sync", "gthread")


def test_a_setting_is_tuned_only_beside_the_values_it_depends_on():
    only = {"class": ("gthread",)}
    does_nothing = Setting(name="threads", default=4, help="", only=only, tunable=Tunable(most=8))
    is_never_tried = Setting(name="threads", default=4, help="", tunable=Tunable(most=8, only=only))
    for setting in (does_nothing, is_never_tried):
        assert setting.is_tuned({"class": "gthread"})
        assert not setting.is_tuned({"class": "sync"})
    assert is_never_tried.applies({"class": "sync"})
    assert does_nothing.applies({})
    assert not Setting(name="threads", default=4, help="").is_tuned({})


def test_a_formula_is_written_as_people_write_it():
    assert str(Formula(per_core=2, plus=1)) == "2n + 1"
    assert str(Formula(per_core=1)) == "n"
    assert Formula(per_core=2, plus=1).value(4) == 9
