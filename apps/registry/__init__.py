"""WHAT EXISTS: environments, the plugins, tools and tool groups of each, and the sources that bring tools. No views.

- `services`: everything that changes something, a module for each subject.
- `selectors`, `tool_search`, `standing`, `findings`: everything that reads.
- `lifecycle`: which state of a tool follows which, and who may move it there.
- `source_settings`, `looks`: what each kind of source is told, and what looks through it.
- `definitions`, `differences`: definitions in rows, what pins them, what differs between two.
- `tasks`, `lookers`: looks that are due, or asked for, and where they are done.

May import audit, accounts, keys, events and the heart.
"""
