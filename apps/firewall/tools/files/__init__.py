"""File work that cannot leave one folder: what the file tools do, and the program that does it in its own process.

A path is walked from the folder's descriptor one part at a time and no part may be a symbolic link, so nothing that
changes between a check and its use can lead outside. `program.py` takes the orders; the modules beside it may import
the standard library and each other, nothing else: the program starts without site-packages and in a few milliseconds.
"""
