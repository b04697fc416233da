"""EXECUTES: orders the stages of a call and talks to the world through ports that a door fills."""
