"""THE DOOR OF AGENTS: plain ASGI endpoints; fills the runtime's ports and crosses between sync and async.

- `lifecycle`: `start()` and `stop()`, called by the ASGI lifespan.
- `runtime_api/`: the endpoints themselves; no Django request handling.
- `wiring`: the ports of the runtime, filled with the record rooms.
- `desk`: the calls of this process, and who runs what a person allowed.
- `live`, `tool_states`, `tokens`, `counters`: what this process keeps in memory so that a decision asks no database.

May import every record room and the firewall. Has no rules of its own.
"""
