"""From a stack to the files that deploy it: the servers' own configurations, units, images, and what they need.

Everything is rendered from the catalogue's entries, as a race renders it, on a site that serves people
(``servers.site``). Nothing here starts anything.
"""
