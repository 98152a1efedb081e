"""Every format has its module and its exporter, and is told what it is."""

import pytest
from tests.factories import make_race, make_standing

from stackrace.report.exporter import Format, render


@pytest.mark.parametrize("form", Format)
def test_every_format_is_written_by_the_module_of_its_name(form):
    race = make_race(2)
    server = race.stacks[0].partition("/")[0]
    assert server in render(race, make_standing(race), form.value)
    assert form.about


def test_a_format_that_is_none_is_refused():
    race = make_race(2)
    with pytest.raises(ValueError, match="'pdf' is not a valid Format"):
        render(race, make_standing(race), "pdf")
