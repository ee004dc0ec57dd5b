"""Versions of vLLM, as users and logs write them."""

from __future__ import annotations

from tonnage.errors import UsageError
from tonnage.memory.version import Version as Version
from tonnage.memory.version import VersionChoice as VersionChoice

NEWEST = Version(0, 33)  # the newest release whose sources the rules were checked against
FIRST_V1 = Version(0, 8)  # first release whose default engine is V1
FIRST = Version(0, 2)
UNTAGGED = "0.1.dev"  # what a build without the repository's tags calls itself
MOVING = ("latest", "nightly", "main")


def choose_version(text: str | None) -> VersionChoice:
    """The version of `0.11.2.dev690`, `0.26.1rc1.dev608+g934a9c3b7`, `v0.22`; None is the newest known.

    What is newer than the newest known, or built without tags, gets the newest rules and a note.
    Anything that is no version is a UsageError.
    """
    if text is None:
        return VersionChoice(NEWEST)
    name = text.strip().lower()
    if name in MOVING or name.startswith(UNTAGGED):
        return VersionChoice(NEWEST, (f"vLLM {text}: rules of {NEWEST}",))
    version = _parse(name, text)
    if version > Version(NEWEST.major, NEWEST.minor + 1):
        return VersionChoice(NEWEST, (f"vLLM {text} is newer than the rules known here: rules of {NEWEST}",))
    if version < FIRST:
        return VersionChoice(FIRST, (f"vLLM {text} is older than the rules known here: rules of {FIRST}",))
    return VersionChoice(version)


def _parse(name: str, text: str) -> Version:
    # Imported here: most questions name no version.
    import re

    found = re.match(r"v?(\d+)\.(\d+)(?:\.(\d+))?(?![\d])", name)
    if found is None:
        raise UsageError("vLLM version", text, "a version such as 0.29.0 or 0.26.1rc1.dev608")
    major, minor, patch = found.groups()
    return Version(int(major), int(minor), int(patch or 0))
