"""What one process tree may use."""

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds for one run; every process of the tree has the per-process ones.

    Args:
        cpu_s: seconds of CPU of each process.
        memory_bytes: address space of each process.
        file_bytes: size of a file it writes.
        open_files: open descriptors of each process.
        processes: processes alive at once in the tree.
    Raises:
        ValueError: one of them is below 1.
    """

    cpu_s: int = 30
    memory_bytes: int = 512 * 1024 * 1024
    file_bytes: int = 10 * 1024 * 1024
    open_files: int = 100
    processes: int = 64

    def __post_init__(self) -> None:
        for each in fields(self):
            if getattr(self, each.name) < 1:
                raise ValueError(f"`{each.name}` must be at least 1: to the system less may mean no limit")
