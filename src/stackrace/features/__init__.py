"""What can be taken out: each folder is one feature, and no other knows it."""
