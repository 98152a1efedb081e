"""The race room: blocks, launches, slices, stopping. It emits typed events and prints nothing."""
