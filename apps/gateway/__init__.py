"""THE DOOR OF AGENTS: plain ASGI endpoints; fills the runtime ports and crosses between sync and async."""
