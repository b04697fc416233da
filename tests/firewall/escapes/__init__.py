"""Attempts to get out of the sandbox, through the doors that agents have: data, doors, and the page they make."""
