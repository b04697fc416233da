"""STARTS SERVICES: a PostgreSQL of our own for machines that give none. Supervises it as a child process.

Knows no Django, no settings, no product: it is handed folders and hands back addresses. With `apps/firewall/sandbox`
the only place that starts processes.
"""
