"""Running of races: blocks, launches, slices, stopping. It sends typed events and prints nothing."""
