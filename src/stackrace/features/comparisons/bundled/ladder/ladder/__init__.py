"""The cost of one lookup, one rung per URL: a file, a string, memcached, three ways to a database, a mix.

Source: the cost ladder of the 2009 comparison with mod_wsgi. Every rung answers the same bytes, so that what
differs between two of them is the lookup alone.
"""
