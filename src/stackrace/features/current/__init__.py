"""What the project runs today, as its own files say, raced beside the others."""
