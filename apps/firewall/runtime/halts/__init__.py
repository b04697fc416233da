"""WHETHER ANYTHING RUNS: what people have stopped, and which calls that meets. Values in, values out.

- `matching`: which stop holds a call; `port`: who remembers the stops of this process.

May import the engine and `apps.firewall.runtime.call`.
"""
