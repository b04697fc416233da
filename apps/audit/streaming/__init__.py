"""STREAMS the ledger to other systems as it grows: syslog, HTTP, OpenTelemetry logs, folders of an object store.

- `streams`: adding, changing, pausing, removing and trying one; `sending`: the next entries of one stream.
- `records`: entries in the words of each kind of system; `targets`: the ways out, all through the checked addresses.
- `dead`: what a system refuses for good, and sending it again; `lag`: how far behind each stream is.

At least once and never dropped: a cursor of each chain moves when the other side has what came before it.
"""
