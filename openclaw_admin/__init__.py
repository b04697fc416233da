"""Wiring: settings, URLs, servers, the embedded services. No behaviour of the product; may import everything below."""

__version__ = "0.1.0"
