"""What no client of ours sends, at every door of a served installation: nothing breaks, and nothing hangs."""
