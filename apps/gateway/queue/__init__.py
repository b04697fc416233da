"""Calls that are run later, and ending calls wherever they run.

- `rows`: a call's way from asked to done; each step is one transaction, and only one process ever takes a call.
- `taking`: what a process does with the calls it claims; `workers`: the gateway inside a worker of Celery.
- `settling`: calls whose process is gone, whose approval ended, or that nobody took in time.
- `cancelling`: the wish to end a call, heard by the process that runs it.
- `callbacks`: telling a caller's address, signed, until it was heard; `bell`: waking a worker.

The row is the truth; a message of the broker only says that there is work.
"""
