"""RUNS WITH TOOL SEARCH: what a run may use, how it is offered, and how what it finds is called.

- `catalogues`: the tools of a run, from the live snapshot and its policy; kept by the snapshot's digest.
- `surface`: which of them the model sees, and what it costs.
- `controls`: search, describe and code, run as calls of the runtime; `clients`: tools that the caller runs.
- `calls`: which call a model means, and the `Call` that goes to the runtime.

Decides nothing: the engine says what a run may use, and the runtime asks it again for every call.
"""
