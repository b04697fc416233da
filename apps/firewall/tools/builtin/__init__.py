"""The first tools: read, write, exec. None imports another."""
