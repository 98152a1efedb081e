from stackrace.features.recordings.recorded.skip import Skip, Skips


def test_only_what_was_met_is_counted():
    skips = Skips()
    assert skips.most_frequent() is None
    for place, reason in enumerate([Skip.METHOD, Skip.SCHEME, Skip.METHOD], 1):
        skips.count(reason, place)
    assert skips.most_frequent() == (Skip.METHOD, 1)
    assert list(skips.counts().items()) == [(Skip.SCHEME, 1), (Skip.METHOD, 2)]
