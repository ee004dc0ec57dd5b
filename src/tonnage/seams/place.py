"""From what a user writes to the store it means."""

from __future__ import annotations

import os

from tonnage.errors import UsageError
from tonnage.seams.files import is_folder
from tonnage.seams.folder import Folder
from tonnage.seams.store import Place

HUB_PREFIX = "hf:"
# The file at the end is for repositories that hold several GGUF models.
_HUB_PATTERN = r"hf:([\w.-]+/[\w.-]+)(?:@(refs/[\w-]+/[^/]+|[^/]+))?(?:/(.+\.gguf))?"


def open_place(text: str) -> Place:
    """The place `text` names: `hf:ORG/NAME[@REVISION][/FILE.gguf]`, or the path of a folder or file.

    `UsageError` for a malformed repository name, `UnreadableError` for a path where nothing is.
    """
    if text.startswith(HUB_PREFIX):
        return _open_hub(text)
    if is_folder(text):
        return Place(Folder(text))
    return Place(Folder(os.path.dirname(text) or os.curdir), os.path.basename(text))


def _open_hub(text: str) -> Place:
    import re

    match = re.fullmatch(_HUB_PATTERN, text, re.ASCII)
    if match is None or ".." in text:
        raise UsageError("model", ascii(text), "hf:ORG/NAME, hf:ORG/NAME@REVISION or hf:ORG/NAME/FILE.gguf")
    from tonnage.seams.hub import open_hub

    return Place(open_hub(match[1], match[2]), match[3])
