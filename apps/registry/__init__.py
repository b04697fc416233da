"""WHAT EXISTS: environments, and the plugins, tools and tool groups of each. No views.

- `services`: `environment_default`, `registry_fill`, `tools_import`, `tool_save`, `tool_set_state`, `plugin_save`.
- `selectors`: `tools_of`, `tools_offered`, `params_schemas`; `access`: `environment_access`.

May import audit, accounts, keys, events and the heart.
"""
