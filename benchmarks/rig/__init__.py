"""What the engine's benchmarks share: servers, generators, cores, CPU accounts and tables."""
