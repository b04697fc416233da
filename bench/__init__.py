"""MEASURES: one module per subject with `measure() -> Iterable[Figure]`; `python -m bench [NAME...]` runs them.

Both sides of a ratio are measured in the same run: the machine drifts, ratios drift less.
"""
