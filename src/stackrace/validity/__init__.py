"""Checks: signs that a measurement cannot be trusted, with the values seen and the way out.

`registry` finds and runs them. A check is a pure function of an observation. ``Effect.INVALIDATES`` costs the user
a result, so its thresholds leave room for what is merely unusual. ``docs/checks.md`` lists all checks.
"""
