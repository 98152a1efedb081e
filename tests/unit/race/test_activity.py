from stackrace.race.events import Activity


def test_only_a_measurement_must_not_be_disturbed():
    assert [activity for activity in Activity if activity.must_not_be_disturbed] == [Activity.MEASURING]
