"""A slice whose bytes fill the network says nothing about the stack, whichever way they go."""

from tests.core.validity.healthy import healthy, result
from tests.factories import make_path

from stackrace.measure.load import EngineShare
from stackrace.report.words import findings as say
from stackrace.validity.registry import examine

MIB = 2**20


def told(shares, paths):
    seen = healthy(result=result(engines=shares), network=paths)
    return [say.seen(finding) for finding in examine(seen).findings if finding.check == "network-full"]


def share(name, *, read=0, written=0):
    """What an engine moved in each of the slice's two seconds, in MiB."""
    return EngineShare(name=name, connections=10, bytes_read=2 * read * MIB, bytes_written=2 * written * MIB)


def test_answers_fill_the_way_to_the_engine():
    assert told((share("far", read=90),), (make_path(),)) == [
        "90.0 MiB/s went from host to far, 90 % of what the network carries there: it was the limit, not the stack"
    ]


def test_requests_fill_the_way_to_the_host():
    [said] = told((share("far", read=50, written=45),), (make_path(),))
    assert said.startswith("45.0 MiB/s went from far to host, 90 %")


def test_engines_that_are_fine_alone_fill_the_line_of_their_host_together():
    paths = tuple(make_path(engine=name, host_sends_bytes_per_s=100.0 * MIB) for name in ("one", "two"))
    shares = (share("one", read=45), share("two", read=45))
    assert told(shares, paths)[0].startswith("90.0 MiB/s went from host to one, two, 90 %")
    assert not told((share("one", read=30), share("two", read=45)), paths)


def test_nothing_is_said_where_the_network_was_not_measured():
    assert not told((share("far", read=90),), ())
    unknown = make_path(engine_takes_bytes_per_s=0.0, host_sends_bytes_per_s=0.0)
    assert not told((share("far", read=90),), (unknown,))
