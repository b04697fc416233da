"""WHAT HAPPENED: the append-only, hash-chained ledger; search and export. No views."""
