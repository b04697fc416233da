"""What authors of tools use: `tool`, `BaseTool`, factories, and a registry for programs that embed tools.

`openclaw_admin/tools.py` is the door they import from. The server never runs this on authors' code itself: `host.py`
does, in a process of its own. So nothing here may import more than it needs at once; pydantic comes when a schema is
read from a signature.
"""
