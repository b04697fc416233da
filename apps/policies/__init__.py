"""WHAT IS ALLOWED: environments, profiles, agents, channels, groups, sender rules; import, compile, publish. No views."""
