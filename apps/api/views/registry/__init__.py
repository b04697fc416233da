"""What exists in an environment: tools, plugins, groups, and the sources that bring tools."""
