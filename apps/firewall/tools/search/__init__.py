"""TOOL SEARCH: a large catalogue behind search, describe and call. Pure: what is in the catalogue is decided elsewhere.

- `descriptors`: a tool as search knows it.
- `words`, `intents`, `fields`, `index`, `rerank`: which tools a query means; `evaluate`: how well that is found.
- `queries`, `selecting`, `directory`, `signature`: what a model may ask, and what it reads.
- `controls`, `settings`: the tools that a model is offered instead, and the configuration `tools.toolSearch`.

No policy, no process and no record here: whoever builds a catalogue has asked the engine.
"""
