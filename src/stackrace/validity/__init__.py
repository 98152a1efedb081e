"""Checks: signs that a measurement cannot be trusted, with the values seen and the remedy.

`registry` finds and runs the checks. A check is a pure function of an observation. ``Effect.INVALIDATES`` costs the
user a result, so its thresholds leave room for values that are merely unusual. ``docs/checks.md`` lists all checks.
"""
