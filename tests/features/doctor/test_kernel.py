"""Settings as files."""

import pytest
from tests.features.doctor.machines import GOVERNORS, kernel_of

from stackrace.features.doctor.kernel import Kernel


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
