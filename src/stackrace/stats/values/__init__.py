"""Results of statistics, as plain values."""
