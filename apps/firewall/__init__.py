"""The heart: the tool firewall itself, pure Python without Django. Takes values, returns values; reads no settings."""
