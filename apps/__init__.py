"""The product: one heart (firewall), the record rooms, three doors (console, api, gateway)."""
