"""Settings as files, applied and undone: no crash, refusal or other program loses a former value."""

import json

import pytest
from tests.features.doctor.machines import GOVERNORS, kernel_of

from stackrace.base.errors import InputError
from stackrace.features.doctor import kernel as module
from stackrace.features.doctor.advice import Change
from stackrace.features.doctor.kernel import Kernel, Record, State, apply, undo


def test_values_lose_their_white_space_and_choices_are_the_chosen_one(tmp_path):
    kernel = kernel_of(
        tmp_path, {"net.ipv4.ip_local_port_range": "32768\t60999", "/sys/x": "always [madvise] never"}
    )
    assert kernel.read("net.ipv4.ip_local_port_range") == "32768 60999"
    assert kernel.read("/sys/x") == "madvise"
    assert kernel.read("vm.nothing") is None


def test_a_shorter_value_replaces_a_longer_one(tmp_path):
    kernel = kernel_of(tmp_path, {"vm.swappiness": "100"})
    kernel.write("vm.swappiness", "1")
    assert kernel.read("vm.swappiness") == "1"


def test_no_setting_is_invented(tmp_path):
    with pytest.raises(FileNotFoundError):
        Kernel(tmp_path).write("vm.nothing", "1")


def test_governors_are_found_by_policy(tmp_path):
    assert Kernel(tmp_path).governors() == ()
    assert kernel_of(tmp_path, dict.fromkeys(GOVERNORS, "powersave")).governors() == GOVERNORS


QUEUE, PORTS, THP = (
    "net.core.somaxconn",
    "net.ipv4.ip_local_port_range",
    "/sys/kernel/mm/transparent_hugepage/enabled",
)
VALUES = {QUEUE: "128", PORTS: "32768\t60999", THP: "[always] madvise never"}
CHANGES = (
    Change(key=QUEUE, before="128", after="4096"),
    Change(key=PORTS, before="32768 60999", after="10240 65535"),
    Change(key=THP, before="always", after="madvise"),
)


class Refusing(Kernel):
    """A kernel that does not let ``keys`` be written."""

    keys: tuple[str, ...] = ()

    def write(self, key, value):
        if key in self.keys:
            raise PermissionError(13, "Permission denied")
        super().write(key, value)


class Crashing(Kernel):
    """A kernel whose machine fails at the second change."""

    writes = 0

    def write(self, key, value):
        self.writes += 1
        if self.writes == 2:
            raise KeyboardInterrupt
        super().write(key, value)


@pytest.fixture
def kernel(tmp_path):
    return kernel_of(tmp_path / "root", VALUES)


@pytest.fixture
def record(tmp_path):
    return Record(tmp_path / "data")


def values(kernel):
    return [kernel.read(key) for key in VALUES]


def states(outcomes):
    return {outcome.change.key: outcome.state for outcome in outcomes}


def test_what_is_applied_is_undone_exactly_and_the_record_goes(kernel, record):
    assert set(states(apply(kernel, record, CHANGES)).values()) == {State.DONE}
    assert values(kernel) == ["4096", "10240 65535", "madvise"]
    assert record.path.exists()
    assert set(states(undo(kernel, record)).values()) == {State.DONE}
    assert values(kernel) == ["128", "32768 60999", "always"]
    assert not record.path.exists()


def test_the_record_is_on_the_disk_before_the_first_change(tmp_path, kernel, record):
    crashing = Crashing(tmp_path / "root")
    with pytest.raises(KeyboardInterrupt):
        apply(crashing, record, CHANGES)
    assert values(kernel) == ["4096", "32768 60999", "always"]
    assert [row["before"] for row in json.loads(record.path.read_text())["changes"]] == [
        "128",
        "32768 60999",
        "always",
    ]
    undone = states(undo(kernel, record))
    assert undone == {QUEUE: State.DONE, PORTS: State.ALREADY, THP: State.ALREADY}
    assert values(kernel) == ["128", "32768 60999", "always"]
    assert not record.path.exists()


def test_applying_twice_keeps_the_first_former_values(kernel, record):
    apply(kernel, record, CHANGES[:1])
    assert states(apply(kernel, record, CHANGES)) == {QUEUE: State.ALREADY, PORTS: State.DONE, THP: State.DONE}
    apply(kernel, record, [Change(key=QUEUE, before="4096", after="8192")])
    assert kernel.read(QUEUE) == "8192"
    undo(kernel, record)
    assert values(kernel) == ["128", "32768 60999", "always"]


def test_a_crash_between_two_changes_of_one_setting_still_knows_all_its_values(tmp_path, kernel, record):
    apply(kernel, record, CHANGES[:1])
    crashing = Crashing(tmp_path / "root")
    crashing.writes = 1
    with pytest.raises(KeyboardInterrupt):
        apply(crashing, record, [Change(key=QUEUE, before="4096", after="8192")])
    assert kernel.read(QUEUE) == "4096"
    assert states(undo(kernel, record)) == {QUEUE: State.DONE}
    assert kernel.read(QUEUE) == "128"


def test_what_another_program_changed_meanwhile_is_left_alone_and_remembered(kernel, record):
    apply(kernel, record, CHANGES)
    kernel.write(QUEUE, "777")
    assert states(apply(kernel, record, CHANGES))[QUEUE] is State.FOREIGN
    first = {outcome.change.key: outcome for outcome in undo(kernel, record)}
    assert (first[QUEUE].state, first[QUEUE].now, first[QUEUE].change.after) == (State.FOREIGN, "777", "128")
    assert values(kernel) == ["777", "32768 60999", "always"]
    assert record.path.exists()
    kernel.write(QUEUE, "128")
    assert states(undo(kernel, record)) == {QUEUE: State.ALREADY}
    assert not record.path.exists()


def test_without_rights_nothing_is_changed_and_nothing_recorded(tmp_path, kernel, record):
    refusing = Refusing(tmp_path / "root")
    refusing.keys = (QUEUE, PORTS, THP)
    outcomes = apply(refusing, record, CHANGES)
    assert {(outcome.state, outcome.reason) for outcome in outcomes} == {(State.REFUSED, "Permission denied")}
    assert not record.path.exists()
    assert undo(kernel, record) == ()


def test_one_refusal_does_not_hinder_the_others(tmp_path, kernel, record):
    refusing = Refusing(tmp_path / "root")
    refusing.keys = (PORTS,)
    apply(refusing, record, CHANGES)
    assert [row["key"] for row in json.loads(record.path.read_text())["changes"]] == [QUEUE, THP]
    refusing.keys = (QUEUE,)
    assert states(undo(refusing, record)) == {QUEUE: State.REFUSED, THP: State.DONE}
    assert states(undo(kernel, record)) == {QUEUE: State.DONE}
    assert values(kernel) == ["128", "32768 60999", "always"]


def test_a_setting_that_does_not_exist_is_refused(kernel, record):
    (outcome,) = apply(kernel, record, [Change(key="vm.nothing", before="0", after="1")])
    assert (outcome.state, outcome.reason) == (State.REFUSED, "there is no such setting")


def test_settings_of_another_network_namespace_are_undone_there_only(monkeypatch, kernel, record):
    apply(kernel, record, CHANGES)
    monkeypatch.setattr(module, "_namespace", lambda: "net:[1]")
    with pytest.raises(InputError, match="another network namespace"):
        apply(kernel, record, CHANGES)
    assert states(undo(kernel, record)) == {QUEUE: State.ELSEWHERE, PORTS: State.ELSEWHERE, THP: State.DONE}
    monkeypatch.undo()
    undo(kernel, record)
    assert values(kernel) == ["128", "32768 60999", "always"]


def test_a_boot_undoes_everything_whatever_settings_came_with_it(monkeypatch, kernel, record):
    apply(kernel, record, CHANGES)
    kernel.write(QUEUE, "1024")
    monkeypatch.setattr(module, "_boot", lambda: "the next")
    (again,) = apply(kernel, record, [Change(key=QUEUE, before="1024", after="4096")])
    assert again.state is State.DONE
    assert [(change.key, change.before) for change in record.read().changes] == [(QUEUE, "1024")]
    monkeypatch.setattr(module, "_boot", lambda: "the one after that")
    assert undo(kernel, record) == ()
    assert not record.path.exists()
    assert kernel.read(QUEUE) == "4096"


def test_a_second_doctor_is_kept_out(kernel, record):
    with record.locked(), pytest.raises(InputError, match="another stackrace doctor"):
        apply(kernel, record, CHANGES)


@pytest.mark.parametrize("text", ["", "[]", '{"version": 2}', '{"version": 1, "changes": [{}]}'])
def test_a_damaged_record_is_told_and_not_overwritten(kernel, record, text):
    record.path.parent.mkdir()
    record.path.write_text(text)
    for act in (lambda: apply(kernel, record, CHANGES), lambda: undo(kernel, record)):
        with pytest.raises(InputError, match=r"doctor\.json is damaged"):
            act()
    assert record.path.read_text() == text
    assert values(kernel) == ["128", "32768 60999", "always"]


def test_a_folder_that_cannot_be_written_stops_everything(tmp_path, kernel):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="nothing was changed"):
        apply(kernel, Record(tmp_path / "file" / "data"), CHANGES)
    assert kernel.read(QUEUE) == "128"
