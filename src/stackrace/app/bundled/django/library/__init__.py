"""A library's catalogue of more than a million rows, to be browsed page by page, as the 2010 comparison did."""
