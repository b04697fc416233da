"""DECIDES: names, layers, snapshots, decisions, reasons. Imports the standard library only; no clock, no globals."""
