"""REACHES hooks: plugins in confined processes (`workers`, `host`), servers behind signed requests (`webhook`).

Each gives one answer to one event, or raises `HookFailedError` with what kind of failure it was. Authors' code runs in
`host.py` only, which the server starts and never imports. Knows no record: addresses, keys and entry points are
handed in.
"""
