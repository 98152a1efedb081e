"""The five comparisons that were published between 2007 and 2010, raced again."""
