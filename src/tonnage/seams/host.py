"""This host's memory."""

from __future__ import annotations

import os


def host_memory_bytes() -> int:
    """Physical memory in bytes, the capacity of the CPU back ends."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
