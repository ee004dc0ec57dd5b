"""This host's memory."""

from __future__ import annotations

import os

import pytest

from tonnage.seams.host import host_memory_bytes


def test_pages_times_page_size(monkeypatch: pytest.MonkeyPatch) -> None:
    # A host of 64 GiB has 16,777,216 pages of 4,096 B.
    pages = {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 16_777_216}
    monkeypatch.setattr(os, "sysconf", pages.__getitem__)
    assert host_memory_bytes() == 68_719_476_736


def test_this_host_has_some() -> None:
    assert host_memory_bytes() > 2**26
