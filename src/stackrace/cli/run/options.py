"""The options of ``stackrace run`` that say how a race is run; each is named like a field of ``RaceRequest``."""

from __future__ import annotations

from pathlib import Path

import click

from ...base.units import DURATION, PERCENT, SIZE
from ...race.request.request import MOST_SEED
from ...stats.values import Question
from ..names import complete_stack
from ..options import Connections, Cores, Quantity
from ..sections import section

__all__ = [
    "BUDGET_OPTIONS",
    "CURRENT_OPTIONS",
    "LOAD_OPTIONS",
    "QUESTION_OPTIONS",
    "RUN_OPTIONS",
    "question",
    "stack_option",
]

_stacks = section("What is raced")
_load = section("The load")
question = section("The question, and the time for it")
_resources = section("What every stack gets")

stack_option = _stacks(
    "--stack",
    "stacks",
    multiple=True,
    metavar="PATH",
    shell_complete=complete_stack,
    help="Stack to race. Repeat it for more; see `stackrace stacks`. Default: the most used that are ready, "
    "at most seven, fewer for a slow page.",
)

CURRENT_OPTIONS = (
    _stacks(
        "--current",
        metavar="FILE",
        type=click.Path(path_type=Path, exists=True, dir_okay=False),
        help="Deployment file that says what you run today: a Procfile, compose file, systemd unit … Default: the "
        "likeliest one in the project.",
    ),
    _stacks(
        "--no-current",
        "no_current",
        is_flag=True,
        help="Leave out what you run today. Default: it races beside the others.",
    ),
)

LOAD_OPTIONS = (
    _load(
        "-c",
        "--concurrency",
        multiple=True,
        type=Connections(20_000, levels=True),
        help="Connections. Repeat it for more load levels. Default: 1, 10 and 100, fewer for a slow page.",
    ),
    _load(
        "--close",
        "keep_alive",
        is_flag=True,
        flag_value=False,
        default=True,
        help="Open a new connection for every request (no keep-alive).",
    ),
    question(
        "--budget",
        "budget_s",
        type=Quantity(DURATION),
        help="Time to spend, such as 60s or 20min. Default: 3min.",
    ),
    question(
        "--slice", "slice_s", type=Quantity(DURATION), help="Length of a slice. Default: fitted to page and budget."
    ),
    _load(
        "--session",
        metavar="FILE",
        type=click.Path(path_type=Path, exists=True, dir_okay=False),
        help="Replay a HAR file or an access log instead of URLs. Each connection is a visitor.",
    ),
    _load("--think", is_flag=True, help="Keep the pauses of --session. Default: leave them out."),
)

RUN_OPTIONS = (
    _load(
        "--requests",
        "run_requests",
        metavar="N",
        type=click.IntRange(1),
        help="Length of a run in requests, with --repeats.",
    ),
    _load("--duration", "run_s", type=Quantity(DURATION), help="Length of a run in time (10s), with --repeats."),
    _load(
        "--repeats",
        metavar="N",
        type=click.IntRange(1),
        help="Make N cold runs of each stack at each level, each on a fresh launch, as published comparisons did. "
        "Default: warm slices, as many as the budget holds.",
    ),
    question(
        "--no-twin",
        "twin",
        is_flag=True,
        flag_value=False,
        default=True,
        help="No hidden twin. Default: one stack runs twice, and the race is void if the two differ.",
    ),
)

BUDGET_OPTIONS = (
    _resources(
        "--cluster",
        metavar="SCHEDULER",
        help="Race on the workers of this Dask cluster, as in tcp://10.0.0.1:8786. Default: on this machine.",
    ),
    _resources(
        "--cluster-project",
        type=click.Path(path_type=Path),
        metavar="FOLDER",
        help="Where the project lies on all hosts of the cluster. Default: in the same folder as here.",
    ),
    _resources(
        "--cores",
        type=Cores(),
        metavar="LIST",
        help="Cores of every stack, such as 0-3 or 0,2. Default: all but the load engine's.",
    ),
    _resources(
        "--engine-cores",
        type=Cores(),
        metavar="LIST",
        help="Cores of the load engine. Default: one, with all its threads.",
    ),
    _resources(
        "--memory",
        "memory_bytes",
        type=Quantity(SIZE),
        callback=lambda context, option, size: None if size is None else int(size),
        metavar="SIZE",
        help="Memory limit of every stack, such as 512MiB or 2GiB. A stack above it is out. Default: no limit.",
    ),
    _resources(
        "--quota",
        is_flag=True,
        help="The CPU quota of this container is intended: its throttling only gives a warning.",
    ),
    _resources(
        "--no-priority",
        "priority",
        is_flag=True,
        flag_value=False,
        default=True,
        help="Leave engine and stacks at the usual priority. Default: nice -20 where that is allowed (root, "
        "CAP_SYS_NICE), so that other programs cannot disturb the race.",
    ),
)
"""What every stack gets."""

QUESTION_OPTIONS = (
    question(
        "--question",
        type=click.Choice([question.value for question in Question]),
        callback=lambda context, option, question: None if question is None else Question(question),
        help="What to answer. Default: winner.",
    ),
    question(
        "--difference",
        type=Quantity(PERCENT, most=1.0),
        help="Smaller differences do not matter to you. Default: 5%.",
    ),
    question(
        "--seed",
        type=click.IntRange(0, MOST_SEED),
        metavar="N",
        help="Repeat the order of another race. Default: random.",
    ),
)
