"""The examiner: runs in the app's own interpreter, never in Stackrace's, with the standard library alone.

Python 3.8 must be able to run it. ``app.examine`` starts it as a script and reads its report.
"""
