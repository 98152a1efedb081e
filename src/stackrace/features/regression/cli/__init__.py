"""``stackrace check``: is this version slower than that one?"""
