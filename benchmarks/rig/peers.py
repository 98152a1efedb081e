"""The other load generators: how each is told its job, and what its output says.

Each one is given its best: keep-alive, one thread, the output with the most digits that it has.
"""

from __future__ import annotations

import csv
import json
import math
import re
from pathlib import Path

from .generator import Ended, Generator, Job, NotUnderstoodError, Seen, of_sorted

_ENDLESS = 100_000_000

# wrk prints three digits; to a script it tells microseconds.
_WRK_SCRIPT = """
function done(summary, latency, requests)
  local e = summary.errors
  local function quantile(q)
    return latency:percentile(q) / 1e6
  end
  io.write(string.format('{"requests": %d, "seconds": %.6f, ', summary.requests, summary.duration / 1e6))
  io.write(string.format('"p50": %.6f, "p90": %.6f, ', quantile(50), quantile(90)))
  io.write(string.format('"p99": %.6f, "p999": %.6f, ', quantile(99), quantile(99.9)))
  io.write(string.format('"max": %.6f, ', latency.max / 1e6))
  io.write(string.format('"errors": %d}', e.connect + e.read + e.write + e.status + e.timeout))
end
"""


def _whole_seconds(job: Job) -> int:
    return max(1, math.ceil(job.seconds))


def _wrk_command(job: Job, folder: Path) -> list[str]:
    script = folder / "done.lua"
    script.write_text(_WRK_SCRIPT, encoding="utf-8")
    options = ["-t1", f"-c{job.connections}", f"-d{_whole_seconds(job)}s", "-s", str(script)]
    return ["wrk", *options, f"http://{job.address}/"]


def _wrk_parse(ended: Ended, _: Path) -> Seen:
    lines = ended.output.splitlines()
    if not lines or not lines[-1].startswith("{"):
        raise NotUnderstoodError("no line of JSON at the end")
    return Seen(**json.loads(lines[-1]))


def _ab_command(job: Job, folder: Path) -> list[str]:
    bound = ["-n", str(job.requests)] if job.requests else ["-t", str(_whole_seconds(job)), "-n", str(_ENDLESS)]
    options = ["-k", "-q", "-c", str(job.connections), *bound, "-e", str(folder / "ab.csv")]
    return ["ab", *options, f"http://{job.address}/"]


def _ab_parse(ended: Ended, folder: Path) -> Seen:
    with (folder / "ab.csv").open(encoding="utf-8", newline="") as file:
        percents = {row[0]: float(row[1]) / 1e3 for row in list(csv.reader(file))[1:]}
    return Seen(
        requests=int(_number(r"Complete requests:\s+(\d+)", ended.output)),
        errors=int(_number(r"Failed requests:\s+(\d+)", ended.output)),
        seconds=_number(r"Time taken for tests:\s+([\d.]+)", ended.output),
        p50=percents["50"],
        p90=percents["90"],
        p99=percents["99"],
        max=percents.get("100"),
    )


def _h2load_command(job: Job, folder: Path) -> list[str]:
    bound = ["-n", str(job.requests)] if job.requests else ["-D", str(_whole_seconds(job))]
    options = ["-p", "http/1.1", "-t1", f"-c{job.connections}", *bound, f"--log-file={folder / 'log'}"]
    return ["h2load", *options, f"http://{job.address}/"]


def _h2load_parse(ended: Ended, folder: Path) -> Seen:
    """Its table has no quantiles, but its log has every request in microseconds."""
    with (folder / "log").open(encoding="utf-8") as file:
        times_s = sorted(int(line.rsplit("\t", 1)[1]) / 1e6 for line in file)
    match = re.search(r"(\d+) succeeded, (\d+) failed, (\d+) errored, (\d+) timeout", ended.output)
    if match is None:
        raise NotUnderstoodError("no line of counts")
    succeeded, failed, errored, timeout = (int(group) for group in match.groups())
    # "failed" holds those that are errored; in a timed run, also those under way at its end.
    return Seen(
        requests=succeeded,
        errors=max(failed, errored + timeout),
        seconds=_h2load_seconds(ended.output),
        p50=of_sorted(times_s, 0.5),
        p90=of_sorted(times_s, 0.9),
        p99=of_sorted(times_s, 0.99),
        p999=of_sorted(times_s, 0.999),
        max=of_sorted(times_s, 1.0),
    )


def _h2load_seconds(output: str) -> float:
    match = re.search(r"finished in ([\d.]+)(us|ms|s|min)", output)
    if match is None:
        raise NotUnderstoodError("no duration")
    return float(match[1]) * {"us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0}[match[2]]


def _oha_command(job: Job, _: Path) -> list[str]:
    bound = ["-n", str(job.requests)] if job.requests else ["-z", f"{job.seconds:g}s"]
    rate = ["-q", f"{job.rate_per_s:g}", "--latency-correction"] if job.rate_per_s else []
    options = ["--no-tui", "--output-format", "json", "-c", str(job.connections), *bound, *rate]
    return ["oha", *options, f"http://{job.address}/"]


def _oha_parse(ended: Ended, _: Path) -> Seen:
    report = json.loads(ended.output)
    summary, percents = report["summary"], report["latencyPercentiles"]
    return Seen(
        requests=sum(report["statusCodeDistribution"].values()),
        errors=sum(report["errorDistribution"].values()),
        seconds=summary["total"],
        p50=percents["p50"],
        p90=percents["p90"],
        p99=percents["p99"],
        p999=percents["p99.9"],
        max=summary["slowest"],
    )


def _siege_command(job: Job, folder: Path) -> list[str]:
    """Its settings are a file; without it, each run would write one into the user's home."""
    settings = folder / "siegerc"
    lines = ["quiet = true", "json_output = true", "parser = false", "connection = keep-alive"]
    lines += ["logging = false", f"limit = {max(255, job.connections)}", "benchmark = true"]
    settings.write_text("\n".join(lines) + "\n", encoding="utf-8")
    bound = f"-r{max(1, job.requests // job.connections)}" if job.requests else f"-t{_whole_seconds(job)}S"
    return ["siege", "-R", str(settings), "-q", "-b", "-j", f"-c{job.connections}", bound, f"http://{job.address}/"]


def _siege_parse(ended: Ended, _: Path) -> Seen:
    """It keeps a mean and a maximum in hundredths of a second."""
    report = json.loads(ended.output[ended.output.index("{") : ended.output.rindex("}") + 1])
    return Seen(
        requests=report["transactions"],
        errors=report["failed_transactions"],
        seconds=report["elapsed_time"],
        max=report["longest_transaction"],
    )


def _number(pattern: str, text: str) -> float:
    match = re.search(pattern, text)
    if match is None:
        raise NotUnderstoodError(f"nothing like {pattern}")
    return float(match[1])


WRK = Generator(name="wrk", tool="wrk", command=_wrk_command, parse=_wrk_parse)
OHA = Generator(name="oha", tool="oha", command=_oha_command, parse=_oha_parse)
H2LOAD = Generator(name="h2load", tool="h2load", command=_h2load_command, parse=_h2load_parse)
AB = Generator(name="ab", tool="ab", command=_ab_command, parse=_ab_parse)
SIEGE = Generator(name="siege", tool="siege", command=_siege_command, parse=_siege_parse)
_PEERS = (WRK, OHA, H2LOAD, AB, SIEGE)


def peers_at_hand() -> tuple[Generator, ...]:
    """Return the peers that are installed, and say which are not."""
    for peer in _PEERS:
        if not peer.is_installed:
            print(f"skipped: {peer.name} is not installed")
    return tuple(peer for peer in _PEERS if peer.is_installed)
