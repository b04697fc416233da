"""DECIDES: names, layers, snapshots, decisions and their reasons. Standard library only; no clock, no store, no globals."""
