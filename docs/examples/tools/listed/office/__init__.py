"""The package that `tools.yaml` names."""
