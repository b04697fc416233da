"""OPENS pages: Chromium in bubblewrap, whose only way out is the connector's proxy. One call, one browser.

`machine` says whether that can be done here and under which rules a browser starts, `slots` how many may be open,
`visit` does it, `program` is what runs inside. Knows no tool.
"""
