"""THE DOOR OF PEOPLE: htmx pages and the live socket. No rules."""
