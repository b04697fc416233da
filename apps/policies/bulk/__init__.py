"""Bulk edits: one change of many agents. What it is, asking for it, and making it row by row."""
