"""KEEPS SECRETS: the installation keys; seals values at rest and signs snapshots. No views."""
