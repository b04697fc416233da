"""CONFINES: the one place that starts, limits and kills processes. Knows no tool and no policy.

May import errors, identifiers and redaction only. `supervisor.py` runs as a program of its own.
"""
