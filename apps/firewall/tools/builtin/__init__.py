"""The tools that ship with the firewall, one file each; none knows another."""
