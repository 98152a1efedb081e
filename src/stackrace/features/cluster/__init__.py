"""Races on several machines: the workers of a Dask cluster host stacks and send load. The only importer of Dask.

Dask carries every word between machines: who is there, what is called, what comes back. Imported only where a
cluster was asked for.
"""
