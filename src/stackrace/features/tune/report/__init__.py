"""What a race that tunes found, in every form: as sections, as a picture, as a page and as a document."""
