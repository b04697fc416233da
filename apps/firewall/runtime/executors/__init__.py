"""Where tools run: one module for each kind of executor, each filling `Runner`; `dispatch.py` picks by a tool's own."""
