"""The end of records: how long each class is kept, what a hold keeps, purges, the erasure of a subject's contents.

Records go in batches, each with a signed statement in its transaction; the database itself checks floors and holds.
Imports the ledger's own modules; upper rooms register what they keep of a subject in `erasers`.
"""
