"""CONFINES: the one place that starts, limits and kills processes. Knows no tool and no policy."""
