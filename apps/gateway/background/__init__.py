"""KEEPS commands that run on when their calls have ended: rows that every process reads, processes that hold them.

A command is held by the process that started it: its supervisor dies with that process, so nobody else could take it
over. What others need of it lies in its row: the state and the output, masked, written a few times a second. So a poll
or a log asks the database alone, works from any process, and still tells what was said before a holder was killed.
What must reach the holder goes there as calls' cancels do: a wish in a row and a notice (`end_asked_code`;
`CommandInput`, sealed), with a look every few seconds as the net below. No process calls another one.

- `rows`: the life of a row; `endings`: its end and the record of that; `inputs`: what is written to commands.
- `holder`: what one process holds; `port`: fills the runtime's port; `settling`: ends what nobody holds any more.
- `selectors`: reading; `killing`: ending by people, by sessions, and for the whole installation.
"""
