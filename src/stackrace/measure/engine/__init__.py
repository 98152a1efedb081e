"""The load engine: only this folder imports it. Turns a workload and a load level into a LoadResult."""
