"""FINDS tools: one module for each kind of place, all answering with a `Look`. Knows no database and no policy."""
