"""RUNS CODE of a model: a short JavaScript body in a confined process of its own, which sees a bridge and nothing else.

- `pool.CodePool`: the processes kept ready, each used once.
- `process`: one of them, from its start to its end.
- `crossing`: the server's side of the bridge: what the process says, checked, and what it is answered.
- `results`: what comes of a run.
- `harness.js`: what Node runs; `realm.js`: what the code's own realm begins with.

No catalogue, no policy: what `search`, `describe` and `call` do is the bridge's, which whoever runs code hands in.
"""
