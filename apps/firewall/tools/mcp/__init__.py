"""SPEAKS with MCP servers: a live connection over a confined process or over HTTP, and a few of them kept for calls.

Everything a server sends is hostile text. Knows no policy and no database; processes start in the sandbox, addresses
are opened by the connector.
"""
