"""TELLS: id-only notices between processes through PostgreSQL NOTIFY and LISTEN. The row is always the truth."""
