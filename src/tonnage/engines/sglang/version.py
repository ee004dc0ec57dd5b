"""Versions of SGLang, as users, images and logs write them."""

from __future__ import annotations

import re

from tonnage.errors import UsageError
from tonnage.memory.version import Version as Version
from tonnage.memory.version import VersionChoice as VersionChoice

NEWEST = Version(0, 5, 23)  # the newest release whose sources the rules were checked against
FIRST = Version(0, 4, 6)
# Images named after a model are snapshots of its first weeks.
SNAPSHOTS = {"deepseek-v4": Version(0, 5, 13)}
# Builds and images that name a branch or a commit in place of a release.
NAMELESS = ("sglang", "sgl-", "nightly", "latest", "main", "dev", "commit")


def choose_version(text: str | None) -> VersionChoice:
    """The version in `0.5.8.post1`, `rocm/sgl-dev v0.5.8.post1-rocm720-mi35x`; None is the newest known.

    Builds without a release number (`0.0.0.dev1+g...`, `sglang commit ...`) and releases newer than the newest known
    get the newest rules and a note, older ones the oldest. Anything else is a UsageError.
    """
    if text is None:
        return VersionChoice(NEWEST)
    version = _parse(text)
    snapshot = next((found for name, found in SNAPSHOTS.items() if name in text.lower()), None)
    if version is None and snapshot is not None:
        return VersionChoice(snapshot, (f"SGLang {text}: taken as a build of about {snapshot}",))
    if version is None:
        return VersionChoice(NEWEST, (f"SGLang {text}: no release number, rules of {NEWEST}",))
    if version > NEWEST:
        return VersionChoice(NEWEST, (f"SGLang {text} is newer than the rules known here: rules of {NEWEST}",))
    if version < FIRST:
        return VersionChoice(FIRST, (f"SGLang {text} is older than the rules known here: rules of {FIRST}",))
    return VersionChoice(version)


def _parse(text: str) -> Version | None:
    # The image's ROCm number (`rocm700`) has no dots, so the first dotted number is the release.
    found = re.search(r"(?<![\d.])v?(\d+)\.(\d+)(?:\.(\d+))?", text)
    if found is not None:
        version = Version(*(int(part or 0) for part in found.groups()))
        # 0.0.0.dev1 is what a build without the repository's tags calls itself.
        return version if version > Version(0, 0) else None
    if not any(word in text.lower() for word in NAMELESS):
        raise UsageError("SGLang version", text, "a version such as 0.5.23 or v0.5.8.post1-rocm720")
    return None
