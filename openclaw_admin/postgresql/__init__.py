"""KEEPS CONNECTIONS: Django's PostgreSQL, with a cheaper look at whether a kept connection still stands."""
