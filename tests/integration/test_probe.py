"""The probe on a family like a server's: a root that forks workers and replaces one while it is measured."""

import os
import time

from tests.core.measure.probe.children import child, says, tell, wait_until
from tests.core.validity.healthy import healthy

from stackrace.measure.probe import MemoryWatch, Sampler, difference, read_machine
from stackrace.validity.registry import examine

SERVER = """
def worker():
    say()
    sys.stdin.readline()
    burn(0.2)
    os._exit(0)

def hire():
    if os.fork() == 0:
        worker()

hire()
hire()
os.wait()
hire()
say("replaced")
time.sleep(60)
"""


def test_a_slice_of_a_server_that_recycles_a_worker():
    with child(SERVER) as server:
        says(server)
        says(server)
        sampler = Sampler({"server": [server.pid]}, os.getpid())
        with MemoryWatch(sampler, time.monotonic()) as watch:
            machine = read_machine()
            sampler.begin()
            tell(server)
            while says(server) != "replaced":
                pass
            wait_until(lambda: len(watch.samples) >= 1)
            usage = sampler.end()
            delta = difference(machine, read_machine())
        assert usage[0].processes == 3
        assert usage[0].cpu_s >= 0.15
        assert usage[0].pss_bytes > 0
        assert delta.elapsed_s > 0
        examine(healthy(usage=usage, machine=delta))
