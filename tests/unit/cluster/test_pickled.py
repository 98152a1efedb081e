"""What is sent to many arrives as itself, pickled once."""

import pickle

from stackrace.cluster.pickled import pickled


class Costly:
    times = 0

    def __reduce__(self):
        Costly.times += 1
        return Costly, ()


def test_it_arrives_as_itself_however_often_it_is_sent():
    value = pickled(Costly())
    arrived = [pickle.loads(pickle.dumps((index, value))) for index in range(3)]
    assert [index for index, _ in arrived] == [0, 1, 2]
    assert all(isinstance(one, Costly) for _, one in arrived)
    assert Costly.times == 1
