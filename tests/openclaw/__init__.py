"""A real OpenClaw Gateway, governed by a real server: installed by itself, without a model and without a network."""
