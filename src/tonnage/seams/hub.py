"""A model repository on the Hugging Face Hub as a store of model files."""

from __future__ import annotations

import json

from tonnage.errors import UnreadableError, UsageError, WorldError
from tonnage.seams.transfer import endpoint, fetch
from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tonnage.errors import TonnageError
    from tonnage.seams.store import Result
    from tonnage.seams.transfer import Reply

MAX_INFO_BYTES = 8 * 2**20  # a repository of a thousand files needs about 300 kB
WORKERS = 8
UNAUTHORIZED, FORBIDDEN, NOT_FOUND, BEYOND_END = 401, 403, 404, 416


@value
class Hub:
    """Repository `repo` at one commit; see `store.Store`. `sizes` are None where the Hub does not tell them."""

    repo: str
    revision: str
    base: str
    sizes: dict[str, int | None]

    @property
    def origin(self) -> str:
        """`hf:ORG/NAME@commit`."""
        return f"hf:{self.repo}@{self.revision}"

    def names(self) -> tuple[str, ...]:
        """Paths of the repository's files, sorted."""
        return tuple(sorted(self.sizes))

    def size(self, name: str) -> int:
        """Bytes of file `name`, asked with a one-byte read where the listing does not say."""
        if name not in self.sizes:
            raise UnreadableError(self.origin, f"no file {name!a}", _some(self.names()))
        size = self.sizes[name]
        if size is None:
            size = self._fetch(name, 0, 1).total_bytes
        if size is None:
            raise WorldError(f"{self.origin}: {name}", "the server does not tell its size", "a size")
        return size

    def read(self, name: str, start: int, count: int) -> bytes:
        """Bytes `start` to `start + count` of file `name`, fewer only where the file ends; one request."""
        count = min(count, self.size(name) - start)
        if count <= 0:
            return b""
        body = self._fetch(name, start, count).body
        if len(body) < count:
            raise WorldError(f"{self.origin}: {name}", f"{len(body)} bytes at {start}", f"{count} bytes")
        return body

    def each(self, call: Callable[[str], Result], names: Sequence[str]) -> list[Result]:
        """`call(name)` for every name, `WORKERS` at a time, because each waits for the network."""
        from concurrent.futures import ThreadPoolExecutor

        pool = ThreadPoolExecutor(WORKERS)
        try:
            return list(pool.map(call, names))
        finally:
            pool.shutdown(cancel_futures=True)  # after a failure nobody waits for the rest

    def _fetch(self, name: str, start: int, count: int) -> Reply:
        from urllib.parse import quote

        url = f"{self.base}/{self.repo}/resolve/{quote(self.revision, safe='')}/{quote(name)}"
        reply = fetch(url, start, count)
        _check(reply, f"{self.origin}: {name}", self.repo)
        return reply


def open_hub(repo: str, revision: str | None = None, base: str | None = None) -> Hub:
    """Repository `repo` (`ORG/NAME`) at `revision` (branch, tag or commit; None: main), pinned to its present commit.

    `base` is the Hub's address, by default that of HF_ENDPOINT; the token is the one huggingface_hub finds.
    `UsageError` for a repository or revision that is not there or not open to us, `WorldError` for the network.
    """
    from urllib.parse import quote

    base = endpoint(base)
    url = f"{base}/api/models/{repo}/revision/{quote(revision or 'main', safe='')}?blobs=true"
    reply = fetch(url, 0, MAX_INFO_BYTES)
    _check(reply, f"hf:{repo}@{revision or 'main'}", repo)
    return _parse_info(reply.body, repo, revision or "main", base)


def _parse_info(body: bytes, repo: str, revision: str, base: str) -> Hub:
    try:
        info = json.loads(body)
        files = {str(file["rfilename"]): _size(file.get("size")) for file in info["siblings"]}
        commit = info.get("sha")
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError) as error:
        seen = f"a reply of {len(body)} bytes that is no model description"
        raise WorldError(f"hf:{repo}", seen, "the Hub's reply") from error
    return Hub(repo, commit if isinstance(commit, str) else revision, base, files)


def _size(value: object) -> int | None:
    return value if type(value) is int and value >= 0 else None


def _check(reply: Reply, thing: str, repo: str) -> None:
    refusal = _refusal(reply, thing, repo)
    if refusal is not None:
        raise refusal


def _refusal(reply: Reply, thing: str, repo: str) -> TonnageError | None:
    code = reply.headers.get("x-error-code", "")
    if reply.status < UNAUTHORIZED - 1:
        return None
    if code == "GatedRepo" or reply.status == FORBIDDEN:
        return UsageError(thing, "access is restricted", f"a token (HF_TOKEN) whose owner was let in to {repo}")
    if code == "RevisionNotFound":
        return UsageError(thing, "no such revision", f"a branch, tag or commit of {repo}")
    if code == "EntryNotFound":
        return UnreadableError(thing, "no such file", f"a file of {repo}")
    if reply.status in (UNAUTHORIZED, NOT_FOUND):
        # The Hub answers 401 for a missing repository too, when nobody is logged in.
        seen = f"not found (HTTP {reply.status})"
        return UsageError(thing, seen, "an existing repository; private ones need HF_TOKEN")
    if reply.status == BEYOND_END:
        return UnreadableError(thing, "shorter than listed", "a complete file")
    return WorldError(thing, f"HTTP {reply.status}", "an answer of the Hub; try again later")


def _some(names: tuple[str, ...]) -> str:
    shown = ", ".join(ascii(name).strip("'") for name in names[:10])
    return f"one of {shown}{', ...' if len(names) > 10 else ''}"
