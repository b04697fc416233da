"""What programs read and write, as JSON. Shapes only: rules live in the rooms."""
