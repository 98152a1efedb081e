"""What a container, a virtual machine and an emulated processor mean for the figures."""

import math

import pytest

from stackrace.race.preparation.machine_notes import machine_notes


@pytest.mark.parametrize(
    ("virtual", "emulated_by", "granted", "beginnings"),
    [
        ("", "", math.inf, ()),
        ("", "", 4.0, ()),
        ("container in a virtual machine", "", math.inf, ("Measured in a container in a virtual machine: others",)),
        ("container", "QEMU", 1.5, (
            "Measured in a container: others share its hardware and its clock.",
            "QEMU emulates the processor",
            "A quota grants this race the CPU time of 1.50 of the 4 cores",
        )),
    ],
)  # fmt: skip
def test_each_property_has_a_note(virtual, emulated_by, granted, beginnings):
    notes = tuple(machine_notes(virtual, emulated_by, granted, 4))
    assert len(notes) == len(beginnings)
    assert all(note.startswith(start) for note, start in zip(notes, beginnings, strict=True)), notes
