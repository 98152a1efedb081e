"""Races on several machines at once: one block on each makes a round, and after each round the race may end."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from stackrace.stats.machines import SHIFT_ALPHA, shifts
from stackrace.stats.pairs import Counts, Flags
from stackrace.stats.selection import last_look, selected

from ..noise import Array
from .drawn import DELTA, LAST, Cell, Chunk, chunks

SPEED_SD = 0.03
"""Machines differ by so much in what they do to all stacks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Machines:
    """Of the races of a cell, the share ``wrong``: a winner over δ behind the best in the mean of what counted.

    ``refused`` is the share in which the last round left out some machine, ``rounds`` the mean number until the
    answer; a race without an answer counts with all of its rounds, 40 blocks in all.
    """

    wrong: float
    refused: float
    rounds: float


def on_machines(chunk: Chunk, many: int, interaction: float) -> tuple[Array, Array]:
    """Return what is measured on ``many`` machines in turn, (R, many, K, rounds), and what is true there, (R, many,
    K).

    Every machine has its own speed. On all but the first one stack, drawn anew for every race and machine, is
    slower by ``interaction``, 0.05 for 5 %.
    """
    races, k, blocks = chunk.values.shape
    rounds = blocks // many
    speed = chunk.dice.normal(0, SPEED_SD, (races, many, 1))
    slowed = chunk.dice.integers(0, k, (races, many, 1)) == np.arange(k)
    slowed[:, 0] = False
    effect = speed + slowed * np.log1p(-interaction)
    values = np.stack([chunk.values[..., at : rounds * many : many] for at in range(many)], axis=1)
    return values + effect[..., None], chunk.speeds[:, None] + effect - speed


def said(cell: Cell, interaction: float, rounds: tuple[int, ...], many: int = 2) -> list[float]:
    """Return the share of races that leave out some machine after so many rounds in which all stacks are raced."""
    refused: list[list[Flags]] = [[] for _ in rounds]
    for chunk in chunks(cell, many * max(rounds)):
        values, _ = on_machines(chunk, many, interaction)
        for seen, n in zip(refused, rounds, strict=True):
            seen.append(_refused(values[..., :n]).any(axis=-1))
    return [float(np.concatenate(seen).mean()) for seen in refused]


def machines(cell: Cell, many: int, interaction: float = 0.0) -> Machines:
    """Race until somebody is named, on ``many`` machines."""
    found = [_raced(chunk, many, interaction) for chunk in chunks(cell, many * math.ceil(LAST / many))]
    wrong, refused, rounds = (np.concatenate(each) for each in zip(*found, strict=True))
    return Machines(
        wrong=float(wrong.mean()),
        refused=float(refused.mean()),
        rounds=float(rounds.mean()),
    )


def _raced(chunk: Chunk, many: int, interaction: float) -> tuple[Flags, Flags, Counts]:
    """Return of each race: was a wrong winner named, was a machine left out, and after which round did it end."""
    values, truth = on_machines(chunk, many, interaction)
    races, _, k, most = values.shape
    winner, ended = np.full(races, -1), np.full(races, most)
    refused = np.zeros((races, many), dtype=bool)
    measured = np.full_like(values, np.nan)
    racing = np.ones((races, k), dtype=bool)
    for n in range(1, most + 1):
        open_ = np.flatnonzero(winner < 0)
        if not len(open_):
            break
        measured[open_, ..., n - 1] = np.where(racing[open_][:, None], values[open_, ..., n - 1], np.nan)
        refused[open_] = _refused(measured[open_, ..., :n])
        for alike in np.unique(refused[open_], axis=0):
            some = open_[(refused[open_] == alike).all(axis=-1)]
            blocks = np.moveaxis(measured[some][:, ~alike, :, :n], 1, -1).reshape(len(some), k, -1)
            look = last_look(blocks.shape[-1])
            if look:
                seen = selected(blocks[..., :look], DELTA)
                winner[some], racing[some] = seen.winner, seen.left
        ended[open_] = n
    counted = np.where(refused[..., None], np.nan, truth)
    mean = np.nanmean(counted, axis=1)
    behind = mean.max(axis=-1) - mean[np.arange(races), np.maximum(winner, 0)]
    return (winner >= 0) & (behind > DELTA), refused.any(axis=-1), ended


def _refused(measured: Array) -> Flags:
    """Return which machines of each race are left out, (R, many), as `stats.machines.same_ratios` has it."""
    refused = np.zeros(measured.shape[:2], dtype=bool)
    for at in range(1, measured.shape[1]):
        family = shifts(measured[:, at], measured[:, 0], SHIFT_ALPHA / (measured.shape[1] - 1))
        with np.errstate(invalid="ignore"):
            off = np.abs(family.estimate)
            refused[:, at] = (off > family.half_width).any(axis=(-2, -1)) & ~_equal(off + family.half_width)
    return refused


def _equal(furthest: Array) -> Flags:
    return np.asarray((furthest <= DELTA).all(axis=(-2, -1)))
