"""What ``stackrace export`` does: from a race or a path to a folder with files, and to a proof of them."""
