"""Releases of an engine, in order."""

from __future__ import annotations

from tonnage.value import ordered_value, value


@ordered_value
class Version:
    """A release; post releases and builds on the way to it count as the release."""

    major: int
    minor: int
    patch: int = 0

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"


@value
class VersionChoice:
    """The rules to use, and what a reader must know about the choice."""

    version: Version
    notes: tuple[str, ...] = ()
