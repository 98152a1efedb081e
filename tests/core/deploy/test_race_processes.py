"""Places side by side know what runs on the others."""

from stackrace.deploy.place import RaceProcesses


def test_a_place_alone_has_no_others():
    processes = RaceProcesses()
    processes.join(10, {"postgresql": (11,)})
    processes.is_up(10, {"gunicorn": [12]})
    assert processes.others(10) == {}
    assert processes.supervisors == [10]


def test_what_is_up_and_served_elsewhere_is_known_under_names_that_no_stack_has():
    processes = RaceProcesses()
    processes.join(10, {"postgresql": (11,)})
    processes.join(20, {"postgresql": (21,)})
    processes.is_up(20, {"gunicorn": [22, 23]})
    assert processes.others(10) == {"20/postgresql": (21,), "20/gunicorn": [22, 23]}
    processes.is_up(20, {})
    assert processes.others(10) == {"20/postgresql": (21,)}
    assert processes.others(20) == {"10/postgresql": (11,)}
