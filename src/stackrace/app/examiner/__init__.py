"""The examiner: runs under the app's own interpreter, never under ours, with the standard library alone.

Python 3.8 must be able to read it. ``app.examine`` starts it as a script and understands its report.
"""
