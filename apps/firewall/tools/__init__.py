"""DESCRIBES: tool definitions, parameter validation, the catalogue. Knows no policy."""
