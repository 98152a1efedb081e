"""The checks: what makes a measurement unbelievable, said with what was seen and the way out.

`registry` finds and runs them. A check is a pure function of what was seen; ``Effect.INVALIDATES`` costs the user a
result, so its thresholds leave room for what is merely unusual. ``docs/checks.md`` lists them all.
"""
