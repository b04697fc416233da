"""What the folder's rules do not give, and what the system said, as a code and a sentence."""

import errno


class RefusedError(Exception):
    """The order asks for something the folder's rules do not give."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


CODES = {
    "FileNotFoundError": ("not_found", "`{path}` does not exist"),
    "NotADirectoryError": ("not_a_folder", "`{path}` goes through something that is not a folder"),
    "IsADirectoryError": ("not_a_file", "`{path}` is a folder"),
    "PermissionError": ("permission_denied", "`{path}` may not be used: permission denied"),
}


def refusal(exc: OSError, path: str) -> RefusedError:
    """Say what the system said, by path and code."""
    if exc.errno == errno.ELOOP:  # O_NOFOLLOW met a link
        return RefusedError("symbolic_link", f"`{path}` is or goes through a symbolic link")
    code, message = CODES.get(type(exc).__name__, ("file_error", f"`{{path}}`: {exc.strerror}"))
    return RefusedError(code, message.format(path=path))
