"""READS commands: a shell grammar turns lines into the dataclasses that engine.exec_policy judges."""
