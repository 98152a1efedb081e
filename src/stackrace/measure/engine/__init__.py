"""Load: the only importer of the engine. Turns a workload and a load level into a LoadResult."""
