"""What one process tree may use."""

from dataclasses import dataclass, fields

MEGABYTE = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds for one run.

    The kernel holds each process of the tree to those that it knows for a process, at once. The tree as a whole is
    looked at fifty times a second, and is ended when it uses more together.

    Args:
        cpu_s: seconds of CPU of each process, and of the tree.
        memory_bytes: memory that the tree really has, however much each process reserves.
        file_bytes: size of a file it writes.
        open_files: open descriptors of each process.
        processes: processes alive at once in the tree.
        threads: threads alive at once in the tree.
        written_bytes: what the tree writes to disks altogether.
    Raises:
        ValueError: one of them is below 1.
    """

    cpu_s: int = 30
    memory_bytes: int = 512 * MEGABYTE
    file_bytes: int = 10 * MEGABYTE
    open_files: int = 100
    processes: int = 64
    threads: int = 256
    written_bytes: int = 256 * MEGABYTE

    def __post_init__(self) -> None:
        for each in fields(self):
            if getattr(self, each.name) < 1:
                raise ValueError(f"`{each.name}` must be at least 1: to the system less may mean no limit")
