"""Places side by side know what runs on the others."""

from stackrace.deploy.company import Company


def test_a_place_alone_has_no_company():
    company = Company()
    company.join(10, {"postgresql": (11,)})
    company.is_up(10, {"gunicorn": [12]})
    assert company.others(10) == {}
    assert company.supervisors == [10]


def test_what_is_up_and_served_elsewhere_is_known_under_names_that_no_stack_has():
    company = Company()
    company.join(10, {"postgresql": (11,)})
    company.join(20, {"postgresql": (21,)})
    company.is_up(20, {"gunicorn": [22, 23]})
    assert company.others(10) == {"20/postgresql": (21,), "20/gunicorn": [22, 23]}
    company.is_up(20, {})
    assert company.others(10) == {"20/postgresql": (21,)}
    assert company.others(20) == {"10/postgresql": (11,)}
