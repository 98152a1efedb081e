"""What checks promise: false alarms, and what is found in how much time."""
