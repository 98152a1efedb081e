"""The sample site: what is raced when there is no project at hand."""
